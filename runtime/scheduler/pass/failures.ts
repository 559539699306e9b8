/**
 * What one workload makes fail costs the others two passes, and not all that follow: it is left out for a while then, with all
 * of its namespace that ask for the same. The first time the pass is repeated with another Fluxion, which may have been the
 * cause. Where Fluxion gives no answer it mostly is, so that takes three passes at the same workload, each after a rebuild of
 * Fluxion. While it cannot be rebuilt, no pass gets as far as a workload.
 */
import { FluxqError, messageOf } from '../../errors';
import type { WorkloadRow } from '../../queue/workload';
import { askedShape } from './avoidance';
import type { PassResult } from './types';

/** An error of a pass while it placed this workload. */
class PlacementFailure extends Error {
  /** The error may be that of a server which does not answer. */
  readonly isInDoubt: boolean;

  constructor(
    readonly row: WorkloadRow,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
    this.isInDoubt = cause instanceof FluxqError && cause.retryable;
  }
}

export function failureOf(row: WorkloadRow, error: unknown): Error {
  return new PlacementFailure(row, error);
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
/** Passes without an answer after which a workload is left out. */
const MOST_IN_DOUBT = 3;

/** Those of another namespace may differ in what no shape has. */
function keyOf(row: WorkloadRow): string {
  return `${row.namespace}/${askedShape(row)}`;
}

export class PlacementFailures {
  private readonly failed = new Map<string, Failed>();
  /** The workload at which the last passes got no answer. */
  private inDoubt: { readonly key: string; readonly passes: number } | undefined;

  /** A pass has succeeded: unless it ended early, Fluxion has answered for each workload. */
  passed({ more }: Pick<PassResult, 'more'>): void {
    if (!more) this.inDoubt = undefined;
  }

  /** @param now Unix seconds @returns the workload at which the pass failed, if it was one */
  note(error: unknown, now: number): WorkloadRow | undefined {
    if (!(error instanceof PlacementFailure)) return undefined;
    const { row, isInDoubt } = error;
    const key = keyOf(row);
    if (!isInDoubt) this.count(key, now, 1);
    else if (this.passesInDoubt(key) >= MOST_IN_DOUBT) {
      this.inDoubt = undefined;
      this.count(key, now, 2);
    }
    return row;
  }

  private passesInDoubt(key: string): number {
    const passes = this.inDoubt?.key === key ? this.inDoubt.passes + 1 : 1;
    this.inDoubt = { key, passes };
    return passes;
  }

  /** @param least the first failure counts as so many */
  private count(key: string, now: number, least: number): void {
    const before = this.failed.get(key);
    const isRepeated = before !== undefined && isWithin(KEPT_SECONDS, before, now);
    const times = Math.max(least, isRepeated ? before.times + 1 : 1);
    this.failed.delete(key);
    const [oldest] = this.failed.keys();
    if (this.failed.size >= MOST) this.failed.delete(oldest!);
    this.failed.set(key, { times, at: now });
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
