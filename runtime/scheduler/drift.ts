/** How Fluxion differs from the rows and nodes that it was made equal to. */
import type { FluxionState } from '../fluxion/types';
import type { LeaderView } from '../queue/leader-view';
import type { WorkloadRow } from '../queue/workload';
import type { Allocation, GraphNode } from '../resources/types';
import { type MovedJobs, onlyPresent } from './fit-allocations';
import { isUp } from './graph-diff';
import type { Reservation } from './pass/reservations';
import { isUnmanagedJob } from './unmanaged-usage';
import { type Difference, differences } from './verification';

interface Wanted {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly holders: readonly WorkloadRow[];
  /** What some of them hold instead of what they were granted. */
  readonly moved: MovedJobs;
  readonly reservations: readonly Reservation[];
}

/**
 * The jobs that hold other units than their rows and reservations say.
 * @param isCurrent false for a row that has changed since: nothing can be said about it
 */
export function jobDifferences(
  jobs: readonly Allocation[],
  { nodes, holders, moved, reservations }: Wanted,
  isCurrent: (holder: WorkloadRow) => boolean,
): Iterable<Difference> {
  const held = new Map(
    jobs.filter(({ jobid }) => !isUnmanagedJob(jobid)).map((job) => [job.jobid, job] as const),
  );
  const expected = new Map(reservations.map(({ jobid, allocation }) => [jobid, allocation] as const));
  for (const holder of holders) {
    const { jobid, allocation } = holder;
    if (!isCurrent(holder)) held.delete(jobid);
    else expected.set(jobid, moved.get(jobid) ?? onlyPresent(allocation!, nodes));
  }
  return differences(held, expected);
}

/** Nodes that the graph lacks or has too many, and those that are up in one and down in the other. */
export function* nodeDifferences(
  held: FluxionState['nodes'],
  wanted: ReadonlyMap<string, GraphNode>,
): Iterable<Difference> {
  const known = new Map(held.map((node) => [node.name, node]));
  for (const [name, node] of wanted) {
    const has = known.get(name);
    if (has === undefined) yield { text: 'Fluxion does not have the node', nodes: [name] };
    else if (has.up !== isUp(node))
      yield { text: `the node is ${upText(isUp(node))}, and ${upText(has.up)} in Fluxion`, nodes: [name] };
  }
  for (const name of known.keys())
    if (!wanted.has(name)) yield { text: 'Fluxion has the node, and the cluster does not', nodes: [name] };
}

/** Node -> texts. */
export function driftOf(found: readonly Difference[]): Readonly<Record<string, readonly string[]>> {
  const drift: Record<string, string[]> = {};
  for (const { text, nodes } of found)
    for (const name of nodes) {
      drift[name] ??= [];
      drift[name].push(text);
    }
  return drift;
}

/** What a second look finds as well: an end that is being written is over by then. */
export function driftInBoth(first: LeaderView['drift'], second: LeaderView['drift']): LeaderView['drift'] {
  const lasting = Object.entries(second).map(([node, texts]) => {
    const before = new Set(first[node] ?? []);
    return [node, texts.filter((text) => before.has(text))] as const;
  });
  return Object.fromEntries(lasting.filter(([, texts]) => texts.length > 0));
}

function upText(up: boolean): string {
  return up ? 'up' : 'down';
}
