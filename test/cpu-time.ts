/**
 * Seconds of CPU that some work takes, on a machine of usual speed: unlike the time on the clock, they do not grow while others have the
 * cores, and on a slower machine they are as many fewer as a known work takes longer there.
 */
export function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return usual(secondsSince(before));
}

/** As {@link cpuSeconds}, of work that waits in between. */
export async function cpuSecondsOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return usual(secondsSince(before));
}

/** Seconds of CPU of {@link knownWork} on a machine of usual speed. */
const KNOWN_SECONDS = 0.05;

/** A faster machine gets no less time. */
function usual(seconds: number): number {
  const before = process.cpuUsage();
  knownWork();
  return seconds / Math.max(1, secondsSince(before) / KNOWN_SECONDS);
}

/** Numbers, maps and text, as in most work. */
function knownWork(): void {
  const counts = new Map<string, number>();
  for (let i = 0; i < 300_000; i++) counts.set(`k${i % 5_000}`, i);
  const text = JSON.stringify([...counts]);
  for (let i = 0; i < 20; i++) JSON.parse(text);
}

function secondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
