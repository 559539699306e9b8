/** Random traces for the simulated cluster. */

import type { QueuePolicy } from '../../../constructs/api/policies';
import type { Fluxion } from '../../../runtime/fluxion/types';
import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import fc from '../../fast-check';
import type { JobOptions } from './job-options';
import { nodesOf, Simulation } from './simulation';

/** A service runs in the simulation until somebody deletes it, but it is planned without an end. */
export interface Arrival extends JobOptions {
  readonly gap: number;
}

const NODES = 4;
const CORES = 4;

/** Workloads that fit the cluster, most of them narrow and short. */
const arrival = fc.record({
  gap: fc.integer({ min: 0, max: 40 }),
  pods: fc.integer({ min: 1, max: NODES }),
  cpu: fc.integer({ min: 1, max: CORES }),
  exclusive: fc.boolean(),
  walltime: fc.integer({ min: 1, max: 120 }),
  part: fc.double({ min: 0.05, max: 1, noNaN: true }),
  /** Cores of a driver: then the other pods are its workers. */
  driver: fc.option(fc.integer({ min: 1, max: CORES }), { freq: 2 }),
});

/** A gang of two pod sets, with no more pods than there are nodes: it fits in whatever way it is placed. */
function setsOf(pods: number, cpu: number, driver: number | null): Pick<JobOptions, 'sets'> {
  if (driver === null || pods === 1) return {};
  return {
    sets: [
      { name: 'driver', pods: 1, cpu: driver },
      { name: 'worker', pods: pods - 1, cpu },
    ],
  };
}

/** @param longest the longest runtime as a fraction of the walltime; above 1 workloads overrun */
const traces = (longest: number) =>
  fc.array(arrival, { minLength: 1, maxLength: 30 }).map((jobs) =>
    jobs.map(({ part, driver, ...job }) => ({
      ...job,
      ...setsOf(job.pods, job.cpu, driver),
      runs: Math.max(1, Math.round(job.walltime * part * longest)),
    })),
  );
export const trace = traces(1);
/** A tenth of the workloads are services, and the others run up to six times as long as they may. */
export const messyTrace = fc
  .tuple(traces(6), fc.infiniteStream(fc.nat(9)))
  .map(([jobs, dice]) =>
    jobs.map((job) =>
      dice.next().value === 0
        ? { ...job, sets: undefined, kind: 'Pod', pods: 1, walltime: ENDLESS_SECONDS, runs: 300 }
        : job,
    ),
  );

/** Runs a trace on four nodes of four cores until everything has ended. @param fluxion @default - the embedded matcher */
export async function play(
  jobs: readonly Arrival[],
  policy: QueuePolicy,
  match: 'first' | 'lonode' = 'lonode',
  afterPass?: (sim: Simulation) => Promise<void>,
  fluxion?: Fluxion,
): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(NODES, CORES), { policy, match, fluxion });
  let at = sim.now;
  const arrivals = jobs.map(({ gap, ...job }, i) => {
    at += gap;
    return { at, submit: () => void sim.submit(`j${i}`, job) };
  });
  await sim.run(arrivals, () => afterPass?.(sim) ?? Promise.resolve());
  return sim;
}
