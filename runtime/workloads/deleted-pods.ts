/**
 * The pods of deleted Jobs. The watch of the pods may lag behind that of the Jobs by any time: only a list that begins
 * after the deletion tells whether it has delivered all pods of a Job.
 */
import type { KubernetesClient } from '../kubernetes/client';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadIdentity } from '../shared/pod-facts';
import { isLive, type NodeView } from './live-pods';
import { PodLists } from './pod-lists';

export interface DeletedPodsOptions {
  readonly client: Pick<KubernetesClient, 'list'>;
  /** The pods of the workload, as the watch last delivered them. */
  readonly podsOf: (workload: WorkloadIdentity) => readonly Pod[];
  readonly nodes: NodeView;
}

/** A pod that ended uses no node. */
const NOT_ENDED = 'status.phase!=Succeeded,status.phase!=Failed';

export class DeletedPods {
  /** The uids of Jobs all of whose pods the watch has delivered. */
  private readonly shown = new Set<string>();
  private readonly lists: PodLists;

  constructor(private readonly options: DeletedPodsOptions) {
    this.lists = new PodLists(options.client, NOT_ENDED);
  }

  /** Whether the watch has delivered every pod of the deleted workload that can still run. No pod of it is created again. */
  async areShown(row: WorkloadRow): Promise<boolean> {
    const { kind, uid } = row;
    // Only pods of a Job run before the watch of the pods has shown them.
    if (kind !== 'Job' || this.shown.has(uid)) return true;
    const listed = await this.lists.of(row);
    const live = new Set(this.livePods(this.options.podsOf(row)));
    const isShown = this.livePods(listed).every((pod) => live.has(pod));
    if (isShown) this.shown.add(uid);
    return isShown;
  }

  forget({ uid }: WorkloadRow): void {
    this.shown.delete(uid);
  }

  /** The uids of the pods that can still run. */
  private livePods(pods: readonly Pod[]): readonly string[] {
    return pods.filter((pod) => isLive(pod, this.options.nodes)).map(({ metadata }) => metadata.uid);
  }
}
