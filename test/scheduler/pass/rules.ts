/** Clusters and pods for the tests of placement rules. */

import { askOf } from '../../../runtime/jobspec/jobspec';
import type { PodTraits } from '../../../runtime/jobspec/placement-rules';
import type { PodSpec } from '../../../runtime/jobspec/pod';
import { podsPerNode } from '../../../runtime/jobspec/pods-per-node';
import type { GraphNode } from '../../../runtime/resources/types';
import type { PlacedPods } from '../../../runtime/scheduler/pass/placed-pods';
import type { JobOptions } from './job-options';
import { Simulation } from './simulation';

export const HOST = 'kubernetes.io/hostname';
export const ZONE = 'zone';

/** `{ a: 2 }` is nodes a0 and a1 in zone a. */
export function zones(counts: Readonly<Record<string, number>>, cores = 4): GraphNode[] {
  return Object.entries(counts).flatMap(([zone, count]) =>
    Array.from({ length: count }, (_, i) => {
      const name = `${zone}${i}`;
      return { name, units: { core: cores }, properties: [`${HOST}=${name}`, `${ZONE}=${zone}`] };
    }),
  );
}

export const web = { matchLabels: { app: 'web' } };
export const labels = { app: 'web' };
type Term = {
  readonly namespaces?: string[];
  readonly namespaceSelector?: object;
  readonly labelSelector?: object;
};
const terms = (topologyKey: string, over: Term = {}) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: web, ...over }],
});
export const apart = (key = HOST, over: Term = {}): Partial<PodSpec> => ({
  affinity: { podAntiAffinity: terms(key, over) },
});
export const together = (key = HOST, over: Term = {}): Partial<PodSpec> => ({
  affinity: { podAffinity: terms(key, over) },
});
export const spread = (topologyKey = ZONE, maxSkew = 1, over: object = {}): Partial<PodSpec> => ({
  topologySpreadConstraints: [
    { topologyKey, maxSkew, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web, ...over },
  ],
});
export const port = (hostPort: number, over: object = {}) => ({
  containers: [{ resources: { requests: { cpu: 1 } }, ports: [{ hostPort, ...over }] }],
});

export function other(node: string, over: Partial<PodTraits> = {}, count = 1): PlacedPods {
  const traits = { namespace: 'science', labels, ...over };
  return { traits, node, count, start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };
}

export interface Case {
  readonly nodes: GraphNode[];
  readonly job: JobOptions;
  readonly others?: readonly PlacedPods[];
  readonly amounts?: Readonly<Record<string, number>>;
}

/** Pods by node, or the reason why it waits. */
export async function place({
  nodes,
  job,
  others = [],
  amounts,
}: Case): Promise<Record<string, number> | string> {
  const sim = await Simulation.of(nodes);
  sim.others.push(...others);
  if (amounts !== undefined) for (const { name } of nodes) sim.amounts.set(name, amounts);
  sim.submit('job', { labels, ...job });
  await sim.pass();
  const { allocation, jobspec, reason } = sim.row('job');
  if (allocation === null) return `${reason}`;
  const shares = podsPerNode(allocation, askOf(jobspec)).map(({ node, pods }) => [node, pods] as const);
  return Object.fromEntries(shares);
}

/** Pods by zone, or the reason why it waits. */
export async function placeByZone(given: Case): Promise<Record<string, number> | string> {
  const placed = await place(given);
  if (typeof placed === 'string') return placed;
  const counts: Record<string, number> = {};
  for (const [node, pods] of Object.entries(placed)) counts[node[0]!] = (counts[node[0]!] ?? 0) + pods;
  return counts;
}

export const two = { pods: 2 };
export const nodes = zones({ a: 2 });
