/** The cluster's nodes, and what the jobspecs and the graph are made of. */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterFacts } from '../jobspec/constraints';
import { clusterFacts, graphNodes } from '../jobspec/graph-nodes';
import type { UnitSettings } from '../jobspec/units';
import type { Informer } from '../kubernetes/informer';
import type { Node } from '../kubernetes/types';
import type { GraphNode } from '../resources/types';
import { Signal } from '../signal';

interface KnownNode {
  /** The node as JSON. */
  readonly source: string;
  readonly node: GraphNode;
}

export class NodeCache {
  /** A fact that the graph is made of changed on any node. Heartbeats are left out. */
  readonly changed = new Signal();
  /** The node of this name was deleted. */
  readonly deleted = new Signal<string>();
  /** The node of this name became ready, or is no longer ready. */
  readonly readinessChanged = new Signal<string>();
  private graph: ReadonlyMap<string, GraphNode> | undefined;
  private facts: ClusterFacts | undefined;
  private known = new Map<string, KnownNode>();

  constructor(
    private readonly informer: Informer<Node>,
    private readonly units: UnitSettings,
  ) {
    informer.changed.subscribe(({ now, before }) => this.nodeChanged(now, before));
  }

  exists(name: string): boolean {
    return this.informer.get(name) !== undefined;
  }

  /** Whether the node exists and its condition Ready is True. */
  isReady(name: string): boolean {
    return isReady(this.informer.get(name));
  }

  /** The nodes as Fluxion sees them. A node keeps its object as long as none of its facts change. */
  graphNodes(): ReadonlyMap<string, GraphNode> {
    if (this.graph !== undefined) return this.graph;
    const known = new Map<string, KnownNode>();
    for (const node of this.informer.list()) {
      const source = JSON.stringify(node);
      const before = this.known.get(node.metadata.name);
      const [made] = before?.source === source ? [before.node] : graphNodes([node], { units: this.units });
      if (made !== undefined) known.set(made.name, { source, node: made });
    }
    this.known = known;
    this.graph = new Map([...known].map(([name, { node }]) => [name, node]));
    return this.graph;
  }

  /** Labels and taints of all nodes: jobspecs refer to them. */
  clusterFacts(): ClusterFacts {
    this.facts ??= clusterFacts(this.informer.list());
    return this.facts;
  }

  private nodeChanged(now: Node | undefined, before: Node | undefined): void {
    // A heartbeat leaves the projected facts equal.
    if (isDeepStrictEqual(now, before)) return;
    this.graph = undefined;
    this.facts = undefined;
    if (now === undefined) this.deleted.emit(before!.metadata.name);
    else if (before !== undefined && isReady(now) !== isReady(before))
      this.readinessChanged.emit(now.metadata.name);
    this.changed.emit();
  }
}

function isReady(node: Node | undefined): boolean {
  const conditions = node?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** Keeps only what the graph is made of, so that heartbeats and image lists change nothing. */
export function nodeFacts(node: Node): Node {
  const { name, uid, labels } = node.metadata;
  const { unschedulable, taints } = node.spec;
  const ready = node.status?.conditions?.filter(({ type }) => type === 'Ready') ?? [];
  return {
    metadata: { name, uid, resourceVersion: '', creationTimestamp: '', ...(labels && { labels }) },
    spec: { ...(unschedulable && { unschedulable }), ...(taints && { taints }) },
    status: {
      ...(node.status?.allocatable && { allocatable: node.status.allocatable }),
      conditions: ready.map(({ type, status }) => ({ type, status })),
    },
  };
}
