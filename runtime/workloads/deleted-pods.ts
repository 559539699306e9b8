/**
 * The pods of deleted Jobs. The watch of the pods may lag behind that of the Jobs by any time: only a list that begins
 * after the deletion tells whether it has delivered all pods of a Job.
 */
import { JOB_UID_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { pagesOf } from '../kubernetes/list-pages';
import { pods as podPath } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadIdentity } from '../shared/pod-facts';
import { isLive, type NodeView } from './live-pods';
import { podFacts } from './pod-facts';

export interface DeletedPodsOptions {
  readonly client: Pick<KubernetesClient, 'list'>;
  /** The pods of the workload, as the watch last delivered them. */
  readonly podsOf: (workload: WorkloadIdentity) => readonly Pod[];
  readonly nodes: NodeView;
}

/** A list that has not begun. */
interface NextList {
  readonly uids: Set<string>;
  readonly pods: Promise<readonly Pod[]>;
}

/** A pod that ended uses no node. */
const NOT_ENDED = 'status.phase!=Succeeded,status.phase!=Failed';
/** Pods per page. */
const PAGE_SIZE = 500;

export class DeletedPods {
  /** The uids of Jobs all of whose pods the watch has delivered. */
  private readonly shown = new Set<string>();
  private readonly next = new Map<string, NextList>();
  /** Resolves when the last list of the namespace has ended. */
  private readonly last = new Map<string, Promise<void>>();

  constructor(private readonly options: DeletedPodsOptions) {}

  /** Whether the watch has delivered every pod of the deleted workload that can still run. No pod of it is created again. */
  async areShown(row: WorkloadRow): Promise<boolean> {
    const { kind, uid } = row;
    // Only pods of a Job run before the watch of the pods has shown them.
    if (kind !== 'Job' || this.shown.has(uid)) return true;
    const listed = await this.list(row);
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

  /** Those who ask while a list of the namespace runs share the next one: a thousand Jobs may be deleted at once. */
  private async list(row: WorkloadRow): Promise<readonly Pod[]> {
    const { namespace, uid } = row;
    const list = this.next.get(namespace) ?? this.schedule(namespace);
    list.uids.add(uid);
    return (await list.pods).filter(
      (pod) => podFacts.workloadUids(pod).includes(uid) && podFacts.belongsTo(pod, row),
    );
  }

  private schedule(namespace: string): NextList {
    const uids = new Set<string>();
    const pods = (this.last.get(namespace) ?? Promise.resolve()).then(() => {
      this.next.delete(namespace);
      return this.read(namespace, `${JOB_UID_LABEL} in (${[...uids].join(',')})`);
    });
    const settled = () => undefined;
    this.last.set(namespace, pods.then(settled, settled));
    this.next.set(namespace, { uids, pods });
    return { uids, pods };
  }

  /** Without a resource version the apiserver answers with the latest state. */
  private async read(namespace: string, labelSelector: string): Promise<readonly Pod[]> {
    const selection = { labelSelector, fieldSelector: NOT_ENDED };
    const items: Pod[] = [];
    for await (const page of pagesOf<Pod>(this.options.client, podPath(namespace), selection, PAGE_SIZE))
      items.push(...page.items);
    return items;
  }
}
