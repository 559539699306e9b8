/**
 * What the pods of a workload use of a node beyond its grant there. Admission keeps pods to what was granted; this is the
 * level at which it does not matter how they came to more: another pod for the same grant, a larger one (a resize in
 * place, a sidecar that a webhook added, defaults of a LimitRange), or one that takes long to end while its successor runs.
 */
import { askOf } from '../jobspec/jobspec';
import type { Quantities } from '../jobspec/pod';
import { podSetsOf } from '../jobspec/pod-sets';
import type { Nano } from '../jobspec/quantity';
import { podRequests, quantitiesOf, type Requests, sum } from '../jobspec/requests';
import { quantityOf, type UnitSettings, unitType } from '../jobspec/units';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { Surplus, UnitCounts } from '../resources/types';
import { addUnits, unitsOn } from '../resources/unit-counts';
import { Signal } from '../signal';

/** A pod that was granted the units of one that ends this soon waits for it, and no plan has to change. */
const SOON_SECONDS = 60;
/** The kubelet ends a pod at the time of its deletion, and tells a moment later. */
const LATE_SECONDS = 30;

/** Pods are counted again with each change of their node, and most of them did not change. */
const counted = new WeakMap<Pod, Requests>();

/**
 * What these pods request beyond the units that their workload was granted on this node; nothing if it has the whole node.
 * Quantities are compared, not units: each grant was rounded up, and its pods may use all of it.
 *
 * @param pods of the workload, on the node
 */
export function surplusOf(
  { allocation }: Pick<WorkloadRow, 'allocation'>,
  node: string,
  pods: readonly Pod[],
  settings: UnitSettings,
): Requests {
  const units = allocation === null ? {} : unitsOn(allocation, node);
  if (units === 'all') return new Map();
  return taken(quantities(units, settings), sum(pods.map((pod) => usedBy(pod, settings))));
}

/** Takes the requests from what is left by type of unit. Returns what is not there. */
function taken(left: Map<string, Nano>, requests: Requests): Requests {
  const missing = new Map<string, Nano>();
  for (const [resource, used] of requests) {
    const type = unitType(resource);
    if (type === undefined) continue;
    const there = left.get(type) ?? 0n;
    left.set(type, there > used ? there - used : 0n);
    if (used > there) missing.set(resource, used - there);
  }
  return missing;
}

/**
 * Names of the pods to which a surplus is due: those that are larger than what a pod was granted, and, where there are too many,
 * the youngest or one that has to end.
 *
 * @param pods of the workload, on the node
 */
export function podsBeyond(
  row: Pick<WorkloadRow, 'allocation' | 'jobspec'>,
  node: string,
  pods: readonly Pod[],
  settings: UnitSettings,
): readonly string[] {
  const slots = (podSetsOf(row.jobspec) ?? [row]).map(({ jobspec }) => askOf(jobspec).perPod);
  const isLarger = (pod: Pod) =>
    slots.every((units) => taken(quantities(units, settings), usedBy(pod, settings)).size > 0);
  const [larger, others] = [pods.filter(isLarger), pods.filter((pod) => !isLarger(pod)).sort(byAge)];
  const youngest = others.filter((_, i) => surplusOf(row, node, others.slice(0, i + 1), settings).size > 0);
  return [...larger, ...youngest].map(({ metadata }) => metadata.name).sort();
}

/** A pod that takes long to end comes last: its successor has its place. */
function byAge(a: Pod, b: Pod): number {
  const [left, right] = [a, b].map(
    ({ metadata: { deletionTimestamp = '', creationTimestamp, name } }) =>
      `${deletionTimestamp} ${creationTimestamp} ${name}`,
  );
  return left! < right! ? -1 : 1;
}

function quantities(units: UnitCounts, settings: UnitSettings): Map<string, Nano> {
  return new Map(Object.entries(units).map(([type, count]) => [type, quantityOf(type, count, settings)]));
}

/** Whether the pod is about to end; one that should have ended long ago is not. @param now Unix seconds */
export function endsSoon({ metadata: { deletionTimestamp } }: Pod, now: number): boolean {
  if (deletionTimestamp === undefined) return false;
  const left = Date.parse(deletionTimestamp) / 1000 - now;
  return left <= SOON_SECONDS && left >= -LATE_SECONDS;
}

/** A pod without a request needs a processor as well: it was granted one core unit. */
function usedBy(pod: Pod, settings: UnitSettings): Requests {
  const known = counted.get(pod);
  if (known !== undefined) return known;
  const requests = podRequests(pod.spec);
  const used =
    (requests.get('cpu') ?? 0n) > 0n
      ? requests
      : new Map([...requests, ['cpu', quantityOf('core', 1, settings)]]);
  counted.set(pod, used);
  return used;
}

/** What a workload uses of one node beyond its grant there. */
export interface SurplusOnNode extends Surplus {
  readonly amounts: Requests;
  /** See podsBeyond. */
  readonly names: readonly string[];
}

/** The same as it is told. */
export interface ToldSurplus {
  readonly amounts: Quantities;
  readonly pods: readonly string[];
}

/** The surplus of all workloads, by node, as it was counted last. */
export class Surpluses {
  /** The uid of a workload whose surplus changed. */
  readonly changed = new Signal<string>();
  /** UID of the workload -> node. */
  private readonly byUid = new Map<string, Map<string, ToldSurplus>>();
  private readonly byNode = new Map<string, ReadonlyMap<string, SurplusOnNode>>();

  /** Whether some workload uses more of the node than it was granted. */
  has(node: string): boolean {
    return this.byNode.has(node);
  }

  /** What is beyond the grant by node, sorted by name; empty for nearly every workload. */
  of(uid: string): readonly (readonly [node: string, surplus: ToldSurplus])[] {
    return [...(this.byUid.get(uid) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** By uid of the workload, on all nodes together; empty nearly always. */
  charges(): ReadonlyMap<string, Surplus> {
    const charges = new Map<string, Surplus>();
    for (const found of this.byNode.values())
      for (const [uid, { pods, units }] of found) {
        const other = charges.get(uid) ?? { pods: 0, units: {} };
        charges.set(uid, { pods: other.pods + pods, units: addUnits([other.units, units]) });
      }
    return charges;
  }

  /** @param found by uid of the workload; only those with a surplus */
  set(node: string, found: ReadonlyMap<string, SurplusOnNode>): void {
    const before = this.byNode.get(node)?.keys() ?? [];
    const uids = new Set([...before, ...found.keys()]);
    if (found.size === 0) this.byNode.delete(node);
    else this.byNode.set(node, found);
    for (const uid of uids) {
      const surplus = found.get(uid);
      this.setOne(uid, node, surplus && { amounts: quantitiesOf(surplus.amounts), pods: surplus.names });
    }
  }

  private setOne(uid: string, node: string, surplus: ToldSurplus | undefined): void {
    const nodes = this.byUid.get(uid) ?? new Map<string, ToldSurplus>();
    const before = JSON.stringify(nodes.get(node));
    if (before === JSON.stringify(surplus)) return;
    if (surplus === undefined) nodes.delete(node);
    else nodes.set(node, surplus);
    if (nodes.size === 0) this.byUid.delete(uid);
    else this.byUid.set(uid, nodes);
    this.changed.emit(uid);
  }
}
