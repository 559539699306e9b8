import type { Limits, QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';

type Limited = Pick<WorkloadRow, 'user'>;

export class LimitCounts {
  private readonly running = new QueueCounts();
  private readonly waiting = new QueueCounts();

  constructor(
    private readonly limits: QueueSettings['limits'],
    holders: readonly Limited[],
  ) {
    for (const { user } of holders) this.running.add(user);
  }

  /** Counts a waiting row, in order. @returns why it is not looked at; undefined if it is */
  waits({ user }: Limited): string | undefined {
    const { queue, user: each } = this.limits;
    const full = exceeded(this.waiting, user, queue.waiting, each.waiting);
    if (full === undefined) this.waiting.add(user);
    return full && `${full} looks at ${countOf(full, this.limits).waiting} waiting workloads at a time`;
  }

  /** @returns why it may not start now; undefined if it may */
  shortageOf({ user }: Limited): string | undefined {
    const { queue, user: each } = this.limits;
    const full = exceeded(this.running, user, queue.running, each.running);
    return full && `${full} runs ${countOf(full, this.limits).running} workloads at a time`;
  }

  starts({ user }: Limited): void {
    this.running.add(user);
  }
}

type Whose = 'its queue' | 'its user';

function exceeded(
  counts: QueueCounts,
  user: string,
  ofQueue: number | undefined,
  ofUser: number | undefined,
): Whose | undefined {
  if (counts.all >= (ofQueue ?? Infinity)) return 'its queue';
  return counts.of(user) >= (ofUser ?? Infinity) ? 'its user' : undefined;
}

function countOf(whose: Whose, { queue, user }: QueueSettings['limits']): Limits {
  return whose === 'its queue' ? queue : user;
}

class QueueCounts {
  all = 0;
  private readonly byUser = new Map<string, number>();

  add(user: string): void {
    this.all += 1;
    this.byUser.set(user, this.of(user) + 1);
  }

  of(user: string): number {
    return this.byUser.get(user) ?? 0;
  }
}
