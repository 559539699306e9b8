import { busyText, downText, endlessText, unsatisfiableText } from '../../jobspec/explain';
import type { Jobspec } from '../../jobspec/types';
import type { UnitSettings } from '../../jobspec/units';
import type { WaitReason, WaitUpdate, WorkloadRow } from '../../queue/workload';
import type { GraphNode } from '../../resources/types';
import type { EndlessBlock } from './endless-usage';
import { shownName, shownNames } from './shown-names';

const HELD = 'held until its user releases it';
const WITHOUT_PODS = 'has no pods: it waits until its user sets its parallelism to 1 or more';
const BEHIND = 'waits behind earlier workloads of its queue';
const LEFT = 'its namespace left the queue: it waits until Kubernetes takes it back';
/** Begins the message of a group that somebody has to complete. */
export const GROUP_LATE = 'has waited for too long: ';
const RESERVED = 'nodes are reserved for it';
/** Message of a workload that could start only behind something that has no end. */
export const BEHIND_ENDLESS =
  'the nodes it needs are used by services or by pods outside the queue, whose end is not known';

/** Message of a workload whose plan costs too much beside the pods of now. */
export const COSTLY_NOW =
  'takes too long to place beside the pods that are on the nodes now, and is tried again within the hour; ' +
  'use fewer terms of pod affinity and topologySpreadConstraints, or fewer pods';

/** Reasons of those that wait until others leave. */
const FOR_UNITS: ReadonlySet<WaitReason> = new Set(['Busy', 'QuotaExceeded', 'Reserved']);

/** A message names some of the nodes that are down, and to look for them in all takes time for each shape. */
const MOST_DOWN = 64;

function heldText({ pods }: WorkloadRow): string {
  return pods === 0 ? WITHOUT_PODS : HELD;
}

/** Collects why rows wait, and which of that has to be written. */
export class WaitReasons {
  private readonly changed = new Map<string, WaitUpdate>();
  /** Shape -> why it can never start. To find out takes a look at every node. */
  private readonly shortages = new Map<string, string | undefined>();
  /** Shape -> which nodes it needs that are down. */
  private readonly downTexts = new Map<string, string>();
  private down: readonly GraphNode[] | undefined;
  private outlookOf: (row: WorkloadRow) => string | undefined = () => undefined;

  constructor(
    private readonly nodes: readonly GraphNode[] | undefined,
    private readonly units: UnitSettings,
  ) {}

  /** The changes to write, at most one per row. */
  get updates(): readonly WaitUpdate[] {
    return [...this.changed.values()];
  }

  /** @param outlookOf what is known besides of a row that waits for units or quota; undefined: nothing */
  tellAlso(outlookOf: (row: WorkloadRow) => string | undefined): void {
    this.outlookOf = outlookOf;
  }

  /** The row starts: it does not wait any more. */
  clear(row: WorkloadRow): void {
    this.changed.delete(row.uid);
  }

  markHeld(row: WorkloadRow): void {
    this.mark(row, 'Held', heldText(row));
  }

  /** @param missing which pods of the group are there */
  markIncomplete(row: WorkloadRow, missing: string, isLate: boolean): void {
    const text = `waits for pods of its group: ${missing}`;
    this.mark(row, 'GroupIncomplete', isLate ? `${GROUP_LATE}${text}` : text);
  }

  markLeft(row: WorkloadRow): void {
    this.mark(row, 'NamespaceLeft', LEFT);
  }

  markUnlisted(row: WorkloadRow): void {
    this.mark(
      row,
      'KindNotListed',
      `the queue cannot list objects of the kind ${row.kind}, so it cannot start one`,
    );
  }

  /** @param gates of other controllers */
  markGated(row: WorkloadRow, gates: readonly string[]): void {
    this.mark(row, 'SchedulingGated', `waiting for scheduling gate ${gates.join(', ')}`);
  }

  markBackingOff(row: WorkloadRow, seconds: number): void {
    this.mark(row, 'Requeued', `requeued, retrying in ${seconds}s`);
  }

  /** The error itself may name workloads of others. */
  markLeftOut(row: WorkloadRow): void {
    this.mark(row, 'Busy', 'the scheduler failed as it placed it, and tries again later; its log says why');
  }

  markDependency(row: WorkloadRow, message: string): void {
    this.mark(row, 'DependencyPending', message);
  }

  /** @param problem why the queue is not in service; undefined: it does not exist */
  markOrphaned(row: WorkloadRow, problem: string | undefined): void {
    const which = problem === undefined ? 'which does not exist' : `whose FluxSetup is invalid: ${problem}`;
    const text = `waits for queue ${row.queue}, ${which}`;
    if (row.held) this.mark(row, 'Held', `${heldText(row)}; then it ${text}`);
    else this.mark(row, 'NoFluxSetup', text);
  }

