/**
 * An array that never fits the cluster whole asks for as many pods as the empty cluster holds, with the nodes that are
 * down: its other pods start as these end. Nobody knows when services and pods outside the queue end, so it asks for what fits
 * beside these. Only the pass knows it so: its row goes on asking for all pods, and gets more once
 * the cluster has grown. A gang asks for all or nothing.
 */
import { podsOn } from '../../jobspec/capacity';
import { askOf, isArray } from '../../jobspec/jobspec';
import type { Jobspec } from '../../jobspec/types';
import type { WorkloadRow } from '../../queue/workload';
import type { Pass } from './state';

/**
 * Pods that may wait gated for those that run. Kubernetes creates all pods of a Job that has started, and each costs the apiserver
 * and everybody who watches pods, so an array with more of them stays unsatisfiable until its user lowers its parallelism.
 */
const MOST_GATED = 1_000;

/** By node list, which is another one after each change: what each jobspec asks for there. */
const partsOn = new WeakMap<object, WeakMap<Jobspec, Jobspec>>();

function partsBy(key: object): WeakMap<Jobspec, Jobspec> {
  const known = partsOn.get(key) ?? new WeakMap<Jobspec, Jobspec>();
  partsOn.set(key, known);
  return known;
}

/** The rows as they can be placed, in the same order; those that are not reached before an interruption as they are. */
export async function withinCluster(
  pass: Pass,
  rows: readonly WorkloadRow[],
): Promise<readonly WorkloadRow[]> {
  const { nodes, interrupted, rest } = pass.input;
  if (nodes === undefined || !rows.some(({ jobspec }) => isArray(jobspec))) return rows;
  const placeable: WorkloadRow[] = [];
  for (const row of rows) {
    const { jobspec } = row;
    let part = mustPlan(jobspec) ? partsBy(nodes).get(jobspec) : countedPart(pass, jobspec);
    if (part === undefined) {
      pass.interrupted ||= interrupted?.() === true;
      if (pass.interrupted) return [...placeable, ...rows.slice(placeable.length)];
      part = await plannedPart(pass, nodes, jobspec);
      await rest?.();
    }
    placeable.push(part === jobspec ? row : narrowedTo(row, part));
  }
  return placeable;
}

/**
 * Of arrays that never fit whole, the part that fits beside what is endless. One that fits the empty cluster waits, and what would
 * not fit the nodes that are up without that either waits for those that are down.
 * @param rows in order: only so many shapes are counted in one pass
 */
export function besideEndless(pass: Pass, rows: readonly WorkloadRow[]): readonly WorkloadRow[] {
  const { cluster, endlessUsage, input } = pass;
  if (input.nodes === undefined) return rows;
  const parts = partsBy(endlessUsage);
  return rows.map((row) => {
    const { jobspec } = row;
    if (!allPods.has(jobspec) || !cluster.fitsUp(jobspec)) return row;
    const room = endlessUsage.roomFor(row);
    if (room === undefined) return row;
    const part = parts.get(jobspec) ?? partOf(jobspec, room);
    parts.set(jobspec, part);
    return part === jobspec ? row : narrowedTo(row, part);
  });
}

/**
 * What counting the nodes tells that a row with this jobspec asks for. All of its pods, if it is no array, or has placement
 * rules: what these allow cannot be counted.
 */
export function countedPart(pass: Pass, jobspec: Jobspec): Jobspec {
  const { nodes } = pass.input;
  if (nodes === undefined || !isArray(jobspec) || mustPlan(jobspec)) return jobspec;
  const parts = partsBy(nodes);
  const part = parts.get(jobspec) ?? partOf(jobspec, countedWidth(pass, jobspec));
  parts.set(jobspec, part);
  return part;
}

/** A plan looks at all nodes for each pod. */
async function plannedPart(pass: Pass, nodes: object, jobspec: Jobspec): Promise<Jobspec> {
  const counted = countedWidth(pass, jobspec);
  const width = (await pass.rules?.widthOf(jobspec, counted)) ?? counted;
  const part = partOf(jobspec, Math.min(width, counted));
  partsBy(nodes).set(jobspec, part);
  return part;
}

/** With a shape of its own: what is known of the whole row is not true of a part. */
function narrowedTo(row: WorkloadRow, jobspec: Jobspec): WorkloadRow {
  const { pods } = askOf(jobspec);
  return { ...row, jobspec, pods, shape: `${row.shape}/${pods}` };
}

function mustPlan(jobspec: Jobspec): boolean {
  return isArray(jobspec) && jobspec.attributes.user?.placement !== undefined;
}

/** Of a part: how many pods the whole array has. */
const allPods = new WeakMap<Jobspec, number>();

/** An array of which no pod fits stays as it is: its message counts all of them. */
function partOf(jobspec: Jobspec, width: number): Jobspec {
  const [top, ...others] = jobspec.resources;
  const { pods } = askOf(jobspec);
  const all = allPods.get(jobspec) ?? pods;
  if (width < 1 || width >= pods || all - width > MOST_GATED) return jobspec;
  const part = { ...jobspec, resources: [{ ...top!, count: width }, ...others] };
  allPods.set(part, all);
  return part;
}

/** How many of the pods the empty cluster holds at once by their units, and by the pods that each node takes. */
function countedWidth({ cluster, rules }: Pass, jobspec: Jobspec): number {
  const ask = askOf(jobspec);
  let width = 0;
  for (const { units, count } of cluster.classesFor(jobspec)) width += count * podsOn(units, ask);
  return Math.min(width, rules?.podRoom(jobspec) ?? Infinity);
}
