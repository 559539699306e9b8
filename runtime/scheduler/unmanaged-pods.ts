/** The units that pods outside the queue use on each node. */
import { allocatableOf } from '../jobspec/graph-nodes';
import { podRequests } from '../jobspec/requests';
import { unmanagedUnits } from '../jobspec/units';
import type { Pod } from '../kubernetes/types';
import type { UnitCounts } from '../resources/types';
import type { Shared } from '../shared/shared';
import { Signal } from '../signal';

export class UnmanagedPods {
  /** A pod outside the queue began or ceased to use a node. */
  readonly changed = new Signal();

  constructor(private readonly shared: Shared) {
    const { informers, podFacts } = shared;
    const usedNode = (pod: Pod | undefined) => pod && podFacts.usedNode(pod);
    informers.pods.changed.subscribe(({ now, before }) => {
      if (usedNode(now) !== usedNode(before) && this.isUnmanaged((now ?? before)!)) this.changed.emit();
    });
  }

  /** Units by node. Nodes that no such pod uses are left out. */
  usage(): ReadonlyMap<string, UnitCounts> {
    const { nodes, informers, config } = this.shared;
    const used = new Map<string, UnitCounts>();
    for (const node of nodes.graphNodes().keys()) {
      const pods = informers.pods.byIndex('node', node).filter((pod) => this.isUnmanaged(pod));
      if (pods.length === 0) continue;
      const requests = pods.map(({ spec }) => podRequests(spec));
      const allocatable = allocatableOf(informers.nodes.get(node)!);
      used.set(node, unmanagedUnits(requests, allocatable, config.units));
    }
    return used;
  }

  /** Whether the queue granted the pod no units, or has taken them back because its node is dead. */
  private isUnmanaged(pod: Pod): boolean {
    const { workloadCache, podFacts } = this.shared;
    const row = workloadCache.byUid(podFacts.workloadUid(pod));
    return row === undefined || !podFacts.isOnGrant(pod, row);
  }
}