  /** A limit or a quota keeps it from starting. @param start of its reservation, if it has one */
  markQuota(row: WorkloadRow, message: string, start: number | null = null): void {
    this.mark(row, 'QuotaExceeded', message, start);
  }

  markBehind(row: WorkloadRow): void {
    this.mark(row, 'Busy', BEHIND);
  }

  markBusy(row: WorkloadRow): void {
    this.mark(row, 'Busy', busyText(row.jobspec, this.units));
  }

  /** It needs nodes that are down or cordoned. */
  markDown(row: WorkloadRow): void {
    const { shape, jobspec } = row;
    const text = this.downTexts.get(shape) ?? this.downTextOf(jobspec);
    this.downTexts.set(shape, text);
    this.mark(row, 'Busy', text);
  }

  private downTextOf(jobspec: Jobspec): string {
    this.down ??= (this.nodes ?? []).filter(({ up }) => up === false).slice(0, MOST_DOWN);
    return downText(jobspec, this.units, this.down);
  }

  /** It can't be planned beside services and pods outside the queue. */
  markBehindEndless(row: WorkloadRow, block?: EndlessBlock): void {
    this.mark(row, 'Busy', block === undefined ? BEHIND_ENDLESS : this.endlessTextOf(row, block));
  }

  private endlessTextOf(row: WorkloadRow, block: EndlessBlock): string {
    return endlessText(row.jobspec, { ...block, services: shownNames(row, block.services) }, this.units);
  }

  markCostly(row: WorkloadRow): void {
    this.mark(row, 'Busy', COSTLY_NOW);
  }

  markReserved(row: WorkloadRow, start: number): void {
    this.mark(row, 'Reserved', RESERVED, start);
  }

  /**
   * Its start depends on the end of an overrun. A predicted end is no estimate, and would be written again with each new
   * prediction.
   * @param late the workload that overruns; undefined: it is known only that one does
   */
  markBehindOverrun(row: WorkloadRow, late: Pick<WorkloadRow, 'namespace' | 'name'> | undefined): void {
    const who = late === undefined ? 'workloads' : shownName(row, late);
    this.mark(row, 'Reserved', `${RESERVED} behind ${who}, which should have ended by now`);
  }

  /** Its start depends on the end of one whose walltime begins when it starts, which is late. */
  markBehindUnstarted(row: WorkloadRow, late: Pick<WorkloadRow, 'namespace' | 'name'>): void {
    this.mark(
      row,
      'Reserved',
      `${RESERVED} behind ${shownName(row, late)}, which should have started by now`,
    );
  }

  /** @param fallback the message if counting the nodes finds no reason */
  markUnsatisfiable(row: WorkloadRow, fallback: string): void {
    this.mark(row, 'Unsatisfiable', this.shortageOf(row) ?? fallback);
  }

  /** The queue could not make a request of it. */
  markUnreadable(row: WorkloadRow, message: string): void {
    this.mark(row, 'Invalid', message);
  }

  /** Fluxion calls a resource type invalid that no node has; to the user it is missing. */
  markInvalid(row: WorkloadRow, message: string): void {
    const shortage = this.shortageOf(row);
    if (shortage === undefined) this.mark(row, 'Invalid', message);
    else this.mark(row, 'Unsatisfiable', shortage);
  }

  private shortageOf({ jobspec, shape }: WorkloadRow): string | undefined {
    if (this.nodes !== undefined && !this.shortages.has(shape))
      this.shortages.set(shape, unsatisfiableText(jobspec, this.nodes, this.units));
    return this.shortages.get(shape);
  }

  /** The last reason of a pass counts. Ten thousand rows that still wait for the same reason cost no write. */
  private mark(row: WorkloadRow, reason: WaitReason, text: string, estimatedStart: number | null = null) {
    const { uid } = row;
    const outlook = FOR_UNITS.has(reason) ? this.outlookOf(row) : undefined;
    const message = outlook === undefined ? text : `${text}; ${outlook}`;
    const isUnchanged = row.reason === reason && row.message === message;
    if (isUnchanged && isSameTime(row.estimatedStart, estimatedStart)) this.changed.delete(uid);
    else this.changed.set(uid, { uid, reason, message, estimatedStart });
  }
}

/** Postgres rounds to microseconds. */
function isSameTime(a: number | null, b: number | null): boolean {
  return a === b || (a !== null && b !== null && Math.abs(a - b) < 0.001);
}
