/**
 * Keeps churn from filling the database: of the workloads of a namespace that end in the same hour only so many keep their
 * rows, failures first; of the others the daily sums remain. Those whose object still exists wait until it is gone, because
 * an object that has ended without a row would get one again, and so do those that others wait for.
 */
import type { BeyondBudget } from '../queue/archive';
import type { Shared } from '../shared/shared';
import type { WorkloadKey } from '../shared/workload-key';

export interface HistoryBudgetContext extends Pick<Shared, 'config' | 'fence' | 'now'> {
  readonly queue: Pick<Shared['queue'], 'beyondBudget' | 'condense'>;
  readonly workloads: {
    get(key: WorkloadKey): { readonly metadata: { readonly uid: string } } | undefined;
    isUnlisted(key: WorkloadKey): boolean;
  };
  readonly workloadCache: Pick<Shared['workloadCache'], 'active'>;
}

/** Seconds for which a workload keeps its row in any case: others may name it in `fluxqueue/after`. */
const GRACE = 600;
const HOUR = 3600;
const DAY = 24 * HOUR;
/** Of the hours before its term a leader looks at so many in a round, so that other tasks need not wait for all of them. */
const OLDER_HOURS = 24;

export class HistoryBudget {
  /** Each hour is ranked by itself, so no statement gets longer with the history. Unix seconds at which they begin. */
  private hours: number[] = [];
  /** The last one of the first of these hours that was found. */
  private after: BeyondBudget | undefined;
  /** The first hour that may not have ended. */
  private open: number;
  /** The next hour before those of this term. */
  private older: number;
  /** Found, but not removed yet. Beyond the budget they stay, because an hour only gets more rows. */
  private readonly found = new Map<string, BeyondBudget>();

  constructor(private readonly context: HistoryBudgetContext) {
    this.open = hourOf(context.now() - GRACE);
    this.older = this.open - HOUR;
  }

  /** Looks at so many workloads of an hour at most. `more`: the round goes on. */
  async step(limit: number): Promise<{ readonly more: boolean; readonly removed: number }> {
    const { queue, fence, config, now } = this.context;
    if (this.hours.length === 0) this.hours = this.hoursOfRound();
    const page = await queue.beyondBudget({
      budget: config.queue.recordsPerHour,
      hour: this.hours[0]!,
      before: now() - GRACE,
      after: this.after,
      limit,
    });
    for (const each of page) this.found.set(each.uid, each);
    const due = this.due().slice(0, limit);
    const removed = due.length === 0 ? 0 : await queue.condense(fence, due);
    for (const uid of due) this.found.delete(uid);
    this.after = page.length < limit ? undefined : page.at(-1);
    if (this.after === undefined) this.hours.shift();
    return { more: this.hours.length > 0 || due.length === limit, removed };
  }

  private hoursOfRound(): number[] {
    const { config, now } = this.context;
    const hours: number[] = [];
    const newest = hourOf(now() - GRACE);
    for (let hour = this.open; hour <= newest; hour += HOUR) hours.push(hour);
    if (hours.length === 0) hours.push(newest);
    this.open = newest;
    const oldest = hourOf(now() - config.queue.retentionDays * DAY);
    for (let i = 0; i < OLDER_HOURS && this.older >= oldest; i++, this.older -= HOUR) hours.push(this.older);
    return hours;
  }

  /** The uids of those whose object is known to be gone and that nothing waits for. */
  private due(): string[] {
    const awaited = this.awaited();
    const isDue = (each: BeyondBudget) => !this.exists(each) && !awaited.has(nameOf(each));
    return [...this.found.values()].filter(isDue).map(({ uid }) => uid);
  }

  private exists({ uid, ...key }: BeyondBudget): boolean {
    const { workloads } = this.context;
    return workloads.isUnlisted(key) || workloads.get(key)?.metadata.uid === uid;
  }

  /** Names that workloads wait for. */
  private awaited(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const { namespace, after } of this.context.workloadCache.active())
      for (const { name } of after) names.add(nameOf({ namespace, name }));
    return names;
  }
}

function hourOf(seconds: number): number {
  return Math.floor(seconds / HOUR) * HOUR;
}

function nameOf({ namespace, name }: Pick<BeyondBudget, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
