/** Gives gated pods nodes of the allocation. */
import { podSetsOf } from '../jobspec/pod-sets';
import type { NodePods } from '../jobspec/pods-per-node';
import type { KubernetesClient } from '../kubernetes/client';
import { pods as podsPath } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import { type ActiveWorkload, isTerminal, type JsonPatchOperation } from './adapter';
import { placementOf } from './assignment';
import { inBatches } from './batches';
import { writeOrLess } from './earlier-guard';
import type { NodeView } from './live-pods';
import { assignedNode, isGated } from './pod';
import { tally } from './tally';

/**
 * Pins and ungates the pods whose node admission cannot know. It remembers its pins until the watch shows them: a pod that still
 * looks gated has its slot, and another pod that got it would be one more than granted on that node.
 */
export class Ungating {
  /** uid of the workload -> uid of the pod -> its node. */
  private readonly pins = new Map<string, Map<string, string>>();

  constructor(
    private readonly options: {
      readonly client: KubernetesClient;
      readonly logger: DecisionLogger;
      readonly nodes: NodeView;
      /** Unix seconds. */
      readonly now: () => number;
    },
  ) {}

  /** @returns the pods of the workload as they are after all pins */
  async ungate(workload: PlacedWorkload & Pick<ActiveWorkload, 'pods'>): Promise<readonly Pod[]> {
    const { object, adapter, row } = workload;
    const current = this.withPins(workload);
    const gated = adapter.podsToPlace(object, current, row, this.options.now());
    if (gated.length === 0) return current;
    const placed = nodesForGatedPods(workload, current, gated, this.options.nodes);
    logDecision(this.options.logger, row, 'ungating pods', { gated: gated.length, ungated: placed.length });
    await inBatches(placed, (place) => this.pin(workload, place));
    return this.withPins(workload);
  }

  private async pin({ object, adapter, row }: PlacedWorkload, { pod, node }: PodPlace): Promise<void> {
    const path = podsPath(row.namespace, pod.metadata.name);
    const now = this.options.now();
    const write = (body: readonly JsonPatchOperation[]) =>
      applyPatch(this.options.client, path, { type: 'json', body });
    const lesser = () => adapter.earlierPlacePatch(object, row, pod, node, now);
    const outcome = await writeOrLess(write, adapter.placePatch(object, row, pod, node, now), lesser);
    if (outcome === 'done') this.pinsOf(row).set(pod.metadata.uid, node);
  }

  /** Who has a place may be written in the pods, and the watch may be behind that. */
  seen(workload: ActiveWorkload): ActiveWorkload {
    return workload.adapter.marksPods ? { ...workload, pods: this.withPins(workload) } : workload;
  }

  /** The grant has ended. */
  forget({ uid }: WorkloadRow): void {
    this.pins.delete(uid);
  }

  private pinsOf({ uid }: WorkloadRow): Map<string, string> {
    const pins = this.pins.get(uid) ?? new Map<string, string>();
    this.pins.set(uid, pins);
    return pins;
  }

  /** The pods as they are after all pins. */
  private withPins({
    object,
    adapter,
    row,
    pods,
  }: PlacedWorkload & Pick<ActiveWorkload, 'pods'>): readonly Pod[] {
    const pins = this.pins.get(row.uid);
    if (pins === undefined || pins.size === 0) return pods;
    return pods.map((pod) => {
      const node = pins.get(pod.metadata.uid);
      if (node === undefined) return pod;
      if (isGated(pod)) return adapter.placedPod(object, row, pod, node);
      pins.delete(pod.metadata.uid);
      return pod;
    });
  }
}

/** A workload whose pods get nodes. */
type PlacedWorkload = Pick<ActiveWorkload, 'object' | 'adapter' | 'row'>;

/** A pod that is still to be placed, and its node. */
interface PodPlace {
  readonly pod: Pod;
  readonly node: string;
}

/**
 * Gives gated pods the free slots of the allocation on nodes that exist. Gated pods for which no slot is free wait until a pod ends.
 * @param pods all pods of the workload
 * @param gated the gated ones among them
 */
export function nodesForGatedPods(
  { object, adapter, row }: PlacedWorkload,
  pods: readonly Pod[],
  gated: readonly Pod[],
  nodes: Pick<NodeView, 'exists'>,
): readonly PodPlace[] {
  const sets = podSetsOf(row.jobspec);
  const awaited = adapter.awaitedPods(object, row, pods);
  if (sets === undefined) return freePlaces(placementOf(row), pods, gated, nodes, awaited);
  return sets.flatMap(({ name }) => {
    const isOfSet = (pod: Pod) => adapter.podSetOf(object, pod) === name;
    return freePlaces(placementOf(row, name), pods.filter(isOfSet), gated.filter(isOfSet), nodes, awaited);
  });
}

/**
 * A pod of one pod set never takes the place of a pod of another one: they differ in size, and in the nodes that they may use.
 * @param awaited pods to come that are pinned to each node
 */
function freePlaces(
  placement: readonly NodePods[],
  pods: readonly Pod[],
  gated: readonly Pod[],
  { exists }: Pick<NodeView, 'exists'>,
  awaited: ReadonlyMap<string, number>,
): readonly PodPlace[] {
  // A gated pod uses no node, also if its user pinned it to one.
  const live = tally(pods.filter((pod) => !isGated(pod) && !isTerminal(pod)).map(assignedNode));
  const succeeded = tally(pods.filter(({ status }) => status?.phase === 'Succeeded').map(assignedNode));
  const there = placement.filter(({ node }) => exists(node));
  const slots = there.map(({ node, pods: all }) => {
    const free = Math.max(0, all - (live.get(node) ?? 0) - (awaited.get(node) ?? 0));
    return { node, free, unused: Math.max(0, free - (succeeded.get(node) ?? 0)) };
  });
  // A node on which pods have succeeded may be freed at once (`finishedNodes` of the adapter), so its slots come last.
  const free = [
    ...slots.flatMap(({ node, unused }) => Array<string>(unused).fill(node)),
    ...slots.flatMap(({ node, free: all, unused }) => Array<string>(all - unused).fill(node)),
  ];
  return gated.slice(0, free.length).map((pod, i) => ({ pod, node: free[i]! }));
}
