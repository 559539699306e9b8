/**
 * Compares the first planned start of each job with its start, on three made traces of 400 jobs and 16 nodes of 4 cores:
 *
 *   npm run -s bench:plans
 */
import type { QueuePolicy } from '../../constructs/api/policies';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { planStarts } from '../../runtime/scheduler/forward-plan';
import { parseSwf } from '../../runtime/simulation/swf';
import { queueSettings } from '../scheduler/pass/settings';
import { nodesOf, Simulation } from '../scheduler/pass/simulation';
import { swfTrace } from '../simulation/trace';
import { median } from './statistics';

const NODES = 16;
const CORES = 4;
/** Seconds of the simulated clock between two plans. */
const INTERVAL = 60;

interface Outcome {
  readonly planned: number;
  readonly started: number;
}

/** The plan of the cluster as it is between two passes. */
function planOf(sim: Simulation) {
  const rows = [...sim.rows.values()];
  const inLine = (a: WorkloadRow, b: WorkloadRow) => a.submittedAt - b.submittedAt || a.seq - b.seq;
  return planStarts({
    now: sim.now,
    nodes: new Map(sim.nodes.map((node) => [node.name, node])),
    unmanaged: new Map(),
    match: 'lonode',
    queues: [queueSettings({ policy: sim.policy, depth: sim.depth })],
    holders: rows.filter(({ allocation }) => allocation !== null),
    line: rows.filter(({ phase }) => phase === 'Waiting').sort(inLine),
    reservations: sim.reservations,
    isOver: () => false,
    rest: () => undefined,
  });
}

async function outcomesOf(policy: QueuePolicy, exact: boolean, seed: number): Promise<readonly Outcome[]> {
  // A fcfs queue of a higher load only grows.
  const load = policy === 'fcfs' ? 0.6 : 0.9;
  const { jobs } = parseSwf(swfTrace({ jobs: 400, cores: NODES * CORES, load, exact, seed }), 'made');
  const sim = await Simulation.of(nodesOf(NODES, CORES), { policy, depth: 10_000 });
  const first = new Map<string, number>();
  let next = sim.now;
  const origin = sim.now;
  const arrivals = jobs.map(({ number, submittedAt, processors, walltime, runtime }) => ({
    at: origin + submittedAt,
    submit: () => void sim.submit(`${number}`, { pods: processors, walltime, runs: runtime }),
  }));
  await sim.run(arrivals, async () => {
    if (sim.now < next) return;
    next = sim.now + INTERVAL;
    for (const [uid, start] of (await planOf(sim)) ?? []) if (!first.has(uid)) first.set(uid, start);
  });
  return [...first].map(([uid, planned]) => ({ planned, started: sim.startOf(uid) }));
}

async function main(): Promise<void> {
  for (const policy of ['fcfs', 'easy', 'hybrid'] as const)
    for (const exact of [true, false]) {
      const runs = await Promise.all([1, 2, 3].map((seed) => outcomesOf(policy, exact, seed)));
      const outcomes = runs.flat();
      const errors = outcomes.map(({ planned, started }) => Math.abs(started - planned));
      const later = outcomes.filter(({ planned, started }) => started > planned + 60).length;
      process.stdout.write(
        `${policy}, ${exact ? 'exact' : 'overstated'} walltimes: ${outcomes.length} planned, error ${Math.round(median(errors))} s in the median, ${Math.round((100 * later) / outcomes.length)} % started later\n`,
      );
    }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
