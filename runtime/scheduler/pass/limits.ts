/** Limits on how many waiting workloads of a queue and of each of its users are considered. */
import type { Limits, QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';

export class WaitingLimits {
  private total = 0;
  private readonly byUser = new Map<string, number>();

  constructor(private readonly limits: QueueSettings['limits']) {}

  /** Counts a waiting row, in order. @returns the limit that it exceeds; undefined if it is considered */
  countWaiting({ user }: Pick<WorkloadRow, 'user'>): string | undefined {
    const { queue, user: perUser } = this.limits;
    if (queue.waiting === undefined && perUser.waiting === undefined) return undefined;
    const ofUser = this.byUser.get(user) ?? 0;
    if (isReached(queue, this.total)) return exceeded('its queue', queue);
    if (isReached(perUser, ofUser)) return exceeded('its user', perUser);
    this.total += 1;
    this.byUser.set(user, ofUser + 1);
    return undefined;
  }
}

function isReached({ waiting = Infinity }: Limits, count: number): boolean {
  return count >= waiting;
}

function exceeded(scope: string, { waiting }: Limits): string {
  const many = waiting === 1 ? '1 waiting workload' : `${waiting} waiting workloads`;
  return `at most ${many} of ${scope} ${waiting === 1 ? 'is' : 'are'} considered at a time`;
}
