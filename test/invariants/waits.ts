/** Checks that every workload that does not run says why, and that a grant whose pods do not run is taken back. */
import type { Node, Pod } from '../../runtime/kubernetes/types';
import { isTerminal } from '../../runtime/workloads/adapter';
import type { Observation, SeenRow, Violation } from './observation';

/** Waiting workloads without a reason and its text. */
export function unexplainedWaits({ rows }: Pick<Observation, 'rows'>): Violation[] {
  return rows
    .filter(({ phase, reason, message }) => phase === 'Waiting' && !(reason && message))
    .map(({ name, reason }) => ({
      invariant: 'reason',
      text: `${name} waits (${reason}) and says no reason`,
    }));
}

/** Seconds from the end of the limit until the eviction is complete: its commit, the suspension, and the end of its pods. */
const EVICTION_SECONDS = 20;

/** What is seen of grants, their pods and their nodes. */
export type SeenGrants = Pick<Observation, 'rows' | 'pods' | 'nodes'>;

/**
 * Finds grants that hold nodes for longer than their limit while none of their pods runs. Two things legitimately add to the
 * limit, each by what it takes: the pull of an image, for as long as it takes for that pod; and a new pod for one that its
 * node has lost, or its user has deleted, which waits for as long as the first.
 */
export class IdleGrants {
  /** Job id -> seconds for which it has been idle. */
  private idle: ReadonlyMap<number, number> = new Map();
  private readonly reported = new Set<number>();
  /** Pods that had a node at the last look, and nobody wanted to delete. */
  private placed: readonly Pod[] = [];
  private last: number | undefined;

  /**
   * @param limitSeconds how long the pods of a grant may wait
   * @param pullSecondsOf how long the image of a pod is pulled
   */
  constructor(
    private readonly limitSeconds: number,
    private readonly pullSecondsOf: (pod: Pod) => number,
  ) {}

  /**
   * Time passes only while no fault lasts: a fault may delay an eviction.
   * @param at Unix seconds of the cluster
   * @param deleted uids of workloads of which a user has deleted a pod since the last look
   */
  observe(
    at: number,
    seen: SeenGrants,
    isRecovering: boolean,
    deleted: ReadonlySet<string> = new Set(),
  ): Violation[] {
    const passed = isRecovering ? 0 : at - (this.last ?? at);
    this.last = at;
    const { rows, pods } = seen;
    const lost = new Set([...this.lostToNodes(seen), ...deleted]);
    const running = new Set(pods.filter((pod) => isRunning(pod) || isKept(pod)).map(ownerOf));
    const pulling = new Set(pods.filter((pod) => this.isPulling(pod, at)).map(ownerOf));
    const idle = rows.filter((row) => isReleased(row) && !running.has(row.uid));
    const before = ({ uid, jobid }: SeenRow) => (lost.has(uid) ? 0 : (this.idle.get(jobid) ?? 0));
    const added = ({ uid }: SeenRow) => (pulling.has(uid) ? 0 : passed);
    this.idle = new Map(idle.map((row) => [row.jobid, before(row) + added(row)]));
    return this.reportOf(idle);
  }

  /** A new leader starts to count again. */
  reset(): void {
    this.idle = new Map();
  }

  private reportOf(idle: readonly SeenRow[]): Violation[] {
    const secondsOf = ({ jobid }: SeenRow) => this.idle.get(jobid)!;
    const late = idle.filter(
      (row) => secondsOf(row) > this.limitSeconds + EVICTION_SECONDS && !this.reported.has(row.jobid),
    );
    for (const { jobid } of late) this.reported.add(jobid);
    return late.map((row) => ({
      invariant: 'idle',
      text: `${row.name} is ${row.phase} and no pod of it runs for ${Math.round(secondsOf(row))} s`,
    }));
  }

  /** The workloads of pods that are gone since the last look, or have to go, because their nodes take no pods any more. */
  private lostToNodes({ pods, nodes }: SeenGrants): ReadonlySet<string> {
    const open = new Set(nodes.filter(takesPods).map(({ metadata }) => metadata.name));
    const staying = new Set(pods.filter(isStaying).map(({ metadata }) => metadata.uid));
    const before = this.placed;
    this.placed = pods.filter((pod) => isPlaced(pod) && isStaying(pod));
    const isLost = ({ metadata, spec }: Pod) => !staying.has(metadata.uid) && !open.has(spec.nodeName!);
    return new Set(before.filter(isLost).map(ownerOf));
  }

  /** A kubelet pulls from the start of the pod on, in whole seconds. */
  private isPulling(pod: Pod, at: number): boolean {
    const { startTime } = pod.status ?? {};
    const isStarting = isPlaced(pod) && isStaying(pod) && pod.status?.phase === 'Pending';
    return (
      isStarting && startTime !== undefined && at - Date.parse(startTime) / 1000 < this.pullSecondsOf(pod)
    );
  }
}

function isReleased({ phase }: SeenRow): boolean {
  return phase === 'Ready' || phase === 'Running';
}

/** Whether the pod has a node and has not ended. */
function isPlaced(pod: Pod): boolean {
  return pod.spec.nodeName !== undefined && !isTerminal(pod);
}

function isStaying({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Whether a pod without tolerations can be placed on the node and stay there. */
function takesPods({ spec, status }: Node): boolean {
  const isReady =
    status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
  return isReady && spec.unschedulable !== true && (spec.taints ?? []).length === 0;
}

/** Nobody makes a bare pod again: it keeps its grant for ten minutes while a fault of the cluster keeps it from its node. */
function isKept({ metadata, status }: Pod): boolean {
  return metadata.ownerReferences === undefined && status?.phase === 'Pending';
}

function isRunning({ status }: Pod): boolean {
  return status?.phase === 'Running';
}

function ownerOf({ metadata }: Pod): string {
  return metadata.ownerReferences?.[0]?.uid ?? metadata.uid;
}
