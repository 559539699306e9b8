/**
 * A time axis for a Fluxion that has no clock: it matches every job at second 0, and an allocation holds [0, duration).
 * The axis starts at an epoch. A job that starts T seconds after the epoch with walltime W is requested with duration
 * T + W, so that it ends at the right second. A window from second 0 overlaps a reservation exactly if it ends after
 * the start of the reservation, so backfill stays exact beside one reservation.
 */
export class TimeAxis {
  private last: number;

  /** @param epoch whole absolute seconds */
  constructor(readonly epoch: number) {
    this.last = epoch;
  }

  /** Moves the axis to `now` and returns the seconds since the epoch. It never moves back. */
  advanceTo(now: number): number {
    this.last = Math.max(this.last, Math.floor(now));
    return this.last - this.epoch;
  }

  /** Seconds since the epoch at the last {@link advanceTo}. */
  get second(): number {
    return this.last - this.epoch;
  }

  absolute(axisSecond: number): number {
    return this.epoch + axisSecond;
  }

  /**
   * The duration to request on the axis, which ends after 100 years: what would end later ends then. A walltime of 0, which
   * Fluxion reads as 100 years, stays 0.
   */
  duration(axisSecond: number, walltime: number): number {
    return walltime === 0 ? 0 : Math.min(axisSecond + Math.ceil(walltime), HUNDRED_YEARS);
  }
}

/** Seconds: the time span of a graph, and the meaning of duration 0. */
export const HUNDRED_YEARS = 3_153_600_000;

/** Whole seconds for which a jobspec holds its units. */
export function walltimeOf(duration: number): number {
  return duration === 0 ? HUNDRED_YEARS : Math.ceil(duration);
}
