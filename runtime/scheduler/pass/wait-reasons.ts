import { busyText, downText, unsatisfiableText } from '../../jobspec/explain';
import type { UnitSettings } from '../../jobspec/units';
import type { WaitReason, WaitUpdate, WorkloadRow } from '../../queue/workload';
import type { GraphNode } from '../../resources/types';

const HELD = 'waits until its user releases it';
const BEHIND = 'waits behind earlier workloads of its queue';
/** Longer than any walltime that a queue would take. */
const FORESEEABLE_SECONDS = 5 * 365 * 24 * 3600;
const BEHIND_OTHERS =
  'the nodes it needs are used by pods that are not of the queue, and nobody knows until when';
const RESERVED = 'nodes are reserved for it';

export class WaitReasons {
  private readonly changed = new Map<string, WaitUpdate>();
  /** Shape -> why it can never start: that takes a look at every node. */
  private readonly reasons = new Map<string, string | undefined>();

  constructor(
    private readonly nodes: readonly GraphNode[] | undefined,
    private readonly units: UnitSettings,
  ) {}

  /** What is to be written, one for a row. */
  get updates(): readonly WaitUpdate[] {
    return [...this.changed.values()];
  }

  /** It starts: nothing is to be said any more. */
  starts(row: WorkloadRow): void {
    this.changed.delete(row.uid);
  }

  markHeld(row: WorkloadRow): void {
    this.mark(row, 'Held', HELD);
  }

  /** @param text what it waits for */
  markDependency(row: WorkloadRow, text: string): void {
    this.mark(row, 'DependencyPending', text);
  }

  markOrphaned(row: WorkloadRow): void {
    this.mark(row, 'NoFluxSetup', `waits for its queue ${row.queue}, which is not there`);
  }

  /** @param text which limit or quota is in the way */
  markQuota(row: WorkloadRow, text: string): void {
    this.mark(row, 'QuotaExceeded', text);
  }

  markBehind(row: WorkloadRow): void {
    this.mark(row, 'Busy', BEHIND);
  }

  markBusy(row: WorkloadRow): void {
    this.mark(row, 'Busy', busyText(row.jobspec, this.units));
  }

  /** It waits for nodes that are down or cordoned. */
  markDown(row: WorkloadRow): void {
    this.mark(row, 'Busy', downText(row.jobspec, this.units));
  }

  /** Pods that are not of the queue have no end that is known: a start behind them is no promise. */
  markReserved(row: WorkloadRow, start: number, now: number): void {
    if (start - now > FORESEEABLE_SECONDS) this.mark(row, 'Busy', BEHIND_OTHERS);
    else this.mark(row, 'Reserved', RESERVED, start);
  }

  /** @param text what is said if counting the nodes does not tell */
  markUnsatisfiable(row: WorkloadRow, text: string): void {
    this.mark(row, 'Unsatisfiable', this.why(row) ?? text);
  }

  /** To Fluxion a type that no node has is no type at all: the user only asked for what isn't there. */
  markInvalid(row: WorkloadRow, text: string): void {
    const tooLarge = this.why(row);
    if (tooLarge === undefined) {
      this.mark(row, 'Invalid', text);
    } else {
      this.mark(row, 'Unsatisfiable', tooLarge);
    }
  }

  private why({ jobspec, shape }: WorkloadRow): string | undefined {
    if (this.nodes !== undefined && !this.reasons.has(shape)) {
      this.reasons.set(shape, unsatisfiableText(jobspec, this.nodes, this.units));
    }
    return this.reasons.get(shape);
  }

  /** Ten thousand rows that still wait for the same reason cost no write. The last word of a pass counts. */
  private mark(row: WorkloadRow, reason: WaitReason, message: string, estimatedStart: number | null = null) {
    const { uid } = row;
    const said = row.reason === reason && row.message === message;
    if (said && sameTime(row.estimatedStart, estimatedStart)) this.changed.delete(uid);
    else this.changed.set(uid, { uid, reason, message, estimatedStart });
  }
}

/** Postgres keeps microseconds. */
function sameTime(a: number | null, b: number | null): boolean {
  return a === b || (a !== null && b !== null && Math.abs(a - b) < 0.001);
}
