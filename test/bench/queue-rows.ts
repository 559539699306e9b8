/** A full machine and a long queue, as rows: what the queue's benches put into Postgres. */
import type { Allocation, GraphNode } from '../../runtime/fluxion/types';
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { Queue, Submission } from '../../runtime/queue/types';

/** Cores per node; a GiB of memory for each. */
const CORES = 32;
/** What a running job holds of its node. */
const HELD = 24;

export function machine(nodes: number): Map<string, GraphNode> {
  const names = Array.from({ length: nodes }, (_, i) => `node-${i}`);
  return new Map(names.map((name) => [name, { name, units: { core: CORES, memory: CORES } }]));
}

/** @param shape 0 to `shapes` - 1: wide and narrow ones in turn, none fits a node that is busy but the narrow */
function asked(shape: number): { readonly pods: number; readonly cores: number } {
  return { pods: [1, 64, 2, 128, 4, 1, 256, 8, 1, 16][shape % 10]!, cores: 4 + ((shape * 7) % 29) };
}

/** @param index of the workload, which also tells its shape, its user and when it came */
export function benchSubmission(index: number, shapes: number, startedAt: number): Submission {
  const shape = index % shapes;
  const { pods, cores } = asked(shape);
  const walltime = 600 + 60 * (shape % 50);
  const requests = { cpu: `${cores}`, memory: `${cores}Gi` };
  const jobspec = jobspecOf({ pod: { containers: [{ resources: { requests } }] }, pods, walltime });
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

/** Puts `running` one-node jobs that hold most of their nodes, and `waiting` others of 10 shapes behind them, into the tables. */
export async function fillTables(queue: Queue, running: number, waiting: number): Promise<void> {
  const fence = await queue.acquireFence('bench');
  const now = Date.now() / 1000;
  const count = running + waiting;
  const given = Array.from({ length: count }, (_, i) => benchSubmission(i, 10, now - 3600));
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
  const units = { core: `0-${HELD - 1}`, memory: `0-${HELD - 1}` };
  return {
    jobid,
    start: Math.floor(now),
    end: Math.floor(now) + 3600 + node,
    nodes: [{ name: `node-${node}`, units }],
  };
}
