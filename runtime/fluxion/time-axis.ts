/**
 * Time over a Fluxion without a clock: every match of its is at axis second 0,
 * and what was allocated holds [0, duration). The axis starts at an epoch; a
 * job that starts T seconds after it with walltime W is asked for with duration
 * T + W, so that it ends at the right second. A window that starts at axis 0
 * meets a reservation exactly if it reaches past the reservation's start, so
 * backfill stays exact beside one reservation.
 */
export class TimeAxis {
  private last: number;

  /** @param epoch whole absolute seconds */
  constructor(readonly epoch: number) {
    this.last = epoch;
  }

  /** Seconds since the epoch; never goes back. */
  at(now: number): number {
    this.last = Math.max(this.last, Math.floor(now));
    return this.last - this.epoch;
  }

  /** Axis second now, without moving it. */
  get second(): number {
    return this.last - this.epoch;
  }

  absolute(axisSecond: number): number {
    return this.epoch + axisSecond;
  }

  /** What to ask for: 0 (Fluxion's 100 years) stays 0. */
  duration(axisSecond: number, walltime: number): number {
    return walltime === 0 ? 0 : axisSecond + Math.ceil(walltime);
  }
}

/** Fluxion's reading of duration 0, in seconds. */
const HUNDRED_YEARS = 3_153_600_000;

/** Whole seconds that a jobspec holds its units. */
export function walltimeOf(duration: number): number {
  return duration === 0 ? HUNDRED_YEARS : Math.ceil(duration);
}
