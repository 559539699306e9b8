/** Preemption ends: within minRuntime, limit and priorities, and only for a start when the victims are gone. */
import type { QueuePolicy } from '../../../constructs/api/policies';
import type { WorkloadRow } from '../../../runtime/queue/workload';
import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import fc from '../../fast-check';
import { nodesOf, Simulation } from '../pass/simulation';
import { START } from './eviction-traces';
import { decidedAnew, isUnsettled } from './overlooked-evictions';
import { holdsNone, type Property } from './property';
import { beneficiaryOf } from './returned-quota';

const NODES = 3;
const CORES = 2;
const AVOIDS_SECONDS = 120;

const job = fc.record({
  priority: fc.integer({ min: 0, max: 3 }),
  pods: fc.integer({ min: 1, max: 3 }),
  cpu: fc.integer({ min: 1, max: 2 }),
  runs: fc.integer({ min: 50, max: 600 }),
  kind: fc.constantFrom('Job', 'Job', 'Job', 'Pod'),
  isEndless: fc.constantFrom(false, false, false, true),
  /** A node on which its pods did not run a moment ago. */
  avoided: fc.constantFrom(null, null, null, 'n0'),
  preemptible: fc.boolean(),
  gap: fc.integer({ min: 0, max: 60 }),
});

/** A pod of a DaemonSet: while it runs, its node has one core less, also under the workloads that hold it. */
const agent = fc.record({
  node: fc.integer({ min: 0, max: NODES - 1 }),
  after: fc.integer({ min: 1, max: 400 }),
  runs: fc.integer({ min: 1, max: 400 }),
});

const jobsUpTo = (maxLength: number) =>
  fc.record({
    jobs: fc.array(job, { minLength: 2, maxLength, size: 'max' }),
    policy: fc.constantFrom<QueuePolicy>('fcfs', 'easy', 'hybrid', 'conservative'),
    preemption: fc.record({
      minRuntimeSeconds: fc.constantFrom(0, 0, 30),
      limit: fc.constantFrom(1, 2, 1_000),
    }),
    agents: fc.array(agent, { maxLength: 2 }),
  });

type Given = ReturnType<typeof jobsUpTo> extends fc.Arbitrary<infer T> ? T : never;

let evictions = 0;

async function checkPreemption(given: Given): Promise<void> {
  const { jobs, policy, preemption, agents } = given;
  const sim = await Simulation.of(nodesOf(NODES, CORES), { policy });
  sim.queue('default', { policy, preempts: true, preemption });
  let at = sim.now;
  const arrivals = jobs.map(({ gap, isEndless, avoided, ...options }, i) => {
    at += gap;
    const submit = () => {
      sim.submit(`j${i}`, { ...options, walltime: isEndless ? ENDLESS_SECONDS : options.runs });
      if (avoided !== null) sim.change(`j${i}`, { avoid: { [avoided]: sim.now + AVOIDS_SECONDS } });
    };
    return { at, submit };
  });
  await sim.run([...arrivals, ...changesBy(agents, sim)], async () => {
    const evicted = [...sim.rows.values()].filter(({ evictionReason }) => evictionReason !== null);
    evictions += evicted.length;
    holdsNone(evicted.flatMap((row) => violations(sim, given, row)));
    if (sim.isSettled && evicted.length === 0) holdsNone(await overlooked(sim));
    for (const { uid } of evicted) await sim.requeue(uid);
  });
  const waiting = [...sim.rows.values()].filter(({ phase }) => phase !== 'Finished');
  holdsNone([...sim.doubleGrants(), ...waiting.map(({ uid }) => `${uid} never ended`)]);
}

/** What a leader would decide that remembers nothing but the promises, for those that have none. */
async function overlooked(sim: Simulation): Promise<string[]> {
  const { grants, evictions } = await decidedAnew(sim, [...sim.rows.values()], sim.reservations);
  const promised = new Set(sim.reservations.map(({ uid }) => uid));
  const mayWait = isUnsettled(sim);
  return [
    ...grants.map(({ uid }) => `at ${sim.now}: ${uid} waits, and would start`),
    ...evictions
      .filter((eviction) => !mayWait && !promised.has(beneficiaryOf(eviction)))
      .map(({ uid, message }) => `at ${sim.now}: ${uid} is not ${message}`),
  ];
}

/** When each of them starts and ends, the nodes change. */
function changesBy(agents: Given['agents'], sim: Simulation) {
  const runsNow = ({ after, runs }: Given['agents'][number]) =>
    START + after <= sim.now && sim.now < START + after + runs;
  const nodes = () => {
    const taken = agents.filter(runsNow).map(({ node }) => `n${node}`);
    return nodesOf(NODES, CORES).map(({ name }) => {
      const core = CORES - taken.filter((one) => one === name).length;
      return { name, units: { core } };
    });
  };
  return agents
    .flatMap(({ after, runs }) => [after, after + runs])
    .map((after) => ({ at: START + after, submit: () => sim.rebuild(nodes()) }));
}

function violations(sim: Simulation, { policy, preemption }: Given, row: WorkloadRow): string[] {
  const [, name] = row.evictionReason!.match(/science\/(j[0-9]+)/)!;
  const preemptor = sim.row(name!);
  const promised = sim.reservations.find(({ uid }) => uid === name)?.allocation.start ?? Infinity;
  const ran = sim.now - row.startedAt!;
  const checks: readonly (readonly [boolean, string])[] = [
    [row.preemptible, 'is not preemptible'],
    [
      preemptor.priority > row.priority,
      `has priority ${row.priority}, and ${name} has ${preemptor.priority}`,
    ],
    [ran >= preemption.minRuntimeSeconds, `ran only ${ran} s`],
    [row.preemptions < preemption.limit, `was preempted ${row.preemptions} times before`],
    [policy === 'fcfs' || promised <= sim.now + 45, `leaves for ${name}, which starts at ${promised}`],
  ];
  return checks.filter(([isMet]) => !isMet).map(([, text]) => `${row.uid} ${text}`);
}

const over = (given: fc.Arbitrary<Given>) => ({
  property: fc.asyncProperty(given, checkPreemption) as fc.IRawProperty<unknown>,
});

const NAME = 'preemption: it ends, within minRuntime, limit and priorities, and each helps';

export const PREEMPTION_PROPERTIES: readonly Property[] = [
  { name: NAME, runs: 1_200, check: over(jobsUpTo(7)), met: () => ({ evictions }) },
  { name: `${NAME}; long traces`, runs: 50, check: over(jobsUpTo(25)), met: () => ({ evictions }) },
];
