/** The cluster's nodes, and what the jobspecs and the graph are made of. */

import { isDeepStrictEqual } from 'node:util';
import { ClusterFactsTracker } from '../jobspec/cluster-facts';
import type { NodeFacts } from '../jobspec/constraints';
import { allocatableOf, graphNode } from '../jobspec/graph-nodes';
import { difference, type Requests } from '../jobspec/requests';
import type { UnitSettings } from '../jobspec/units';
import { isTrue } from '../kubernetes/conditions';
import type { Informer } from '../kubernetes/informer';
import type { Node } from '../kubernetes/types';
import type { GraphNode } from '../resources/types';
import { Signal } from '../signal';
import type { Agents } from './agents';

export class NodeCache {
  /** A fact that the graph is made of changed on the node of this name. Heartbeats are left out. */
  readonly changed = new Signal<string>();
  /** The node of this name was deleted. */
  readonly deleted = new Signal<string>();
  /** The node of this name became ready, or is no longer ready; also one that comes. */
  readonly readinessChanged = new Signal<string>();
  private graph: ReadonlyMap<string, GraphNode> = new Map();
  /** Names of nodes whose graph nodes have to be made again. */
  private readonly outdated = new Set<string>();
  private readonly facts = new ClusterFactsTracker();
  /** The nodes as the facts count them: an informer that is replayed reports a node as new again. */
  private readonly counted = new Map<string, Node>();

  constructor(
    private readonly informer: Informer<Node>,
    private readonly units: UnitSettings,
    private readonly agents: Agents,
  ) {
    informer.changed.subscribe(({ now, before }) => this.nodeChanged(now, before));
    agents.changed.subscribe((name) => {
      if (this.exists(name)) this.markChanged(name);
    });
  }

  exists(name: string): boolean {
    return this.informer.get(name) !== undefined;
  }

  /** Whether the node exists and its condition Ready is True. */
  isReady(name: string): boolean {
    return isReady(this.informer.get(name));
  }

  /** What of the node its agents leave. */
  capacityOf(name: string): Requests {
    const node = this.informer.get(name);
    return node === undefined ? new Map() : difference(allocatableOf(node), this.agents.requestsOn(name));
  }

  /** The nodes as Fluxion sees them. The map and its nodes stay the same objects as long as none of their facts change. */
  graphNodes(): ReadonlyMap<string, GraphNode> {
    if (this.outdated.size === 0) return this.graph;
    const graph = new Map(this.graph);
    let isSame = true;
    for (const name of this.outdated) {
      const known = this.graph.get(name);
      const made = this.makeNode(name);
      if (isDeepStrictEqual(known, made)) continue;
      isSame = false;
      if (made === undefined) graph.delete(name);
      else graph.set(name, made);
    }
    this.outdated.clear();
    if (!isSame) this.graph = graph;
    return this.graph;
  }

  /** Labels and taints of all nodes: jobspecs refer to them. The same object as long as none of them changes. */
  clusterFacts(): NodeFacts {
    return this.facts.facts();
  }

  private makeNode(name: string): GraphNode | undefined {
    const node = this.informer.get(name);
    const { units, agents } = this;
    return node && graphNode(node, { units, agentsOn: (of) => agents.requestsOn(of) });
  }

  private nodeChanged(now: Node | undefined, before: Node | undefined): void {
    // A heartbeat leaves the projected facts equal.
    if (isDeepStrictEqual(now, before)) return;
    const { name } = (now ?? before)!.metadata;
    this.countFacts(name, now);
    if (now === undefined) this.deleted.emit(name);
    else if (isReady(now) !== (before !== undefined && isReady(before))) this.readinessChanged.emit(name);
    this.markChanged(name);
  }

  private countFacts(name: string, now: Node | undefined): void {
    this.facts.replace(this.counted.get(name), now);
    if (now === undefined) this.counted.delete(name);
    else this.counted.set(name, now);
  }

  private markChanged(name: string): void {
    this.outdated.add(name);
    this.changed.emit(name);
  }
}

function isReady(node: Node | undefined): boolean {
  return isTrue(node?.status?.conditions, 'Ready');
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
