/**
 * The order of a cohort in which shares decide who is evicted: then shares decide who starts, too, or what has just started would
 * leave for what came a moment later. Of all queues the one goes first that has the smallest share with its next workload. The order
 * within a queue, and that of other cohorts, stays.
 */
import type { WorkloadRow } from '../../queue/workload';
import { shareOf, withoutLeaving } from './cohort-shares';
import { ROUNDING } from './fair-sharing';
import type { Pass } from './state';
import { plus } from './usage';

/** So many of a cohort at a time: more do not start in one pass. */
const MOST_COMPARED = 1_000;

/**
 * @param ordered all rows that may start, in the order of priorities
 * @yields all of them, each by what those before it took
 */
export function* inShareOrder(pass: Pass, ordered: readonly WorkloadRow[]): Generator<WorkloadRow> {
  const lines = linesOf(pass, ordered);
  for (const row of ordered) yield lines.get(cohortOf(pass, row))?.next() ?? row;
}

function cohortOf({ budgets }: Pass, { queue }: WorkloadRow): string {
  return budgets.get(queue)?.settings.cohort ?? '';
}

function linesOf(pass: Pass, ordered: readonly WorkloadRow[]): ReadonlyMap<string, ShareLine> {
  const settings = [...pass.budgets.values()].map((budget) => budget.settings);
  const sharing = new Set(
    settings.flatMap(({ fairSharing, cohort }) => (fairSharing === 'Never' ? [] : (cohort ?? []))),
  );
  if (sharing.size === 0) return new Map();
  const byCohort = Map.groupBy(ordered, (row) => cohortOf(pass, row));
  const shared = [...byCohort].filter(([cohort]) => sharing.has(cohort));
  return new Map(shared.map(([cohort, rows]) => [cohort, new ShareLine(pass, rows)]));
}

/** The workloads of a queue that have not had their turn, and its share with the first of them. */
interface Front {
  readonly queue: string;
  readonly rows: readonly Placed[];
  next: number;
  share: number;
}

interface Placed {
  readonly row: WorkloadRow;
  readonly rank: number;
}

/** The workloads of one cohort. */
class ShareLine {
  private fronts: Front[];
  private last: Front | undefined;
  private readonly promised: ReadonlySet<string>;
  private compared = 0;
  private rest: Iterator<WorkloadRow> | undefined;

  constructor(
    private readonly pass: Pass,
    private readonly rows: readonly WorkloadRow[],
  ) {
    this.promised = new Set([...pass.reservations.all().map(({ uid }) => uid), ...pass.broken.keys()]);
    const placed = rows.map((row, rank) => ({ row, rank }));
    this.fronts = [...Map.groupBy(placed, ({ row }) => row.queue)].map(
      ([queue, own]): Front => ({ queue, rows: own, next: 0, share: 0 }),
    );
    for (const front of this.fronts) this.weigh(front);
  }

  /** The one whose turn it is. */
  next(): WorkloadRow | undefined {
    if (this.fronts.length < 2 || this.compared >= MOST_COMPARED) return this.inOrder();
    if (this.last !== undefined) this.weigh(this.last);
    const front = this.fronts.reduce((best, one) => (comesBefore(one, best) ? one : best));
    const { row } = front.rows[front.next]!;
    front.next += 1;
    this.compared += 1;
    this.last = front;
    if (front.next === front.rows.length) {
      this.fronts = this.fronts.filter((one) => one !== front);
      this.last = undefined;
    }
    return row;
  }

  /** What its queue holds now, with the first that waits. */
  private weigh(front: Front): void {
    const { row } = front.rows[front.next]!;
    // A promise is kept, or given again, and others of its queue come behind it: what waits for a later start takes nothing now.
    if (this.promised.has(row.uid)) {
      front.share = Number.NEGATIVE_INFINITY;
      return;
    }
    const { quotas, input } = this.pass;
    const held = quotas.borrowedBy(front.queue, input.now);
    const beyond = withoutLeaving(this.pass, front.queue, held, input.now);
    front.share = shareOf(this.pass, front.queue, plus(beyond, quotas.leastOf(row)));
  }

  private inOrder(): WorkloadRow | undefined {
    if (this.rest === undefined) {
      const left = new Set(this.fronts.flatMap(({ rows, next }) => rows.slice(next).map(({ row }) => row)));
      this.rest = this.rows.filter((row) => left.has(row))[Symbol.iterator]();
    }
    return this.rest.next().value;
  }
}

function comesBefore(a: Front, b: Front): boolean {
  const isEqual = a.share === b.share || Math.abs(a.share - b.share) <= ROUNDING;
  if (!isEqual) return a.share < b.share;
  return a.rows[a.next]!.rank < b.rows[b.next]!.rank;
}
