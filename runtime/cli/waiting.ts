/** Whether a command that is about what waits has an effect on a workload. Pure. */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { FluxqError } from '../errors';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import { isGated } from '../workloads/pod';

/** @throws FluxqError FLUXQ_NOT_WAITING for a workload that has its nodes, has ended or is not in the queue */
export function requireWaiting(shown: string, object: KubernetesObject, effect: string): void {
  const refuse = (problem: string, remedy: string) => notWaiting(shown, problem, remedy);
  if (object.metadata.labels?.[ADMITTED_LABEL] !== 'true')
    throw refuse(
      'is not in the queue',
      'its namespace needs the label fluxqueue/enabled: "true" when it is created',
    );
  requireGoingOn(shown, object as Job | Pod);
  if (isHeldBack(shown, object)) return;
  throw refuse(
    `has its nodes already, and ${effect}`,
    shown.startsWith('job/')
      ? 'kubectl fluxqueue requeue takes it off its nodes and lets it wait again'
      : 'kubectl fluxqueue cancel ends it',
  );
}

/** @throws FluxqError FLUXQ_NOT_WAITING for a workload that has ended */
export function requireGoingOn(shown: string, object: Pick<Job | Pod, 'status'>): void {
  if (hasEnded(object)) throw notWaiting(shown, 'has ended', 'create it again');
}

function notWaiting(shown: string, problem: string, remedy: string): FluxqError {
  return new FluxqError('FLUXQ_NOT_WAITING', problem, { field: 'workload', value: shown, remedy });
}

function isHeldBack(shown: string, object: KubernetesObject): boolean {
  return shown.startsWith('job/') ? (object as Job).spec.suspend === true : isGated(object as Pod);
}

const ENDED: ReadonlySet<string> = new Set(['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget']);

/** Of a Job, also while its last pods end. */
export function hasEnded({ status }: Pick<Job | Pod, 'status'>): boolean {
  if (status !== undefined && 'phase' in status)
    return status.phase === 'Succeeded' || status.phase === 'Failed';
  return status?.conditions?.some((each) => ENDED.has(each.type) && each.status === 'True') ?? false;
}
