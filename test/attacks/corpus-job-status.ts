/** Attacks with the controller's token through the status of Jobs, of which it may remove the start of a suspended one of the queue. */
import { type Attack, PLAIN, refusedTo } from './attack';
import { patch } from './objects';

const by = refusedTo('controller token');
const RESERVED = 'FLUXQ_RESERVED: status';
/** Kubernetes itself keeps the start of what runs, and says so first. */
const KEPT = [RESERVED, 'field is immutable for unsuspended job'];

const statusOf = (name: string, status: object, namespace?: string) =>
  patch('Job', name, { status }, namespace, 'status');

function ended(type: string): object {
  const at = '2020-01-01T00:00:00Z';
  return { conditions: [{ type, status: 'True', lastProbeTime: at, lastTransitionTime: at }] };
}

export const JOB_STATUS_ATTACKS: readonly Attack[] = [
  by('the end of a running Job by its status', statusOf('running', ended('FailureTarget')), RESERVED),
  by('the success of a waiting Job', statusOf('waiting', ended('SuccessCriteriaMet')), RESERVED),
  by('the end of a Job that is suspended again', statusOf('paused', ended('FailureTarget')), RESERVED),
  by('no pods for a running Job', statusOf('running', { active: 0, ready: 0 }), RESERVED),
  by('another start of a running Job', statusOf('running', { startTime: '2020-01-01T00:00:00Z' }), KEPT),
  by('no start of a running Job', statusOf('running', { startTime: null }), KEPT),
  by('the status of a Job outside the queue', statusOf('free', { active: 1 }, PLAIN), RESERVED),
];
