/**
 * Who is tried first behind the promises of a queue that has chosen `shortestArea`: whoever asks for the least, which is its part of
 * the cluster times its walltime. The places of the queue in the order of all queues stay; only which of its workloads takes which
 * place changes, so no queue gains or loses against others.
 *
 * The first in line still have the reservations, so no order of the others delays them, and each is the first one day.
 */
import type { WorkloadRow } from '../../queue/workload';
import { jobSizes } from './job-size';
import { WaitingLimits } from './limits';
import { priorityOf } from './order';
import { mayReserveFor, shortageOf } from './quota-wait';
import { budgetOf, type Pass } from './state';
import { mayReserve } from './strategies';

/**
 * @param ordered all rows, in the order of the line
 * @param places the same rows, in the order in which the pass comes to their places
 */
export function* inBackfillOrder(
  pass: Pass,
  ordered: readonly WorkloadRow[],
  places: Iterable<WorkloadRow>,
): Generator<WorkloadRow> {
  const lines = linesOf(pass, ordered);
  for (const place of places) yield lines.get(place.queue)?.next() ?? place;
}

/** Of the queues that have chosen it. Where queues reclaim, own quota decides who comes first. */
function linesOf(pass: Pass, ordered: readonly WorkloadRow[]): ReadonlyMap<string, BackfillLine> {
  const chosen = new Set<string>();
  for (const [name, { settings, isStrict }] of pass.budgets)
    if (settings.backfillOrder === 'shortestArea' && !isStrict && !pass.quotas.reclaimingCohortOf(name))
      chosen.add(name);
  if (chosen.size === 0) return NONE;
  const rows = Map.groupBy(ordered, ({ queue }) => queue);
  return new Map([...chosen].map((name) => [name, new BackfillLine(pass, rows.get(name) ?? [])]));
}

const NONE: ReadonlyMap<string, BackfillLine> = new Map();

class BackfillLine {
  private readonly rows: readonly WorkloadRow[];
  /** Beyond a limit of waiting workloads: who that is, the order of the line tells. */
  private readonly beyond: readonly WorkloadRow[];
  private front = 0;
  /** Those that were not tried in the order of the line, as soon as nothing more may be promised. */
  private rest: Iterator<WorkloadRow> | undefined;

  constructor(
    private readonly pass: Pass,
    all: readonly WorkloadRow[],
  ) {
    const [first] = all;
    const limits = first && new WaitingLimits(budgetOf(pass, first).settings.limits);
    const beyond = new Set(all.filter((row) => limits!.countWaiting(row) !== undefined));
    this.rows = beyond.size === 0 ? all : all.filter((row) => !beyond.has(row));
    this.beyond = [...beyond];
  }

  next(): WorkloadRow | undefined {
    const first = this.rows[this.front];
    if (this.rest === undefined && first !== undefined && this.comesFirst(first)) {
      this.front += 1;
      return first;
    }
    this.rest ??= [...this.byArea(this.rows.slice(this.front)), ...this.beyond].values();
    return this.rest.next().value;
  }

  /** Whether it has a promise, or is the next that may have one. */
  private comesFirst(row: WorkloadRow): boolean {
    const { pass } = this;
    if (pass.reservations.of(row.uid) !== undefined) return true;
    const budget = budgetOf(pass, row);
    const shortage = shortageOf(pass, row);
    if (shortage === undefined) return mayReserve(pass, budget, row);
    return mayReserveFor(pass, { row, budget, reservation: undefined }, shortage);
  }

  /** Promises and those that have waited too long keep their order; priority comes before area. */
  private byArea(rows: readonly WorkloadRow[]): readonly WorkloadRow[] {
    const { pass } = this;
    const { now, nodes = [] } = pass.input;
    const sizeOf = jobSizes(nodes, pass.units);
    const entries = rows.map((row) => {
      const { settings } = budgetOf(pass, row);
      const isInLine =
        now - row.submittedAt >= settings.backfillMaxWaitSeconds ||
        pass.reservations.of(row.uid) !== undefined;
      const priority = isInLine ? Infinity : priorityOf(row, settings);
      return { row, priority, area: isInLine ? 0 : sizeOf(row) * row.walltime };
    });
    entries.sort((a, b) => (a.priority === b.priority ? a.area - b.area : b.priority - a.priority));
    return entries.map(({ row }) => row);
  }
}
