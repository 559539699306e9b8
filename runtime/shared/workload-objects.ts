/** The objects that may be workloads, and their pods, as the watches last delivered them. */
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { Signal } from '../signal';
import type { Informers } from './informers';
import type { PodFacts, WorkloadIdentity } from './pod-facts';
import type { WorkloadKey } from './workload-key';

export class WorkloadObjects {
  /** The object of a workload or one of its pods changed. */
  readonly changed = new Signal<WorkloadKey>();

  constructor(
    private readonly informers: Pick<Informers, 'jobs' | 'pods'>,
    private readonly podFacts: PodFacts,
  ) {
    informers.jobs.changed.subscribe(({ now, before }) => this.changed.emit(jobKey((now ?? before)!)));
    informers.pods.changed.subscribe(({ now, before }) => {
      const key = podFacts.workloadKey((now ?? before)!);
      if (key !== undefined) this.changed.emit(key);
    });
  }

  get({ kind, namespace, name }: WorkloadKey): KubernetesObject | undefined {
    const key = `${namespace}/${name}`;
    return kind === 'Job' ? this.informers.jobs.get(key) : this.informers.pods.get(key);
  }

  /** The keys of all objects that may be workloads. */
  *keys(): Iterable<WorkloadKey> {
    for (const job of this.informers.jobs.list()) yield jobKey(job);
    for (const pod of this.informers.pods.list()) {
      const key = this.podFacts.workloadKey(pod);
      if (key?.kind === 'Pod') yield key;
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
    const named = this.informers.pods.byIndex('workload', workload.uid);
    return named.filter((pod) => this.podFacts.belongsTo(pod, workload));
  }
}

function jobKey({ metadata: { namespace = '', name } }: KubernetesObject): WorkloadKey {
  return { kind: 'Job', namespace, name };
}
