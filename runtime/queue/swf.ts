/**
 * The Standard Workload Format of the Parallel Workloads Archive, as the simulator reads it. Users and namespaces are numbers, so
 * that a trace can be given away.
 */
import type { TracedWorkload } from './trace';
import type { Result } from './workload';

const STATUS: Readonly<Record<Result, number>> = { Succeeded: 1, Failed: 0, TimedOut: 0, Cancelled: 5 };
const UNKNOWN = -1;

/** The cluster that a trace is of. */
export interface TracedMachine {
  readonly nodes: number;
  /** The whole cores of all nodes. */
  readonly cores: number;
}

/** @param workloads in the order of their submission */
export function* swfLines(workloads: readonly TracedWorkload[], machine: TracedMachine): Iterable<string> {
  const start = Math.floor(workloads[0]?.submittedAt ?? 0);
  const [users, namespaces, queues] = [new Numbers(), new Numbers(), new Numbers()];
  const jobs = workloads.map((workload, i) => [
    i + 1,
    Math.floor(workload.submittedAt - start),
    Math.max(0, Math.round(workload.startedAt - workload.submittedAt)),
    Math.max(0, Math.round(workload.finishedAt - workload.startedAt)),
    workload.cores,
    UNKNOWN,
    UNKNOWN,
    workload.cores,
    Math.ceil(workload.walltime),
    UNKNOWN,
    STATUS[workload.result],
    users.of(workload.user),
    namespaces.of(workload.namespace),
    UNKNOWN,
    queues.of(workload.queue),
    UNKNOWN,
    UNKNOWN,
    UNKNOWN,
  ]);
  yield '; Version: 2.2';
  yield `; UnixStartTime: ${start}`;
  yield `; MaxJobs: ${jobs.length}`;
  yield `; MaxNodes: ${machine.nodes}`;
  yield `; MaxProcs: ${machine.cores}`;
  for (const [queue, number] of queues.entries()) yield `; Queue: ${number} ${queue}`;
  for (const job of jobs) yield job.join(' ');
}

/** Numbers names in the order in which they come, from 1 on. */
class Numbers {
  private readonly known = new Map<string, number>();

  of(name: string): number {
    const known = this.known.get(name) ?? this.known.size + 1;
    this.known.set(name, known);
    return known;
  }

  entries(): Iterable<readonly [string, number]> {
    return this.known;
  }
}
