/** How a user gives the nodes of a running workload back and lets it wait again (docs/edits.md). Pure. */
import { ADMITTED_LABEL, HOLD } from '../../constructs/api/labels';
import { FluxqError, messageOf } from '../errors';
import { forUser } from '../kubernetes/errors';
import type { KubernetesObject } from '../kubernetes/types';
import { isSuspended, suspendField, suspension } from './suspension';
import { hasEnded } from './waiting';

/**
 * The first patch suspends the workload, which takes its nodes, and holds it; the second one lifts both again. Should the second
 * fail, the workload is held, and `release` lets it start.
 * @throws FluxqError FLUXQ_REQUEUE if the workload has no nodes to give back
 */
export function requeueSteps(shown: string, object: KubernetesObject): readonly [object, object] {
  const { uid, annotations, labels } = object.metadata;
  const refuse = (what: string, remedy: string) =>
    new FluxqError('FLUXQ_REQUEUE', what, { field: 'workload', value: shown, remedy });
  if (shown.startsWith('podgroup/'))
    throw refuse(
      'a group of Pods cannot leave its nodes and start again',
      'cancel it: what controllers make again waits in the queue, and all else has to be created again',
    );
  if (suspendField(shown) === undefined)
    throw refuse('a Pod cannot leave its node and start again', 'cancel it, and create it again');
  if (labels?.[ADMITTED_LABEL] !== 'true')
    throw refuse(
      'is not in the queue',
      'its namespace needs the label fluxqueue/enabled: "true" when it is created',
    );
  if (hasEnded(object)) throw refuse('has ended', 'create it again');
  if (isSuspended(shown, object))
    throw refuse('does not run: it waits already', 'kubectl fluxqueue why says what for');
  return [
    { metadata: { uid, annotations: { [HOLD]: 'true' } }, ...suspension(shown, true) },
    { metadata: { uid, annotations: { [HOLD]: annotations?.[HOLD] ?? null } }, ...suspension(shown, false) },
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

/** Its first patch was made, and the second one failed. */
export function leftHeld(shown: string, namespace: string, error: unknown): FluxqError {
  return new FluxqError(
    'FLUXQ_REQUEUE',
    `was stopped, and may still be held, because the change that lets it wait again failed: ${messageOf(forUser(error))}`,
    {
      field: 'workload',
      value: shown,
      remedy: `kubectl fluxqueue release ${shown} -n ${namespace} lets it wait in its queue`,
      cause: error,
    },
  );
}
