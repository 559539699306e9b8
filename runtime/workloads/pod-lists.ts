/**
 * Lists of the pods of Jobs, for what the watch of the pods has not shown: it may lag behind that of the Jobs by any time, and only
 * a list that begins after a change of a Job tells whether it has delivered all pods.
 */
import { JOB_UID_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { pagesOf } from '../kubernetes/list-pages';
import { pods as podPath } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { podFacts } from './pod-facts';

/** A list that has not begun. */
interface NextList {
  readonly uids: Set<string>;
  readonly pods: Promise<readonly Pod[]>;
}

/** Pods per page. */
const PAGE_SIZE = 500;

export class PodLists {
  private readonly next = new Map<string, NextList>();
  /** Resolves when the last list of the namespace has ended. */
  private readonly last = new Map<string, Promise<void>>();

  /** @param fieldSelector which pods are listed @default - all */
  constructor(
    private readonly client: Pick<KubernetesClient, 'list'>,
    private readonly fieldSelector?: string,
  ) {}

  /** Those who ask while a list of the namespace runs share the next one: a thousand Jobs may end or be deleted at once. */
  async of(row: WorkloadRow): Promise<readonly Pod[]> {
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
    const { client, fieldSelector } = this;
    const selection = { labelSelector, ...(fieldSelector !== undefined && { fieldSelector }) };
    const items: Pod[] = [];
    for await (const page of pagesOf<Pod>(client, podPath(namespace), selection, PAGE_SIZE))
      items.push(...page.items);
    return items;
  }
}
