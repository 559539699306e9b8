/**
 * Compares what users are told of starts with the starts, on three made traces of 400 jobs and 16 nodes of 4 cores for each policy: the first
 * promise or plan of each job, and the likely start that stood beside it.
 *
 *   npm run -s bench:plans
 */
import type { QueuePolicy } from '../../constructs/api/policies';
import { runtimesBy } from '../../runtime/queue/usual-runtimes';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { type PlanInput, planStarts } from '../../runtime/scheduler/queue-plan';
import { parseSwf } from '../../runtime/simulation/swf';
import { usualPartsOf } from '../fuzz/queue-model-rows';
import { queueSettings } from '../scheduler/pass/settings';
import { nodesOf, Simulation } from '../scheduler/pass/simulation';
import { swfTrace, type TraceOptions } from '../simulation/trace';
import { quantile } from './statistics';

const NODES = 16;
const CORES = 4;
/** Seconds of the simulated clock between two plans. */
const INTERVAL = 60;

const WALLTIMES: Readonly<Record<string, Partial<TraceOptions>>> = {
  'exact walltimes': { exact: true },
  'overstated walltimes': {},
  'overstated walltimes, users with habits': { habits: true },
};

interface Told {
  readonly by: 'promised' | 'planned';
  readonly start: number;
  readonly likely: number;
}

interface Outcome extends Told {
  readonly started: number;
}

function planInput(sim: Simulation): PlanInput {
  const rows = [...sim.rows.values()];
  const inLine = (a: WorkloadRow, b: WorkloadRow) => a.submittedAt - b.submittedAt || a.seq - b.seq;
  return {
    now: sim.now,
    nodes: new Map(sim.nodes.map((node) => [node.name, node])),
    unmanaged: new Map(),
    match: 'lonode',
    queues: [queueSettings({ policy: sim.policy, depth: sim.depth })],
    holders: rows.filter(({ phase, allocation }) => phase !== 'Finished' && allocation !== null),
    line: rows.filter(({ phase }) => phase === 'Waiting').sort(inLine),
    reservations: sim.reservations,
    isOver: () => false,
    rest: () => undefined,
  };
}

/** What would be told of the cluster as it is between two passes. */
async function toldOf(sim: Simulation): Promise<ReadonlyMap<string, Told>> {
  const input = planInput(sim);
  const planned = (await planStarts(input)) ?? new Map<string, number>();
  const runtimeOf = runtimesBy(usualPartsOf([...sim.rows.values()]));
  const likely = (runtimeOf && (await planStarts({ ...input, runtimeOf }))) ?? new Map<string, number>();
  const told = input.line.flatMap(({ uid, estimatedStart }) => {
    const start = estimatedStart ?? planned.get(uid);
    if (start === undefined) return [];
    const by = estimatedStart === null ? ('planned' as const) : ('promised' as const);
    return [[uid, { by, start, likely: Math.min(start, likely.get(uid) ?? start) }] as const];
  });
  return new Map(told);
}

async function outcomesOf(policy: QueuePolicy, options: Partial<TraceOptions>): Promise<readonly Outcome[]> {
  // A fcfs queue of a higher load only grows.
  const load = policy === 'fcfs' ? 0.6 : 0.9;
  const { jobs } = parseSwf(swfTrace({ jobs: 400, cores: NODES * CORES, load, ...options }), 'made');
  const sim = await Simulation.of(nodesOf(NODES, CORES), { policy, depth: 10_000 });
  const first = new Map<string, Told>();
  let next = sim.now;
  const origin = sim.now;
  const arrivals = jobs.map(({ number, submittedAt, processors, walltime, runtime, user }) => ({
    at: origin + submittedAt,
    submit: () => void sim.submit(`${number}`, { pods: processors, walltime, runs: runtime, user }),
  }));
  await sim.run(arrivals, async () => {
    if (sim.now < next) return;
    next = sim.now + INTERVAL;
    for (const [uid, told] of await toldOf(sim)) if (!first.has(uid)) first.set(uid, told);
  });
  return [...first].map(([uid, told]) => ({ ...told, started: sim.startOf(uid) }));
}

/** The error in seconds, and how many started more than a minute later. */
function errorText(outcomes: readonly Outcome[], of: 'start' | 'likely'): string {
  const errors = outcomes.map((outcome) => Math.abs(outcome.started - outcome[of]));
  const later = outcomes.filter((outcome) => outcome.started > outcome[of] + 60).length;
  const [p50, p90] = [0.5, 0.9].map((q) => Math.round(quantile(errors, q)));
  return `p50 ${p50} s, p90 ${p90} s, ${Math.round((100 * later) / outcomes.length)} % later`;
}

async function main(): Promise<void> {
  for (const policy of ['fcfs', 'easy', 'hybrid', 'conservative'] as const)
    for (const [walltimes, options] of Object.entries(WALLTIMES)) {
      const runs = await Promise.all([1, 2, 3].map((seed) => outcomesOf(policy, { ...options, seed })));
      for (const by of ['promised', 'planned'] as const) {
        const outcomes = runs.flat().filter((outcome) => outcome.by === by);
        if (outcomes.length === 0) continue;
        const [told, likely] = [errorText(outcomes, 'start'), errorText(outcomes, 'likely')];
        process.stdout.write(
          `${policy}, ${walltimes}: ${outcomes.length} ${by}: ${told}; likely: ${likely}\n`,
        );
      }
    }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
