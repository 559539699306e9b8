/** Short constructors of jobspecs. */
import type { Constraint, Jobspec, JobspecResource } from '../../runtime/jobspec/types';

export interface JobOptions {
  /** Walltime in seconds. @default 100 */
  readonly walltime?: number;
  readonly constraints?: Constraint;
}

/** `count` cores in one slot on any node. */
export function cores(count: number, options: JobOptions = {}): Jobspec {
  return jobspec([slot(1, [{ type: 'core', count }])], options);
}

/** One slot of these units on any node. */
export function units(counts: Readonly<Record<string, number>>, options: JobOptions = {}): Jobspec {
  const inside = Object.entries(counts).map(([type, count]) => ({ type, count }));
  return jobspec([slot(1, inside)], options);
}

/** `count` nodes with `perNode` cores each, shared with other jobs. */
export function nodes(count: number, perNode: number, options: JobOptions = {}): Jobspec {
  return jobspec([{ type: 'node', count, with: [slot(1, [{ type: 'core', count: perNode }])] }], options);
}

/** `count` exclusive nodes. */
export function wholeNodes(count: number, options: JobOptions = {}): Jobspec {
  return jobspec([slot(count, [{ type: 'node', count: 1 }])], options);
}

/** One zone or rack as a whole. */
export function wholeLevel(type: 'zone' | 'rack', options: JobOptions = {}): Jobspec {
  return jobspec([slot(1, [{ type, count: 1 }])], options);
}

function slot(count: number, inside: readonly JobspecResource[]): JobspecResource {
  return { type: 'slot', count, label: 'task', with: inside };
}

function jobspec(
  resources: readonly JobspecResource[],
  { walltime = 100, constraints }: JobOptions,
): Jobspec {
  return {
    version: 9999,
    resources,
    tasks: [{ command: ['app'], slot: 'task', count: { per_slot: 1 } }],
    attributes: { system: { duration: walltime, ...(constraints === undefined ? {} : { constraints }) } },
  };
}
