/**
 * Keeps churn from filling the database: of the workloads of a namespace that end in the same hour only so many keep their
 * rows, failures first; of the others the daily sums remain. It leaves those alone whose object still exists, because an
 * object that has ended without a row would get one again, and those that others wait for.
 */
import type { BeyondBudget } from '../queue/archive';
import type { Shared } from '../shared/shared';
import type { WorkloadKey } from '../shared/workload-key';

export interface HistoryBudgetContext extends Pick<Shared, 'config' | 'fence' | 'now'> {
  readonly queue: Pick<Shared['queue'], 'beyondBudget' | 'condense'>;
  readonly workloads: {
    get(key: WorkloadKey): { readonly metadata: { readonly uid: string } } | undefined;
  };
  readonly workloadCache: Pick<Shared['workloadCache'], 'active'>;
}

/** Seconds for which a workload keeps its row in any case: others may name it in `fluxqueue/after`. */
const GRACE = 600;
/** Seconds. The hours before are done, but for a leader that has just begun. */
const FIRST_LOOK_BACK = 7 * 86_400;
const LOOK_BACK = 2 * 3600;

export class HistoryBudget {
  /** The last one that was looked at in this round. */
  private after: BeyondBudget | undefined;
  private lookBack = FIRST_LOOK_BACK;

  constructor(private readonly context: HistoryBudgetContext) {}

  /** Looks at so many workloads at most. */
  async step(limit: number): Promise<{ readonly seen: number; readonly removed: number }> {
    const { queue, fence, config, now } = this.context;
    const found = await queue.beyondBudget({
      budget: config.queue.recordsPerHour,
      from: now() - this.lookBack,
      before: now() - GRACE,
      after: this.after,
      limit,
    });
    const awaited = this.awaited();
    const uids = found
      .filter((each) => !this.exists(each) && !awaited.has(nameOf(each)))
      .map(({ uid }) => uid);
    const removed = uids.length === 0 ? 0 : await queue.condense(fence, uids);
    this.after = found.length < limit ? undefined : found.at(-1);
    if (found.length < limit) this.lookBack = LOOK_BACK;
    return { seen: found.length, removed };
  }

  private exists({ uid, ...key }: BeyondBudget): boolean {
    return this.context.workloads.get(key)?.metadata.uid === uid;
  }

  /** Names that workloads wait for. */
  private awaited(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const { namespace, after } of this.context.workloadCache.active())
      for (const { name } of after) names.add(nameOf({ namespace, name }));
    return names;
  }
}

function nameOf({ namespace, name }: Pick<BeyondBudget, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
