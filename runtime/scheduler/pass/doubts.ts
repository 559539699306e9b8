/**
 * Ends that nobody can tell: of what should have ended by now, and of what was granted and has not started, whose walltime counts from its
 * start. Reservations that count on one of them stay where they are, so that nobody takes their nodes for longer, but their starts are not
 * told: they would be promises that are known to be false. An end or a start that is late by no more than `TERMINATION_SECONDS` is expected
 * at any moment, and promises move with it (moved-promises.ts).
 */
import type { WorkloadRow } from '../../queue/workload';
import type { AllocatedNode, Allocation } from '../../resources/types';
import { shareUnits } from '../../resources/unit-counts';
import { countsOn, type Delay, dueEnd, plannedEndOf, TERMINATION_SECONDS } from './planned-end';
import type { Reservation } from './reservations';

/** What starts between `before` and `end` counts on it. */
interface Doubt extends Delay {
  /** The workload that is late. */
  readonly row: WorkloadRow;
  readonly isStarted: boolean;
  /** When it is late. Unix seconds. */
  readonly from: number;
  readonly nodes: Allocation['nodes'];
}

export class Doubts {
  private readonly all: Doubt[] = [];
  private readonly byNode = new Map<string, { readonly doubt: Doubt; readonly node: AllocatedNode }[]>();

  /** @param held rows with an allocation, as they are */
  constructor(held: readonly WorkloadRow[], now: number) {
    for (const row of held) {
      const { start, nodes } = row.allocation!;
      const [due, late] = [dueEnd(row), TERMINATION_SECONDS + 1];
      if (due <= now) {
        const before = plannedEndOf(row, now);
        this.add({ row, isStarted: true, from: due + TERMINATION_SECONDS, before, end: Infinity, nodes });
      } else if (row.startedAt === null && row.evictionReason === null) {
        // Started now, it would end as much later as it was granted before.
        const end = due + Math.max(late, now - start);
        this.add({ row, isStarted: false, from: start + late, before: due, end, nodes });
      }
    }
  }

  /** Of those on which the reservation counts, the one that is late for longest, or will be first. */
  of({ allocation: { start, nodes }, shortage }: Pick<Reservation, 'allocation' | 'shortage'>) {
    if (this.all.length === 0) return undefined;
    const onNodes = nodes.flatMap((own) =>
      (this.byNode.get(own.name) ?? []).flatMap(({ doubt, node }) =>
        countsOn(start, doubt) && shareUnits(own, node) ? [doubt] : [],
      ),
    );
    const ofQuota = shortage === undefined ? [] : this.all.filter(({ before }) => before === start);
    return [...onNodes, ...ofQuota].reduce<Doubt | undefined>(
      (first, one) => (first === undefined || one.from < first.from ? one : first),
      undefined,
    );
  }

  /** What is planned behind that reservation counts on the same end. */
  follow(doubt: Doubt, { end: before, nodes }: Allocation): void {
    this.add({ ...doubt, nodes, before, end: before + doubt.end - doubt.before });
  }

  private add(doubt: Doubt): void {
    this.all.push(doubt);
    for (const node of doubt.nodes) {
      const known = this.byNode.get(node.name) ?? [];
      known.push({ doubt, node });
      this.byNode.set(node.name, known);
    }
  }
}
