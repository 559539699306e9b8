/** From Nodes of Kubernetes to nodes of Fluxion's graph. */
import type { GraphNode } from '../resources/types';
import { labelProperty, resourceProperty } from './constraints';
import type { Quantities } from './pod';
import { parseQuantity } from './quantity';
import { difference, type Requests } from './requests';
import { repels, type Taint, taintProperty } from './tolerations';
import { DEFAULT_UNITS, isExtended, nodeUnits, type UnitSettings } from './units';

/** The fields of a Node that are read. */
export interface ClusterNode {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly allocatable?: Quantities;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export interface GraphOptions {
  /** @default - 1 core, 1 GiB */
  readonly units?: UnitSettings;
  /** What agents take of a node: no workload can have it. @default - nothing */
  readonly agentsOn?: (node: string) => Requests;
  /**
   * Label whose value is the zone of the node, e.g. `topology.kubernetes.io/zone`.
   * @default - no zones: each level costs matching time
   */
  readonly zoneLabel?: string;
  /** Label whose value is the rack of the node. @default - no racks */
  readonly rackLabel?: string;
}

/**
 * Graph nodes, sorted by name so that the same cluster makes the same graph. Every label becomes two properties: a few
 * dozen per node, and the graph can't add one later.
 * @throws FluxqError `FLUXQ_QUANTITY` for a malformed allocatable quantity
 * @internal exported for tests
 */
export function graphNodes(nodes: readonly ClusterNode[], options: GraphOptions = {}): GraphNode[] {
  return nodes.map((node) => graphNode(node, options)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function graphNode(
  node: ClusterNode,
  { units = DEFAULT_UNITS, zoneLabel, rackLabel, agentsOn }: GraphOptions,
): GraphNode {
  const { name, labels = {} } = node.metadata;
  const allocatable = allocatableOf(node);
  const zone = zoneLabel === undefined ? undefined : labels[zoneLabel];
  const rack = rackLabel === undefined ? undefined : labels[rackLabel];
  return {
    name,
    units: nodeUnits(agentsOn === undefined ? allocatable : difference(allocatable, agentsOn(name)), units),
    properties: [
      // The key alone is what `Exists` asks for.
      ...Object.entries(labels).flatMap(([key, value]) => [key, labelProperty(key, value)]),
      ...lastingTaints(node).map(taintProperty),
      ...[...allocatable]
        .filter(([resource, n]) => isExtended(resource) && n > 0n)
        .map(([r]) => resourceProperty(r)),
    ].sort(),
    ...(zone === undefined ? {} : { zone }),
    ...(rack === undefined ? {} : { rack }),
    up: isUp(node),
  };
}

/**
 * Taints about the purpose of a node. Taints of Kubernetes itself (not-ready, unschedulable, memory-pressure,
 * uninitialized, …) are about its state: they come and go, so they mark the node as down and change no jobspec.
 */
export function lastingTaints(node: ClusterNode): Taint[] {
  return repellingTaints(node).filter((taint) => !isStateTaint(taint));
}

/** Whether the node is ready, not cordoned, and without a taint about its state. */
function isUp(node: ClusterNode): boolean {
  const ready =
    node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return ready && node.spec?.unschedulable !== true && !repellingTaints(node).some(isStateTaint);
}

function repellingTaints(node: ClusterNode): Taint[] {
  return (node.spec?.taints ?? []).filter(repels);
}

function isStateTaint({ key }: Taint): boolean {
  return /^node\.(cloudprovider\.)?kubernetes\.io\//.test(key);
}

/** @throws FluxqError `FLUXQ_QUANTITY` */
export function allocatableOf({ metadata, status }: ClusterNode): Requests {
  const field = `Node ${metadata.name}: status.allocatable`;
  return new Map(
    Object.entries(status?.allocatable ?? {}).map(([name, q]) => [
      name,
      parseQuantity(q, `${field}["${name}"]`),
    ]),
  );
}
