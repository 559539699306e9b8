/** What a replay gave to each queue. Times are in seconds. */
import { mean, quantile, type SimulatedJob, waitOf } from './statistics';

export interface QueuedJob extends SimulatedJob {
  readonly queue: string;
  readonly user: string;
}

export interface QueueStatistics {
  readonly queue: string;
  /** Its weight in fair share. @default - fair share is off */
  readonly weight?: number;
  readonly jobs: number;
  readonly users: number;
  readonly meanWait: number;
  readonly medianWait: number;
  readonly waitP90: number;
  /** The median wait of the user for whom it is the longest. */
  readonly longestMedianOfUser: number;
  /** Its part of the core-hours that were used while jobs of several queues waited; 0 if they never did. */
  readonly contendedShare: number;
}

/**
 * @param weights weights of queues; a queue without one has the weight 1
 * @returns the queues by name
 */
export function queueStatisticsOf(
  jobs: readonly QueuedJob[],
  weights?: ReadonlyMap<string, number>,
): readonly QueueStatistics[] {
  const queues = Map.groupBy(jobs, ({ queue }) => queue);
  const contended = contendedUse(jobs);
  const all = [...contended.values()].reduce((sum, used) => sum + used, 0);
  return [...queues.keys()].sort(byName).map((queue) => {
    const own = queues.get(queue)!;
    const users = [...Map.groupBy(own, ({ user }) => user).values()];
    return {
      queue,
      ...(weights !== undefined && { weight: weights.get(queue) ?? 1 }),
      jobs: own.length,
      users: users.length,
      meanWait: mean(own, waitOf),
      medianWait: quantile(own, waitOf, 0.5),
      waitP90: quantile(own, waitOf, 0.9),
      longestMedianOfUser: users.reduce((most, each) => Math.max(most, quantile(each, waitOf, 0.5)), 0),
      contendedShare: all === 0 ? 0 : (contended.get(queue) ?? 0) / all,
    };
  });
}

/** Numbers by their value. */
function byName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Core-seconds by queue, of the times at which jobs of at least two queues waited. */
function contendedUse(jobs: readonly QueuedJob[]): ReadonlyMap<string, number> {
  const changes = jobs.flatMap(({ queue, submittedAt, startedAt, endedAt, processors }) => [
    { at: submittedAt, queue, waiting: 1, cores: 0 },
    { at: startedAt, queue, waiting: -1, cores: processors },
    { at: endedAt, queue, waiting: 0, cores: -processors },
  ]);
  changes.sort((a, b) => a.at - b.at);
  const [waiting, cores, used] = [new Counts(), new Counts(), new Counts()];
  let since = 0;
  for (const { at, queue, ...change } of changes) {
    if (waiting.positive > 1) for (const [name, count] of cores) used.add(name, count * (at - since));
    since = at;
    waiting.add(queue, change.waiting);
    cores.add(queue, change.cores);
  }
  return new Map(used);
}

/** Numbers by name. */
class Counts implements Iterable<readonly [string, number]> {
  private readonly counts = new Map<string, number>();
  /** How many of them are above 0. */
  positive = 0;

  add(name: string, by: number): void {
    const before = this.counts.get(name) ?? 0;
    this.counts.set(name, before + by);
    this.positive += Number(before + by > 0) - Number(before > 0);
  }

  [Symbol.iterator](): Iterator<readonly [string, number]> {
    return this.counts[Symbol.iterator]();
  }
}
