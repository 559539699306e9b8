/**
 * Containers that end and that their kubelet starts again. Such a pod is Running to Kubernetes, also while it waits for its
 * next start, so nothing else tells that it gets nowhere.
 */
import type { Pod } from '../kubernetes/types';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import { containerStatusesOf, isTerminal } from './adapter';
import { exitOf } from './pod-end';

type Restarted = ReturnType<typeof containerStatusesOf>[number];

/** In every sentence about such a container. */
export const STARTED_AGAIN = 'was started again';

/** How often a container of the pod has failed and was started again, as a sentence. */
function restartsOf({ metadata }: Pod, { name, restartCount = 0, lastState, state }: Restarted): string {
  const times = restartCount === 1 ? 'once' : `${restartCount} times`;
  const waits = state?.waiting?.reason;
  const now = waits === undefined ? '' : ` (now ${waits})`;
  const end = exitOf(lastState!.terminated!);
  return `container ${name} of pod ${metadata.name} ${STARTED_AGAIN} ${times}${now}, last because it ${end}`;
}

/** Of the containers that have failed, the one that was started most often. */
function worstOf(pod: Pod): Restarted | undefined {
  return containerStatusesOf(pod)
    .filter(({ restartCount = 0, lastState }) => restartCount > 0 && hasFailed(lastState))
    .sort((a, b) => b.restartCount! - a.restartCount!)[0];
}

function hasFailed(lastState: Restarted['lastState']): boolean {
  return lastState?.terminated !== undefined && lastState.terminated.exitCode !== 0;
}

/** What the FluxJob of a workload says of its pods whose containers fail again and again. */
export function restartWait(pods: readonly Pod[]): GrantWait | undefined {
  const restarting = pods
    .flatMap((pod) => {
      const worst = isTerminal(pod) ? undefined : worstOf(pod);
      return worst === undefined ? [] : [{ pod, worst }];
    })
    .sort((a, b) => b.worst.restartCount! - a.worst.restartCount!);
  const [first] = restarting;
  if (first === undefined) return undefined;
  const others =
    restarting.length === 1 ? '' : `; and ${restarting.length - 1} more of its pods have such containers`;
  const reason: GrantReason = 'Pending';
  return {
    reason,
    pod: first.pod.metadata.name,
    message: `${restartsOf(first.pod, first.worst)}${others}`,
    isPartial: true,
  };
}
