/** When a workload that has started ends at the latest, as its FluxJob tells it. */

/** Seconds by which an end may differ from the start and the walltime without a word, and without a write. */
export const END_TOLERANCE_SECONDS = 5;

/** What a FluxJob says of the end. */
interface Told {
  readonly spec: { readonly walltimeSeconds?: number };
  readonly status?: { readonly startTime?: string; readonly endTime?: string } | undefined;
}

/** Unix milliseconds; undefined before its start, and for what has no end. */
export function toldEnd({ spec: { walltimeSeconds }, status = {} }: Told): number | undefined {
  const { startTime, endTime } = status;
  if (endTime !== undefined) return Date.parse(endTime);
  if (walltimeSeconds === undefined || startTime === undefined) return undefined;
  return Date.parse(startTime) + walltimeSeconds * 1000;
}
