/** What a FluxJob shows of the pods of its grant that wait. */
import { type GrantReason, type GrantWait, isStarting } from '../shared/grant-waits';
import { firstOf, type PodWait } from './pod-wait';
import { shorten } from './refused-pods';

export const DEAD_NODE: GrantReason = 'NodeNotReady';

/** @param kept says more of a pod on a dead node */
export function shownOf(first: PodWait | undefined, kept: GrantWait | undefined): GrantWait | undefined {
  return first === undefined || first.reason === DEAD_NODE ? (kept ?? waitOf(first)) : waitOf(first);
}

export function partial(wait: GrantWait | undefined): GrantWait | undefined {
  return wait && { ...wait, isPartial: true };
}

function waitOf(first: PodWait | undefined): GrantWait | undefined {
  if (first === undefined) return undefined;
  return { reason: first.reason, message: shorten(first.message), pod: first.pod };
}

/** What others say keeps a pod from running, while other pods of its workload run. */
export function refusedPod(waits: readonly PodWait[]): GrantWait | undefined {
  const first = firstOf(waits.filter((wait) => !isStarting(wait)));
  if (first === undefined) return undefined;
  const { reason, message, pod } = first;
  return { reason, message: `pod ${pod} waits: ${shorten(message)}`, pod, isPartial: true };
}
