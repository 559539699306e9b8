/** The time of day in UTC, as kubectl shows the times of FluxJobs. @param seconds Unix seconds, of which parts are cut */
export function clockTime(seconds: number): string {
  return new Date(Math.floor(seconds) * 1000).toISOString().slice(11, 19);
}
