/**
 * An array that never fits the cluster whole asks for as many pods as the empty cluster holds, with the nodes that are
 * down: its other pods start as these end. Only the pass knows it so: its row goes on asking for all pods, and gets more once
 * the cluster has grown. A gang asks for all or nothing.
 */
import { podsOn } from '../../jobspec/capacity';
import { askOf } from '../../jobspec/jobspec';
import type { Jobspec } from '../../jobspec/types';
import type { WorkloadRow } from '../../queue/workload';
import type { GraphNode } from '../../resources/types';
import type { Pass } from './state';

/**
 * Pods that may wait gated for those that run. Kubernetes creates all pods of a Job that has started, and each costs the apiserver
 * and everybody who watches pods, so an array with more of them stays unsatisfiable until its user lowers its parallelism.
 */
const MOST_GATED = 1_000;

/** By node list, which is another one after each change: what each jobspec asks for there. */
const narrowed = new WeakMap<readonly GraphNode[], WeakMap<Jobspec, Jobspec>>();

/** The rows as they can be placed, in the same order. */
export async function withinCluster(
  pass: Pass,
  rows: readonly WorkloadRow[],
): Promise<readonly WorkloadRow[]> {
  const { nodes } = pass.input;
  if (nodes === undefined || !rows.some(isArray)) return rows;
  const known = narrowed.get(nodes) ?? new WeakMap<Jobspec, Jobspec>();
  narrowed.set(nodes, known);
  const placeable: WorkloadRow[] = [];
  for (const row of rows) {
    if (!isArray(row)) {
      placeable.push(row);
      continue;
    }
    const jobspec = known.get(row.jobspec) ?? (await narrow(pass, row));
    known.set(row.jobspec, jobspec);
    placeable.push(jobspec === row.jobspec ? row : narrowedTo(row, jobspec));
  }
  return placeable;
}

/** With a shape of its own: what is known of the whole row is not true of a part. */
function narrowedTo(row: WorkloadRow, jobspec: Jobspec): WorkloadRow {
  const { pods } = askOf(jobspec);
  return { ...row, jobspec, pods, shape: `${row.shape}/${pods}` };
}

/** True of few rows, and every pass looks at all that wait. */
function isArray({ jobspec }: WorkloadRow): boolean {
  return jobspec.attributes.user?.array === true;
}

/** An array of which no pod fits stays as it is: its message counts all of them. */
async function narrow(pass: Pass, { jobspec }: WorkloadRow): Promise<Jobspec> {
  const width = await widthOf(pass, jobspec);
  const [top, ...others] = jobspec.resources;
  const { pods } = askOf(jobspec);
  if (width < 1 || width >= pods || pods - width > MOST_GATED) return jobspec;
  return { ...jobspec, resources: [{ ...top!, count: width }, ...others] };
}

/** How many of the pods the empty cluster holds at once. */
async function widthOf({ cluster, rules }: Pass, jobspec: Jobspec): Promise<number> {
  const ask = askOf(jobspec);
  let width = 0;
  for (const { units, count } of cluster.classesFor(jobspec)) width += count * podsOn(units, ask);
  return rules === undefined ? width : Math.min(width, await rules.widthOf(jobspec, width));
}
