/**
 * The units that are in use on each node without a grant: by pods outside the queue, without agents, and by pods of
 * workloads beyond their grants. They are counted again only on nodes where something changed: a large cluster has ten
 * times more pods than nodes.
 */
import { isDeepStrictEqual } from 'node:util';
import { podRequests, type Requests } from '../jobspec/requests';
import { unmanagedUnits } from '../jobspec/units';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { AllocatedNode, Surplus, UnitCounts } from '../resources/types';
import { isAgent } from '../shared/agents';
import { requestsEqual } from '../shared/pod-requests';
import type { Shared } from '../shared/shared';
import { endsSoon, podsBeyond, Surpluses, type SurplusOnNode, surplusOf } from '../shared/surplus';
import { chargedFor } from '../shared/unmanaged';
import { Signal } from '../signal';
import { podsOn as podsOnPart } from './pass/placed-pods';

interface Watched extends Pick<Shared, 'informers' | 'nodes' | 'podFacts' | 'config' | 'signals' | 'now'> {
  readonly workloadCache: Pick<WorkloadCache, 'byUid' | 'onChange'>;
}

/** The pods of a node by uid of the workload that is charged for them; those without one are outside the queue. */
interface PodsOfNode {
  readonly outside: Pod[];
  readonly charged: Map<string, { readonly row: WorkloadRow; readonly pods: Pod[] }>;
}

export class UnmanagedPods {
  /** A pod outside the queue began or ceased to use a node. */
  readonly changed = new Signal();
  /** What workloads use beyond their grants, by the last {@link usage}. */
  readonly surpluses = new Surpluses();
  private current: ReadonlyMap<string, UnitCounts> = new Map();
  /** Nodes on which the usage may have changed. */
  private readonly outdated = new Set<string>();
  /** Nodes with a pod that is left out because it ends soon: they are looked at until it has. */
  private readonly ending = new Set<string>();

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
    for (const node of this.ending) this.outdated.add(node);
    if (this.outdated.size === 0) return this.current;
    this.ending.clear();
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

  /** What passes and plans take from it. */
  facts(): {
    readonly unmanaged: ReadonlyMap<string, UnitCounts>;
    readonly surpluses: ReadonlyMap<string, Surplus>;
  } {
    return { unmanaged: this.usage(), surpluses: this.surpluses.charges() };
  }

  private usageOf(node: string): UnitCounts | undefined {
    const { nodes, informers, config } = this.shared;
    if (!nodes.exists(node)) {
      this.surpluses.set(node, new Map());
      return undefined;
    }
    const { outside, charged } = this.podsOf(informers.pods.byIndex('node', node));
    const surplus = new Map<string, SurplusOnNode>();
    const now = this.shared.now();
    for (const { row, pods: all } of charged.values()) {
      const { ending = [], staying: pods = [] } = Object.groupBy(all, (pod) =>
        endsSoon(pod, now) ? 'ending' : 'staying',
      );
      if (ending.length > 0) this.ending.add(node);
      // On a granted node its successor has its units, on another one nobody has.
      if (partOn(row, node) === undefined) outside.push(...ending);
      const beyond = surplusOf(row, node, pods, config.units);
      if (beyond.size > 0) surplus.set(row.uid, this.chargeOf(row, node, beyond, pods));
    }
    this.surpluses.set(node, surplus);
    if (outside.length === 0 && surplus.size === 0) return undefined;
    const requests = [
      ...outside.map(({ spec }) => podRequests(spec)),
      ...[...surplus.values()].map(({ amounts }) => amounts),
    ];
    return unmanagedUnits(requests, nodes.capacityOf(node), config.units);
  }

  private chargeOf(row: WorkloadRow, node: string, amounts: Requests, pods: readonly Pod[]): SurplusOnNode {
    const { nodes, config } = this.shared;
    const part = partOn(row, node);
    const granted = part === undefined ? 0 : podsOnPart(row, part);
    const units = unmanagedUnits([amounts], nodes.capacityOf(node), config.units);
    const names = podsBeyond(row, node, pods, config.units);
    return { amounts, units, pods: Math.max(0, pods.length - granted), names };
  }

  private podsOf(pods: readonly Pod[]): PodsOfNode {
    const found: PodsOfNode = { outside: [], charged: new Map() };
    for (const pod of pods) {
      const row = chargedFor(pod, this.shared);
      if (row === undefined) {
        if (!isAgent(pod)) found.outside.push(pod);
        continue;
      }
      const known = found.charged.get(row.uid);
      if (known === undefined) found.charged.set(row.uid, { row, pods: [pod] });
      else known.pods.push(pod);
    }
    return found;
  }

  private podChanged(now: Pod | undefined, before: Pod | undefined): void {
    const { usedNode } = this.shared.podFacts;
    const [to, from] = [now, before].map((pod) => pod && usedNode(pod));
    if (to === from && (to === undefined || requestsEqual(now!, before!))) return;
    const touched = [to, from].filter((node) => node !== undefined);
    for (const node of touched) this.outdated.add(node);
    const pod = (now ?? before)!;
    const row = chargedFor(pod, this.shared);
    const isOutside = row === undefined && !isAgent(pod);
    const isBeyond = row !== undefined && to !== undefined && this.isBeyond(row, to);
    if (isOutside || isBeyond || touched.some((node) => this.surpluses.has(node))) this.changed.emit();
  }

  /** Whether a workload uses more of the node than it was granted: what is charged changes then, also if nothing else happens. */
  private isBeyond(row: WorkloadRow, node: string): boolean {
    const { informers, config } = this.shared;
    const pods = informers.pods
      .byIndex('node', node)
      .filter((pod) => chargedFor(pod, this.shared)?.uid === row.uid);
    return surplusOf(row, node, pods, config.units).size > 0;
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

function partOn({ allocation }: WorkloadRow, node: string): AllocatedNode | undefined {
  return allocation?.nodes.find(({ name }) => name === node);
}
