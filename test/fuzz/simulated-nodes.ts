/** The random actions of the administrators of nodes, and the faults of nodes. */
import { nodes as nodePath, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Condition, Node, Pod } from '../../runtime/kubernetes/types';
import type { Closure, NodeLoss } from '../invariants/observation';
import type { Features } from './features';
import { timeOf } from './object-store';
import { Random } from './random';
import type { SimulatedApiserver } from './simulated-apiserver';

export const CORES = 4;
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const MAINTENANCE = 'example.com/maintenance';

type Fault = 'NotReady' | 'NoSchedule' | 'NoExecute' | 'drain' | 'shrunk';

export interface SimulatedNodesOptions {
  readonly apiserver: SimulatedApiserver;
  readonly random: Random;
  /** Unix seconds of the cluster. */
  readonly now: () => number;
  readonly features: Pick<Features, 'oddNodes'>;
}

export class SimulatedNodes {
  /** Times at which nodes were added, removed or changed. */
  readonly disturbances: number[] = [];
  /** Removals and faults of nodes. */
  readonly losses: NodeLoss[] = [];
  /** Node -> since when no new pod may be placed on it. */
  readonly closedSince = new Map<string, number>();
  /** All times in which a node took no new pods. */
  readonly closures: Closure[] = [];
  /** Node -> when its fault ends. */
  private readonly faultyUntil = new Map<string, number>();
  private created = 0;
  /** A generator of its own: the numbers of older seeds stay the same. */
  private readonly odd: Random;

  constructor(private readonly options: SimulatedNodesOptions) {
    this.odd = new Random(options.random.seed ^ 0x0dd);
  }

