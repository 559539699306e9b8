/**
 * When a change of a row is written into its FluxJob: a phase that passes quickly is not written, and while many workloads
 * start and end, nothing that tells little is.
 */
import type { FluxJobPolicy } from '../../constructs/api/policies';
import type { Phase, WorkloadRow } from '../queue/workload';
import type { Busyness } from '../shared/change-rate';
import { type GrantWait, isStarting } from '../shared/grant-waits';
import { CROWD_SECONDS, isOneOfMany } from './fleeting';
import { shownPhase } from './status';

/** Seconds after its submission at which a workload gets its FluxJob, unless it has ended before. */
const CREATE_SECONDS = 1;
/** Seconds that a phase must last before it is written. */
const SETTLE_SECONDS: Readonly<Record<Phase, number>> = {
  Waiting: 1.5,
  Ready: 3,
  Running: 1,
  Finished: 0,
};
/** While many workloads start and end, nothing that lasts for less than these seconds is written: not even an end. */
const BUSY_SECONDS = 7;
/**
 * A burst is no stream: what starts and ends in its first seconds as it should is written when the burst is over. So its
 * changes are up to these seconds behind; later ones less and less, down to BUSY_SECONDS. What waits or fails is shown as always.
 */
const BURST_SECONDS = 20;
/** The burst that keeps a FluxJob from being created may be over sooner. */
const RECHECK_SECONDS = 20;

export interface WriteTimesOptions {
  readonly busyness: Pick<Busyness, 'isBusy' | 'burstSince' | 'isBursting'>;
  readonly policy: FluxJobPolicy;
  /** What a granted workload waits for while none of its pods runs. */
  readonly waitOf: (uid: string) => GrantWait | undefined;
  /** Unix seconds. */
  readonly now: () => number;
}

/** The phase of a row as this process saw it. Unix seconds. */
interface Seen {
  readonly phase: Phase;
  /** Since when the row is in it. */
  readonly at: number;
  /** When the first phase began that no write shows. @default - it is written */
  readonly unwrittenSince?: number;
  /** Seconds of that time for which nothing was to be written. @default 0 */
  readonly keptBack?: number;
}

/** What decides when a change is written. Unix seconds. */
interface Settling {
  /** What must last began then. */
  readonly since: number;
  /** How long it must last while few workloads start and end. */
  readonly quietSeconds: number;
  /** @default - every change before is written */
  readonly unwrittenSince?: number | undefined;
}

export class WriteTimes {
  /** By uid of the workload. */
  private readonly seen = new Map<string, Seen>();

  constructor(private readonly options: WriteTimesOptions) {}

  forget(uid: string): void {
    this.seen.delete(uid);
  }

  /** The row was written. @returns the seconds by which that was late; undefined: nothing had changed */
  written(row: WorkloadRow): number | undefined {
    const { phase, at, unwrittenSince, keptBack = 0 } = this.see(row);
    this.seen.set(row.uid, { phase, at });
    return unwrittenSince === undefined
      ? undefined
      : Math.max(0, this.options.now() - unwrittenSince - keptBack);
  }

  /** Seconds until the FluxJob is due, or until it has to be asked again. */
  secondsToCreation(row: WorkloadRow): number {
    const seen = this.see(row);
    const submittedAt = submissionOf(row, seen);
    if (this.isOneOfMany(row)) return Math.min(RECHECK_SECONDS, this.secondsInCrowd(row, seen));
    const [since, quietSeconds] = seen.phase === 'Finished' ? [seen.at, 0] : [submittedAt, CREATE_SECONDS];
    return this.secondsTo(row, { since, quietSeconds, unwrittenSince: submittedAt });
  }

  /**
   * A change within a phase (position, estimate, reason) waits too, because every pass changes these.
   * @param lastWrite Unix seconds; 0: before this process
   */
  secondsToUpdate(row: WorkloadRow, lastWrite: number): number {
    const { phase, at, unwrittenSince } = this.see(row);
    const since = Math.max(lastWrite, at);
    return this.secondsTo(row, { since, quietSeconds: SETTLE_SECONDS[phase], unwrittenSince });
  }

  /** Whether it tells nothing yet that its user does not see by thousands of others. */
  private isOneOfMany(row: WorkloadRow): boolean {
    const { policy, busyness } = this.options;
    return (row.phase === 'Waiting' || this.goesWell(row)) && isOneOfMany(row, policy, busyness);
  }

  /** A wait counts from the submission; each later phase must last by itself. */
  private secondsInCrowd(row: WorkloadRow, seen: Seen): number {
    const { phase, at, unwrittenSince } = seen;
    const due =
      phase === 'Waiting' ? submissionOf(row, seen) + CROWD_SECONDS : at + this.busySeconds(row, at);
    this.seen.set(row.uid, { ...seen, keptBack: due - (unwrittenSince ?? due) });
    return due - this.options.now();
  }

  /** A workload that changes often is shown, too: nothing waits longer than from `unwrittenSince` on. */
  private secondsTo(
    row: WorkloadRow,
    { since, quietSeconds, unwrittenSince = Number.POSITIVE_INFINITY }: Settling,
  ): number {
    const { busyness, now } = this.options;
    const settled = since + (busyness.isBusy() ? this.busySeconds(row, since) : quietSeconds);
    return Math.min(settled, unwrittenSince + this.busySeconds(row, unwrittenSince)) - now();
  }

  /** @param since when a change came that is not written yet */
  private busySeconds(row: WorkloadRow, since: number): number {
    const began = this.options.busyness.burstSince;
    if (began === undefined || !this.goesWell(row)) return BUSY_SECONDS;
    const share = Math.min(1, Math.max(0, since - began) / BURST_SECONDS);
    return BURST_SECONDS + share * (BUSY_SECONDS - BURST_SECONDS);
  }

  /** Whether the workload was granted nodes, and starts, runs or has ended as it should. */
  private goesWell({ uid, phase, result, requeues }: WorkloadRow): boolean {
    if (phase === 'Waiting' || requeues > 0) return false;
    if (phase === 'Finished') return result === 'Succeeded';
    const wait = this.options.waitOf(uid);
    return wait === undefined || isStarting(wait);
  }

  /** Not by the times of the row: some of them are by the clock of a node. */
  private see(row: WorkloadRow): Seen {
    const phase = shownPhase(row, this.options.waitOf(row.uid));
    const known = this.seen.get(row.uid);
    if (known?.phase === phase) return known;
    const at = this.options.now();
    const seen = { phase, at, unwrittenSince: known?.unwrittenSince ?? at };
    this.seen.set(row.uid, seen);
    return seen;
  }
}

/** The apiserver's clock says when; a leader whose own is behind would not create the FluxJob until it has caught up. */
function submissionOf({ submittedAt }: WorkloadRow, { at, unwrittenSince = at }: Seen): number {
  return Math.min(submittedAt, unwrittenSince);
}
