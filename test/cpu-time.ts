/** Seconds of CPU that some work takes: unlike the time on the clock, they do not grow while others have the cores. */
export function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return secondsSince(before);
}

/** As {@link cpuSeconds}, of work that waits in between. */
export async function cpuSecondsOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return secondsSince(before);
}

function secondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
