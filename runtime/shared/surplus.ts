/**
 * What the pods of a workload use of a node beyond its grant there. Admission keeps pods to what was granted; this is the
 * level at which it does not matter how they came to more: another pod for the same grant, a larger one (a resize in
 * place, a sidecar that a webhook added, defaults of a LimitRange), or one that takes long to end while its successor runs.
 */
import { podRequests } from '../jobspec/requests';
import { type UnitSettings, unitsOf } from '../jobspec/units';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { UnitCounts } from '../resources/types';
import { addUnits, unitsOn } from '../resources/unit-counts';
import { Signal } from '../signal';

/** A pod that was granted the units of one that ends this soon waits for it, and no plan has to change. */
const SOON_SECONDS = 60;
/** The kubelet ends a pod at the time of its deletion, and tells a moment later. */
const LATE_SECONDS = 30;

/** Pods are counted again with each change of their node, and most of them did not change. */
const counted = new WeakMap<Pod, UnitCounts>();

/**
 * Units by type that these pods use beyond the grant of their workload on this node; none if it has the whole node.
 * Each pod counts as if it had been granted: rounded up, and with at least one core unit.
 *
 * @param pods of the workload, on the node
 */
export function surplusOf(
  { allocation }: Pick<WorkloadRow, 'allocation'>,
  node: string,
  pods: readonly Pod[],
  settings: UnitSettings,
): UnitCounts {
  const granted = allocation === null ? {} : unitsOn(allocation, node);
  if (granted === 'all') return {};
  const used = addUnits(pods.map((pod) => unitsOfPod(pod, settings)));
  return Object.fromEntries(
    Object.entries(used)
      .map(([type, count]) => [type, count - (granted[type] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
}

/** Whether the pod is about to end; one that should have ended long ago is not. @param now Unix seconds */
export function endsSoon({ metadata: { deletionTimestamp } }: Pod, now: number): boolean {
  if (deletionTimestamp === undefined) return false;
  const left = Date.parse(deletionTimestamp) / 1000 - now;
  return left <= SOON_SECONDS && left >= -LATE_SECONDS;
}

function unitsOfPod(pod: Pod, settings: UnitSettings): UnitCounts {
  const known = counted.get(pod) ?? unitsOf(podRequests(pod.spec), settings);
  counted.set(pod, known);
  return known;
}

/** The surplus of all workloads, by node, as it was counted last. */
export class Surpluses {
  /** The uid of a workload whose surplus changed. */
  readonly changed = new Signal<string>();
  /** UID of the workload -> node -> units. */
  private readonly byUid = new Map<string, Map<string, UnitCounts>>();
  private readonly byNode = new Map<string, readonly string[]>();

  /** Whether some workload uses more of the node than it was granted. */
  has(node: string): boolean {
    return this.byNode.has(node);
  }

  /** Units beyond the grant by node, sorted by name; empty for nearly every workload. */
  of(uid: string): readonly (readonly [node: string, units: UnitCounts])[] {
    return [...(this.byUid.get(uid) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** @param found units by uid of the workload; only those with a surplus */
  set(node: string, found: ReadonlyMap<string, UnitCounts>): void {
    const before = this.byNode.get(node) ?? [];
    if (found.size === 0) this.byNode.delete(node);
    else this.byNode.set(node, [...found.keys()]);
    for (const uid of new Set([...before, ...found.keys()])) this.setOne(uid, node, found.get(uid));
  }

  private setOne(uid: string, node: string, units: UnitCounts | undefined): void {
    const nodes = this.byUid.get(uid) ?? new Map<string, UnitCounts>();
    const before = JSON.stringify(nodes.get(node));
    if (before === JSON.stringify(units)) return;
    if (units === undefined) nodes.delete(node);
    else nodes.set(node, units);
    if (nodes.size === 0) this.byUid.delete(uid);
    else this.byUid.set(uid, nodes);
    this.changed.emit(uid);
  }
}
