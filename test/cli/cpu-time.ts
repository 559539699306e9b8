/** Seconds of CPU that some work takes: unlike the time on the clock, they do not grow while other tests run. */
export function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
