/** Rows and snapshots for the pictures of the demo. */
import type { ShownJob, Snapshot } from '../../examples/demo/snapshot';
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import { newRow } from '../../runtime/queue/rows';
import type { WorkloadRow } from '../../runtime/queue/workload';

/** 16:00:00 UTC */
export const T = 1_764_000_000;

/** A row that waits, unless `over` says more. @param seq also makes its time of submission */
export function row(name: string, seq: number, over: Partial<WorkloadRow> = {}): WorkloadRow {
  const pod = { containers: [{ resources: { requests: { cpu: 1 } } }] };
  const jobspec = jobspecOf({ pod, pods: 1, walltime: 10 });
  const submission = {
    uid: `uid-${name}`,
    kind: 'Job',
    namespace: 'demo',
    name,
    queue: 'default',
    priority: 0,
    submittedAt: T + seq,
    walltime: 10,
    pods: 1,
    jobspec,
    shape: shapeOf(jobspec),
    held: false,
    user: 'ada',
    after: [],
    preemptible: false,
  };
  return { ...newRow(submission, seq), ...over };
}

/** What a row has that runs on these cores of a node. */
export function runs(node: string, core: string, start: number, walltime = 10): Partial<WorkloadRow> {
  const allocation = { jobid: 1, start, end: start + walltime, nodes: [{ name: node, units: { core } }] };
  return { phase: 'Running', allocation, allocatedAt: start, releasedAt: start, startedAt: start };
}

export function job(name: string, over: Partial<ShownJob> = {}): ShownJob {
  return { name, phase: 'Waiting', nodes: [], why: '', ...over };
}

export function snapshot(jobs: readonly ShownJob[], over: Partial<Snapshot> = {}): Snapshot {
  return { now: T, nodes: [{ name: 'node-0', cores: 4 }], jobs, story: [], ...over };
}
