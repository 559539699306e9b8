/** Limits of a queue and of each of its users: how many workloads run, and how many waiting ones are considered. */
import type { Limits, QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';

type Limited = Pick<WorkloadRow, 'user'>;

export class LimitCounts {
  private readonly running = new UserCounts();
  private readonly waiting = new UserCounts();

  constructor(
    private readonly limits: QueueSettings['limits'],
    holders: readonly Limited[],
  ) {
    for (const { user } of holders) this.running.add(user);
  }

  /** Counts a waiting row, in order. @returns the limit that it exceeds; undefined if it is considered */
  countWaiting({ user }: Limited): string | undefined {
    const { queue, user: perUser } = this.limits;
    const scope = exceeded(this.waiting, user, queue.waiting, perUser.waiting);
    if (scope === undefined) {
      this.waiting.add(user);
      return undefined;
    }
    return `at most ${limitsOf(scope, this.limits).waiting} waiting workloads of ${scope} are considered at a time`;
  }

  /** @returns the limit that keeps the row from starting now; undefined if none does */
  exceededBy({ user }: Limited): string | undefined {
    const { queue, user: perUser } = this.limits;
    const scope = exceeded(this.running, user, queue.running, perUser.running);
    if (scope === undefined) return undefined;
    return `at most ${limitsOf(scope, this.limits).running} workloads of ${scope} run at a time`;
  }

  countRunning({ user }: Limited): void {
    this.running.add(user);
  }
}

type Scope = 'its queue' | 'its user';

function exceeded(
  counts: UserCounts,
  user: string,
  ofQueue: number | undefined,
  ofUser: number | undefined,
): Scope | undefined {
  if (counts.total >= (ofQueue ?? Infinity)) return 'its queue';
  return counts.of(user) >= (ofUser ?? Infinity) ? 'its user' : undefined;
}

function limitsOf(scope: Scope, { queue, user }: QueueSettings['limits']): Limits {
  return scope === 'its queue' ? queue : user;
}

class UserCounts {
  total = 0;
  private readonly byUser = new Map<string, number>();

  add(user: string): void {
    this.total += 1;
    this.byUser.set(user, this.of(user) + 1);
  }

  of(user: string): number {
    return this.byUser.get(user) ?? 0;
  }
}
