/**
 * What has no end in sight: services and pods outside the queue. Fluxion reads a duration of 0 as 100 years and then plans
 * nothing behind it, so both are planned with an end that is finite but beyond every walltime.
 */

/** Planned seconds of what has no end: ten years. */
export const ENDLESS_SECONDS = 10 * 365 * 24 * 3600;

/** A start further ahead than this is no plan: it is behind something that has no end. */
export const FORESEEABLE_SECONDS = ENDLESS_SECONDS / 2;

/** Whether a time that was planned now is an estimate, and not behind something that has no end. */
export function isForeseeable(time: number, now: number): boolean {
  return time - now <= FORESEEABLE_SECONDS;
}

/** Whether what is planned from `start` to `end` has no end. A walltime of more than five years counts as none. */
export function isEndless({ start, end }: { readonly start: number; readonly end: number }): boolean {
  return !isForeseeable(end, start);
}
