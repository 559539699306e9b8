/**
 * The units that pods outside the queue use on each node, without those of agents. They are counted again only on nodes
 * where something changed: a large cluster has ten times more pods than nodes.
 */
import { isDeepStrictEqual } from 'node:util';
import { podRequests } from '../jobspec/requests';
import { unmanagedUnits } from '../jobspec/units';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { UnitCounts } from '../resources/types';
import { isAgent } from '../shared/agents';
import { requestsEqual } from '../shared/pod-requests';
import type { Shared } from '../shared/shared';
import { isUnmanaged } from '../shared/unmanaged';
import { Signal } from '../signal';

interface Watched extends Pick<Shared, 'informers' | 'nodes' | 'podFacts' | 'config' | 'signals'> {
  readonly workloadCache: Pick<WorkloadCache, 'byUid' | 'onChange'>;
}

export class UnmanagedPods {
  /** A pod outside the queue began or ceased to use a node. */
  readonly changed = new Signal();
  private current: ReadonlyMap<string, UnitCounts> = new Map();
  /** Nodes on which the usage may have changed. */
  private readonly outdated = new Set<string>();

  constructor(private readonly shared: Watched) {
    const { informers, nodes, workloadCache, signals } = shared;
    informers.pods.changed.subscribe(({ now, before }) => this.podChanged(now, before));
    nodes.changed.subscribe((name) => this.outdated.add(name));
    // A grant makes pods managed, and its end makes them unmanaged.
    workloadCache.onChange((row) => this.rowChanged(row));
    signals.resync.subscribe(() => this.markAll());
    this.markAll();
  }

  /** Units by node. Nodes that no such pod uses are left out. The same map until something changes, and never changed. */
  usage(): ReadonlyMap<string, UnitCounts> {
    if (this.outdated.size === 0) return this.current;
    const usage = new Map(this.current);
    let isSame = true;
    for (const node of this.outdated) {
      const used = this.usageOf(node);
      if (isDeepStrictEqual(used, this.current.get(node))) continue;
      isSame = false;
      if (used === undefined) usage.delete(node);
      else usage.set(node, used);
    }
    this.outdated.clear();
    if (!isSame) this.current = usage;
    return this.current;
  }

  private usageOf(node: string): UnitCounts | undefined {
    const { nodes, informers, config } = this.shared;
    if (!nodes.exists(node)) return undefined;
    const pods = informers.pods.byIndex('node', node).filter((pod) => this.counts(pod));
    if (pods.length === 0) return undefined;
    const requests = pods.map(({ spec }) => podRequests(spec));
    return unmanagedUnits(requests, nodes.capacityOf(node), config.units);
  }

  private counts(pod: Pod): boolean {
    return !isAgent(pod) && isUnmanaged(pod, this.shared);
  }

  private podChanged(now: Pod | undefined, before: Pod | undefined): void {
    const { usedNode } = this.shared.podFacts;
    const [to, from] = [now, before].map((pod) => pod && usedNode(pod));
    if (to === from && (to === undefined || requestsEqual(now!, before!))) return;
    for (const node of [to, from]) if (node !== undefined) this.outdated.add(node);
    if (this.counts((now ?? before)!)) this.changed.emit();
  }

  private rowChanged({ uid }: WorkloadRow): void {
    const { informers, podFacts } = this.shared;
    // Also pods that only name this workload: whether they belong to it can depend on its job id.
    for (const pod of informers.pods.byIndex('workload', uid)) {
      const node = podFacts.usedNode(pod);
      if (node !== undefined) this.outdated.add(node);
    }
  }

  private markAll(): void {
    const { nodes } = this.shared;
    for (const name of nodes.graphNodes().keys()) this.outdated.add(name);
  }
}
