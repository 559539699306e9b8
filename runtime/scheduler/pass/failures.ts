/**
 * What one workload makes fail costs the others two passes, and not all that follow: it is left out for a while then, with all
 * of its namespace that ask for the same. The first time the pass is repeated with another Fluxion, which may have been the cause.
 */
import { FluxqError, messageOf } from '../../errors';
import type { WorkloadRow } from '../../queue/workload';
import { askedShape } from './avoidance';

/** An error of a pass while it placed this workload. */
class PlacementFailure extends Error {
  constructor(
    readonly row: WorkloadRow,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
  }
}

/** Of what is tried again by itself, as of a server that does not answer, no workload is the cause. */
export function failureOf(row: WorkloadRow, error: unknown): unknown {
  return error instanceof FluxqError && error.retryable ? error : new PlacementFailure(row, error);
}

interface Failed {
  readonly times: number;
  /** Unix seconds. */
  readonly at: number;
}

const FIRST_SECONDS = 60;
const LONGEST_SECONDS = 3600;
/** Failures that are further apart have nothing to do with each other. */
const KEPT_SECONDS = 2 * LONGEST_SECONDS;
const MOST = 1_000;

/** Those of another namespace may differ in what no shape has. */
function keyOf(row: WorkloadRow): string {
  return `${row.namespace}/${askedShape(row)}`;
}

export class PlacementFailures {
  private readonly failed = new Map<string, Failed>();

  /** @param now Unix seconds @returns the workload at which the pass failed, if it was one */
  note(error: unknown, now: number): WorkloadRow | undefined {
    if (!(error instanceof PlacementFailure)) return undefined;
    const key = keyOf(error.row);
    const before = this.failed.get(key);
    const times = before !== undefined && isWithin(KEPT_SECONDS, before, now) ? before.times + 1 : 1;
    this.failed.delete(key);
    const [oldest] = this.failed.keys();
    if (this.failed.size >= MOST) this.failed.delete(oldest!);
    this.failed.set(key, { times, at: now });
    return error.row;
  }

  /** @param now Unix seconds @returns whether the row is left out now */
  has(row: WorkloadRow, now: number): boolean {
    if (this.failed.size === 0) return false;
    const failed = this.failed.get(keyOf(row));
    if (failed === undefined || failed.times === 1) return false;
    return isWithin(Math.min(FIRST_SECONDS * 2 ** (failed.times - 2), LONGEST_SECONDS), failed, now);
  }
}

/** A clock that was set back says nothing of how long ago it was. */
function isWithin(seconds: number, { at }: Failed, now: number): boolean {
  return now >= at && now < at + seconds;
}