  /** Adds a new node or a removed one. */
  add(): void {
    const { apiserver, random } = this.options;
    if (this.list().length >= 6) return;
    const gone = [...new Set(this.losses.map(({ node }) => node))].filter(
      (name) => apiserver.store.get('nodes', name) === undefined,
    );
    const name = (random.happens(0.5) ? random.oneOf(gone) : undefined) ?? `node-${this.created++}`;
    this.recordDisturbance();
    this.faultyUntil.delete(name);
    this.open(name);
    const removed = this.losses.find(({ backAt }) => backAt === Infinity);
    if (removed !== undefined) removed.backAt = this.options.now();
    const isSmall = this.options.features.oddNodes && this.odd.happens(0.4);
    apiserver.create('/api/v1/nodes', {
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      spec: {},
      status: {
        allocatable: { cpu: String(CORES), memory: '16Gi', pods: isSmall ? '3' : '110' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  }

  lose(): void {
    const { apiserver, random } = this.options;
    const node = random.oneOf(this.list());
    if (node === undefined || this.list().length <= 2) return;
    this.recordDisturbance();
    const now = this.options.now();
    this.losses.push({ node: node.metadata.name, from: now, until: now, backAt: Infinity });
    apiserver.delete(nodePath(node.metadata.name));
  }

  /** Cordons or uncordons a node. */
  cordon(): void {
    const node = this.options.random.oneOf(this.list());
    if (node !== undefined) this.setCordon(node, node.spec.unschedulable !== true);
  }

  /** Begins a fault of a node that ends by itself. */
  breakOne(): void {
    const { random, now } = this.options;
    const node = random.oneOf(this.list().filter(({ metadata }) => !this.faultyUntil.has(metadata.name)));
    if (node === undefined || this.faultyUntil.size >= 2) return;
    const { name } = node.metadata;
    const until = now() + random.between(2, 40);
    this.losses.push({ node: name, from: now(), until, backAt: until });
    this.faultyUntil.set(name, until);
    const usual = random.oneOf<Fault>(['NotReady', 'NoSchedule', 'NoExecute', 'drain'])!;
    const fault = this.options.features.oddNodes && this.odd.happens(0.4) ? 'shrunk' : usual;
    if (fault === 'drain') this.drain(node);
    else if (fault === 'shrunk') this.resize(node, CORES - this.odd.between(1, CORES - 1));
    else if (fault === 'NotReady') this.put(node, { ready: false, taint: UNREACHABLE, effect: 'NoExecute' });
    else this.put(node, { ready: true, taint: MAINTENANCE, effect: fault });
  }

  /** Ends the faults whose time has come. @param all whether all faults end */
  heal(all = false): void {
    for (const [name, until] of this.faultyUntil) {
      if (!all && until > this.options.now()) continue;
      this.faultyUntil.delete(name);
      const node = this.options.apiserver.store.get<Node>('nodes', name);
      if (node === undefined) continue;
      this.put(node, { ready: true });
      this.resize(this.options.apiserver.store.get<Node>('nodes', name)!, CORES);
    }
  }

  /** Adds missing nodes, ends all faults and uncordons all nodes. */
  restoreAll(): void {
    while (this.list().length < 4) this.add();
    this.heal(true);
    for (const node of this.list()) if (node.spec.unschedulable === true) this.setCordon(node, false);
  }

  recordDisturbance(): void {
    this.disturbances.push(this.options.now());
  }

  private list(): readonly Node[] {
    return this.options.apiserver.store.list<Node>('nodes');
  }

  private drain(node: Node): void {
    const { apiserver } = this.options;
    const { name } = node.metadata;
    this.setCordon(node, true);
    for (const { spec, metadata } of apiserver.store.list<Pod>('pods'))
      if (spec.nodeName === name) apiserver.delete(podPath(metadata.namespace, metadata.name));
  }

  private setCordon(node: Node, unschedulable: boolean): void {
    const { unschedulable: _, ...spec } = node.spec;
    this.store({ ...node, spec: { ...spec, ...(unschedulable && { unschedulable }) } });
  }

  private put(
    node: Node,
    state: { ready: boolean; taint?: string; effect?: 'NoSchedule' | 'NoExecute' },
  ): void {
    const { unschedulable } = node.spec;
    const { taint: key, effect, ready } = state;
    this.store({
      ...node,
      spec: {
        ...(unschedulable === true && { unschedulable }),
        ...(key !== undefined && effect !== undefined && { taints: [{ key, effect }] }),
      },
      status: {
        ...node.status,
        conditions: isReady(node) === ready ? node.status!.conditions! : [this.condition(ready)],
      },
    });
  }

  private resize(node: Node, cores: number): void {
    const { allocatable } = node.status!;
    if (allocatable?.cpu === String(cores)) return;
    this.store({ ...node, status: { ...node.status, allocatable: { ...allocatable, cpu: String(cores) } } });
  }

  private condition(ready: boolean): Condition {
    const lastTransitionTime = timeOf(this.options.now());
    return { type: 'Ready', status: ready ? 'True' : 'Unknown', lastTransitionTime };
  }

  private store(node: Node): void {
    const { name } = node.metadata;
    this.recordDisturbance();
    this.options.apiserver.store.put('nodes', node);
    if (isOpen(node)) this.open(name);
    else this.close(name);
  }

  private close(name: string): void {
    if (this.closedSince.has(name)) return;
    const from = this.options.now();
    this.closedSince.set(name, from);
    this.closures.push({ node: name, from, until: Infinity });
  }

  private open(name: string): void {
    this.closedSince.delete(name);
    const last = this.closures.findLast(({ node, until }) => node === name && until === Infinity);
    if (last !== undefined) last.until = this.options.now();
  }
}

/** Whether kube-scheduler places new pods without tolerations on the node. */
export function isOpen({ spec }: Node): boolean {
  return spec.unschedulable !== true && (spec.taints ?? []).length === 0;
}

/** Whether the kubelet of the node works. */
export function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

export function evictsPods({ spec }: Node): boolean {
  return (spec.taints ?? []).some(({ effect }) => effect === 'NoExecute');
}
