/** Whether a command that is about what waits has an effect on a workload. Pure. */
import { ADMITTED_LABEL, ENDED_ANNOTATION } from '../../constructs/api/labels';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { FluxqError } from '../errors';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import { isGated } from '../workloads/pod';
import { isSuspended, suspendField } from './suspension';

/** @throws FluxqError FLUXQ_NOT_WAITING for a workload that has its nodes, has ended or is not in the queue */
export function requireWaiting(shown: string, object: KubernetesObject, effect: string): void {
  const refuse = (problem: string, remedy: string) => notWaiting(shown, problem, remedy);
  if (object.metadata.labels?.[ADMITTED_LABEL] !== 'true')
    throw refuse(
      'is not in the queue',
      'its namespace needs the label fluxqueue/enabled: "true" when it is created',
    );
  requireGoingOn(shown, object);
  if (isHeldBack(shown, object)) return;
  throw refuse(
    `has its nodes already, and ${effect}`,
    suspendField(shown) !== undefined
      ? 'kubectl fluxqueue requeue takes it off its nodes and lets it wait again'
      : 'kubectl fluxqueue cancel ends it',
  );
}

/** @throws FluxqError FLUXQ_NOT_WAITING for a workload that has ended */
export function requireGoingOn(shown: string, object: KubernetesObject): void {
  if (hasEnded(object)) throw notWaiting(shown, 'has ended', 'create it again');
}

function notWaiting(shown: string, problem: string, remedy: string): FluxqError {
  return new FluxqError('FLUXQ_NOT_WAITING', problem, { field: 'workload', value: shown, remedy });
}

function isHeldBack(shown: string, object: KubernetesObject): boolean {
  return suspendField(shown) === undefined ? isGated(object as Pod) : isSuspended(shown, object);
}

const ENDED: ReadonlySet<string> = new Set([
  ...['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'],
  ...WORKLOAD_KINDS.flatMap(({ ends: { Succeeded, Failed } }) => [...Succeeded, ...Failed]),
]);

/** Of a Job, also while its last pods end. */
export function hasEnded(object: KubernetesObject): boolean {
  const { status } = object as Job | Pod;
  if (object.metadata.annotations?.[ENDED_ANNOTATION] !== undefined) return true;
  if (status !== undefined && 'phase' in status)
    return status.phase === 'Succeeded' || status.phase === 'Failed';
  return status?.conditions?.some((each) => ENDED.has(each.type) && each.status === 'True') ?? false;
}
