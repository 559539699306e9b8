/** The objects that may be workloads, and their pods, as the watches last delivered them. */
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { Signal } from '../signal';
import type { Informers } from './informers';
import type { GroupRow, PodFacts, WorkloadIdentity } from './pod-facts';
import { formatKey, type WorkloadKey } from './workload-key';

/** The row of this key that has not ended. */
type ActiveRow = (key: WorkloadKey) => GroupRow | undefined;

interface Assembled {
  readonly pods: readonly Pod[];
  readonly row: GroupRow | undefined;
  readonly object: KubernetesObject | undefined;
}

export class WorkloadObjects {
  /** The object of a workload or one of its pods changed. */
  readonly changed = new Signal<WorkloadKey>();
  /** Groups of pods as they were asked for last: who compares objects finds the same one until one of its pods changes. */
  private readonly groups = new Map<string, Assembled>();

  /** @param activeRow @default - no group of pods has a row */
  constructor(
    private readonly informers: Pick<Informers, 'jobs' | 'pods'>,
    private readonly podFacts: PodFacts,
    private readonly activeRow: ActiveRow = () => undefined,
  ) {
    informers.jobs.changed.subscribe(({ now, before }) => this.changed.emit(jobKey((now ?? before)!)));
    informers.pods.changed.subscribe(({ now, before }) => {
      const key = podFacts.workloadKey((now ?? before)!);
      if (key !== undefined) this.changed.emit(key);
      // A pod may leave its group.
      const former =
        now && before && podFacts.group(before) !== podFacts.group(now) && podFacts.workloadKey(before);
      if (former) this.changed.emit(former);
    });
  }

  get(key: WorkloadKey): KubernetesObject | undefined {
    const { kind, namespace, name } = key;
    const at = `${namespace}/${name}`;
    if (kind === 'Job') return this.informers.jobs.get(at);
    if (kind !== 'Pod') return this.groupOf(key);
    const pod = this.informers.pods.get(at);
    // The group is the workload.
    return pod === undefined || this.podFacts.group(pod) !== undefined ? undefined : pod;
  }

  /** The keys of all objects that may be workloads. */
  *keys(): Iterable<WorkloadKey> {
    for (const job of this.informers.jobs.list()) yield jobKey(job);
    const groups = new Set<string>();
    for (const pod of this.informers.pods.list()) {
      const key = this.podFacts.workloadKey(pod);
      if (key?.kind === 'Pod') yield key;
      if (key === undefined || this.podFacts.group(pod) === undefined) continue;
      const group = formatKey(key);
      // None of its pods may be one of the group that has the row.
      if (!groups.has(group) && this.get(key) !== undefined) yield key;
      groups.add(group);
    }
  }

  /** The uids of all objects that may be workloads. */
  *uids(): Iterable<string> {
    for (const key of this.keys()) {
      const object = this.get(key);
      if (object !== undefined) yield object.metadata.uid;
    }
  }

  /** The pods of this workload. */
  podsOf(workload: WorkloadIdentity): readonly Pod[] {
    const group = this.podFacts.groupOf(workload);
    const { pods } = this.informers;
    const named = group === undefined ? pods.byIndex('workload', workload.uid) : pods.byIndex('group', group);
    return named.filter((pod) => this.podFacts.belongsTo(pod, workload));
  }

  private groupOf(key: WorkloadKey): KubernetesObject | undefined {
    const { namespace, name } = key;
    const pods = this.informers.pods.byIndex('group', `${namespace}/${name}`);
    const row = this.activeRow(key);
    const known = this.groups.get(formatKey(key));
    if (known !== undefined && isSameGrant(known.row, row) && isSame(known.pods, pods)) return known.object;
    const object = this.podFacts.assemble(key, pods, row);
    if (pods.length === 0) this.groups.delete(formatKey(key));
    else this.groups.set(formatKey(key), { pods, row, object });
    return object;
  }
}

function isSameGrant(a: GroupRow | undefined, b: GroupRow | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.uid === b.uid && a.jobspec === b.jobspec && (a.allocation === null) === (b.allocation === null);
}

function isSame(some: readonly Pod[], others: readonly Pod[]): boolean {
  return some.length === others.length && some.every((pod, i) => pod === others[i]);
}

function jobKey({ metadata: { namespace = '', name } }: KubernetesObject): WorkloadKey {
  return { kind: 'Job', namespace, name };
}
