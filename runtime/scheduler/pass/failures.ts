/**
 * What one workload makes fail costs the others two passes, and not all that follow: it is left out for a while then, with all
 * that ask for the same. The first time the pass is repeated with another Fluxion, which may have been the cause.
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
  readonly message: string;
  readonly times: number;
  /** Unix seconds: when it is tried again. */
  readonly until: number;
}

const FIRST_SECONDS = 60;
const LONGEST_SECONDS = 3600;
const MOST_SHAPES = 1_000;

export class PlacementFailures {
  private readonly byShape = new Map<string, Failed>();

  /** @param now Unix seconds @returns the workload at which the pass failed, if it was one */
  note(error: unknown, now: number): WorkloadRow | undefined {
    if (!(error instanceof PlacementFailure)) return undefined;
    const { row, message } = error;
    const shape = askedShape(row);
    const times = (this.byShape.get(shape)?.times ?? 0) + 1;
    const seconds = times === 1 ? 0 : Math.min(FIRST_SECONDS * 2 ** (times - 2), LONGEST_SECONDS);
    if (this.byShape.size >= MOST_SHAPES) this.byShape.clear();
    this.byShape.set(shape, { message, times, until: now + seconds });
    return row;
  }

  /** @param now Unix seconds @returns what failed if the row is left out now */
  of(row: WorkloadRow, now: number): string | undefined {
    if (this.byShape.size === 0) return undefined;
    const failed = this.byShape.get(askedShape(row));
    return failed !== undefined && failed.until > now ? failed.message : undefined;
  }
}
