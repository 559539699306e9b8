/**
 * Pods that do not end. Kubernetes has asked a pod to end and has waited for its grace period, and its containers still run: a kubelet
 * that does not answer, a container that cannot be killed; or it was deleted with a grace period that hardly ends. Its units stay
 * granted and charged, and plans count it as an overrun; after a bound its user and the administrator are told.
 */
import { DEFAULT_GRACE_SECONDS } from '../jobspec/jobspec';
import type { Pod } from '../kubernetes/types';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import { isTerminal, secondsOf } from './adapter';

/** Seconds after the end of its grace period. */
const LATE_SECONDS = 300;
/** Seconds of a grace period. */
const LONG_SECONDS = 3_600;

export function isLingering(pod: Pod, now: number): boolean {
  const end = endOf(pod);
  return end !== undefined && (hasLongGrace(pod) || now >= end + LATE_SECONDS);
}

/** Seconds until it counts as one that does not end, or until what is said of it changes. Undefined: never. */
export function secondsUntilLingerChange(pod: Pod, now: number): number | undefined {
  const end = endOf(pod);
  if (end === undefined) return undefined;
  const left = end + (hasLongGrace(pod) ? 0 : LATE_SECONDS) - now;
  return left > 0 ? left : undefined;
}

/** The Unix second at which its grace period ends. Undefined: nobody has asked it to end, or it has ended. */
function endOf(pod: Pod): number | undefined {
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp === undefined || pod.spec.nodeName === undefined || isTerminal(pod)) return undefined;
  return secondsOf(deletionTimestamp);
}

/** Whether it was deleted with a grace period that hardly ends and that it does not ask for itself. */
function hasLongGrace({ metadata, spec }: Pod): boolean {
  const { deletionGracePeriodSeconds: given = 0 } = metadata;
  const { terminationGracePeriodSeconds: own = DEFAULT_GRACE_SECONDS } = spec;
  return given > Math.max(LONG_SECONDS, own);
}

/** What the FluxJob of a workload says of its pods that do not end. */
export function lingerWait(pods: readonly Pod[], now: number): GrantWait | undefined {
  const lingering = pods.filter((pod) => isLingering(pod, now));
  const [first] = lingering;
  if (first === undefined) return undefined;
  const { name, deletionTimestamp } = first.metadata;
  const others = lingering.length === 1 ? '' : ` and ${lingering.length - 1} more`;
  const isLate = secondsOf(deletionTimestamp!) <= now;
  const verb = isLate ? 'should have ended at' : 'was deleted, and may run until';
  const reason: GrantReason = 'Pending';
  return {
    reason,
    pod: name,
    message: `pod ${name}${others} ${verb} ${deletionTimestamp} and still uses ${first.spec.nodeName}, which is charged until then`,
    isPartial: true,
  };
}
