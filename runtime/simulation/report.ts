/** The results of a simulation as text and as JSON. */
import type { Result } from './results';
import { COLUMNS, QUEUE_COLUMNS, queueResults, table } from './table';

/** One is an object, several are a list. */
export function jsonOf(results: readonly Result[]): string {
  const [first] = results;
  if (results.length === 1) return JSON.stringify({ ...first!.statistics, queues: first!.queues });
  return JSON.stringify(
    results.map(({ variant: { policy, reservations, nodes, sharing }, statistics, queues }) => ({
      policy,
      ...(reservations !== undefined && { reservations }),
      nodes,
      ...(sharing.weights && { weights: Object.fromEntries(sharing.weights) }),
      ...statistics,
      queues,
    })),
  );
}

/** One is a summary, several are a table; where there is more to tell of queues, a table of them follows. */
export function textOf(results: readonly Result[]): string {
  const [first] = results;
  const queues = queueResults(results);
  return [
    results.length === 1 ? summary(first!) : table(COLUMNS, results),
    ...(queues.length === 0 ? [] : ['', table(QUEUE_COLUMNS, queues)]),
  ].join('\n');
}

function summary({ variant: { policy, nodes, coresPerNode }, statistics: s }: Result): string {
  return [
    `${s.jobs} jobs on ${nodes} nodes of ${coresPerNode} cores, policy ${policy}`,
    `  wait                  mean ${seconds(s.meanWait)}, median ${seconds(s.medianWait)}, 90 % at most ${seconds(s.waitP90)}, longest ${seconds(s.maxWait)}`,
    `  wait of wide jobs     mean ${seconds(s.wideMeanWait)}, longest ${seconds(s.wideMaxWait)} (a quarter of the machine and more)`,
    `  bounded slowdown      mean ${s.meanBoundedSlowdown.toFixed(2)}`,
    `  utilisation           ${(s.utilisation * 100).toFixed(1)} %`,
    `  delayed reservations  ${s.delayedReservations}`,
    `  estimates             for ${(s.estimated * 100).toFixed(1)} % of the jobs, mean error ${seconds(s.meanEstimateError)}, half at most ${seconds(s.estimateErrorP50)}, 90 % at most ${seconds(s.estimateErrorP90)}`,
  ].join('\n');
}

function seconds(value: number): string {
  return `${Math.round(value)} s`;
}
