/** The rows of a large queue for the benchmarks. */
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { Queue } from '../../runtime/queue/store';
import type { Submission } from '../../runtime/queue/workload';
import type { Allocation } from '../../runtime/resources/types';

/** Of the term that is measured, whose matcher is embedded. */
export const UNITS = STACK_DEFAULTS.units;
/** Cores per node, each with one GiB of memory. */
export const CORES = 32;
/** Cores of a node that a running job holds. */
const HELD = 24;

/** The request of one workload. */
export interface Ask {
  readonly pods: number;
  /** Cores per pod, each with one GiB of memory. */
  readonly cores: number;
  /** Seconds. */
  readonly walltime: number;
}

/** Alternates wide and narrow requests; a node with a running job has 8 free cores. */
export function askOf(shape: number): Ask {
  const pods = [1, 64, 2, 128, 4, 1, 256, 8, 1, 16][shape % 10]!;
  return { pods, cores: 4 + ((shape * 7) % 29), walltime: 600 + 60 * (shape % 50) };
}

/** The request of a running job: most of one node. */
export const RUNNING: Ask = { pods: 1, cores: HELD, walltime: 7200 };

/** @param index of the workload, which also determines its user and submission time */
export function benchSubmission(index: number, { pods, cores, walltime }: Ask, startedAt = 0): Submission {
  const requests = { cpu: `${cores}`, memory: `${cores}Gi` };
  const pod = { containers: [{ resources: { requests } }] };
  const jobspec = jobspecOf({ pod, pods, walltime, units: UNITS });
  return {
    uid: `00000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`,
    kind: 'Job',
    namespace: `team-${index % 20}`,
    name: `simulation-${index}`,
    queue: 'default',
    priority: 0,
    submittedAt: startedAt + index / 1000,
    walltime,
    pods,
    jobspec,
    shape: shapeOf(jobspec),
    held: false,
    user: `user-${index % 100}`,
    after: [],
    preemptible: false,
  };
}

/** Fills the tables with `running` jobs, one per node, and `waiting` jobs of 10 shapes. */
export async function fillTables(queue: Queue, running: number, waiting: number): Promise<void> {
  const fence = await queue.acquireFence('bench');
  const now = Date.now() / 1000;
  const given = Array.from({ length: running + waiting }, (_, i) =>
    benchSubmission(i, i < running ? RUNNING : askOf(i % 10), now - 3600),
  );
  const rows = await queue.submit(fence, given);
  const grants = rows
    .slice(0, running)
    .map(({ uid, jobid }, i) => ({ uid, allocation: held(jobid, i, now) }));
  await queue.allocate(fence, grants);
  await queue.running(
    fence,
    grants.map(({ uid }) => ({ uid, startedAt: now })),
  );
}

function held(jobid: number, node: number, now: number): Allocation {
  const core = (HELD * 1000) / UNITS.cpuMillis;
  const memory = (HELD * 1024) / UNITS.memoryMiB;
  const units = { core: `0-${core - 1}`, memory: `0-${memory - 1}` };
  const start = Math.floor(now);
  return { jobid, start, end: start + RUNNING.walltime, nodes: [{ name: `node-${node}`, units }] };
}
