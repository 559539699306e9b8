/** Which schedulers answer: one that has never placed or refused a pod does not run, or has another name. */
import type { Informer } from '../kubernetes/informer';
import type { Pod } from '../kubernetes/types';

/** What a scheduler says of the pod. The apiserver says of a pod that it is gated, and that stays until a scheduler says more. */
export function verdictOf({ status }: Pod) {
  return status?.conditions?.find(
    ({ type, reason }) => type === 'PodScheduled' && reason !== 'SchedulingGated',
  );
}

/** The scheduler that has placed or refused the pod: the index `scheduler` of the pods. */
export function answeringScheduler(pod: Pod): readonly string[] {
  return verdictOf(pod) === undefined ? [] : [pod.spec.schedulerName ?? 'default-scheduler'];
}

/**
 * Tells which schedulers have ever placed or refused a pod. It is asked for each pod that waits, so a scheduler that never
 * answers must not cost a look at all pods.
 */
export function schedulersOf(pods: Pick<Informer<Pod>, 'byIndex'>): (schedulerName: string) => boolean {
  const known = new Set<string>();
  return (schedulerName) => {
    if (known.has(schedulerName)) return true;
    const answers = pods.byIndex('scheduler', schedulerName).length > 0;
    if (answers) known.add(schedulerName);
    return answers;
  };
}
