/** How a user gives the nodes of a running Job back and lets it wait again (docs/edits.md). Pure. */
import { ADMITTED_LABEL, HOLD } from '../../constructs/api/labels';
import { FluxqError } from '../errors';
import type { Job, KubernetesObject } from '../kubernetes/types';
import { hasEnded } from './waiting';

/**
 * The first patch suspends the Job, which takes its nodes, and holds it; the second one lifts both again. Should the second
 * fail, the Job is held, as `queue` shows, and `release` lets it start.
 * @throws FluxqError FLUXQ_REQUEUE if the workload has no nodes to give back
 */
export function requeueSteps(shown: string, object: KubernetesObject): readonly object[] {
  const job = object as Job;
  const { uid, annotations, labels } = job.metadata;
  const refuse = (what: string, remedy: string) =>
    new FluxqError('FLUXQ_REQUEUE', what, { field: 'workload', value: shown, remedy });
  if (shown.startsWith('podgroup/'))
    throw refuse(
      'a group of Pods cannot leave its nodes and start again',
      'cancel it: what controllers make again waits in the queue, and all else has to be created again',
    );
  if (!shown.startsWith('job/'))
    throw refuse('a Pod cannot leave its node and start again', 'cancel it, and create it again');
  if (labels?.[ADMITTED_LABEL] !== 'true')
    throw refuse(
      'is not in the queue',
      'its namespace needs the label fluxqueue/enabled: "true" when it is created',
    );
  if (hasEnded(job)) throw refuse('has ended', 'create it again');
  if (job.spec.suspend === true)
    throw refuse('does not run: it waits already', 'kubectl fluxqueue why says what for');
  return [
    { metadata: { uid, annotations: { [HOLD]: 'true' } }, spec: { suspend: true } },
    { metadata: { uid, annotations: { [HOLD]: annotations?.[HOLD] ?? null } }, spec: { suspend: false } },
  ];
}

/** It would be stopped, and nobody would start it again. */
export function leftQueue(shown: string): FluxqError {
  return new FluxqError('FLUXQ_REQUEUE', 'runs in a namespace that left the queue', {
    field: 'workload',
    value: shown,
    remedy: 'cancel it, and create it again',
  });
}
