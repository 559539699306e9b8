/** Finds the Job or StatefulSet of a MiniCluster and its row in the queue. */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { GrantWait } from '../shared/grant-waits';
import { identityOf, type WorkloadIdentity } from '../shared/pod-facts';
import type { WorkloadKind } from './resize';
import type { MiniCluster } from './resource';
import { hasStarted } from './status';
import { type Progress, progressOfJob, progressOfStatefulSet, type StatefulSet } from './workload-status';

export interface WorkloadSource {
  /** The Job of this key (`namespace/name`), with any owner. */
  readonly jobOf: (key: string) => Job | undefined;
  /** The StatefulSet of this key, with any owner. */
  readonly statefulSetOf: (key: string) => StatefulSet | undefined;
  /** The pods of this Job or StatefulSet. */
  readonly podsOf: (workload: WorkloadIdentity) => readonly Pod[];
  /** The row of the Job with this uid, active or recently finished. */
  readonly rowOf: (uid: string) => WorkloadRow | undefined;
  /** What a granted workload waits for while none of its pods runs. */
  readonly waitOf: (uid: string) => GrantWait | undefined;
  /** Unix seconds. */
  readonly now: () => number;
}

/** The Job or StatefulSet of a cluster; without `uid` and `progress` it does not exist yet. */
export interface Workload {
  readonly uid?: string;
  readonly kind?: WorkloadKind;
  readonly progress?: Progress;
  readonly row?: WorkloadRow | undefined;
  readonly wait?: GrantWait | undefined;
  /** Whether admission has put it under the control of the queue. */
  readonly isQueued?: boolean;
  /** An object of the same name exists, but the MiniCluster does not own it. */
  readonly isNameTaken?: true;
}

export function findWorkload(key: string, cluster: MiniCluster, source: WorkloadSource): Workload {
  const job = source.jobOf(key);
  const set = source.statefulSetOf(key);
  const own = [job, set].find((object) => object !== undefined && isOwnedBy(object, cluster));
  if (own === undefined && (cluster.spec.workload === 'StatefulSet' ? set : job) !== undefined)
    return { isNameTaken: true };
  if (own === undefined)
    return wasDeletedAfterEnd(cluster) ? { progress: endedUnobserved(source.now()) } : {};
  const { uid, labels } = own.metadata;
  const pods = source.podsOf(identityOf(own === job ? 'Job' : 'StatefulSet', own));
  const isJob = own === job;
  return {
    uid,
    kind: isJob ? 'Job' : 'StatefulSet',
    progress: isJob ? progressOfJob(job!, pods) : progressOfStatefulSet(set!, pods),
    row: source.rowOf(uid),
    wait: source.waitOf(uid),
    isQueued: labels?.[ADMITTED_LABEL] === 'true',
  };
}

function isOwnedBy({ metadata }: KubernetesObject, cluster: MiniCluster): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid) ?? false;
}

/** With a TTL, Kubernetes may have deleted the Job after its end while no controller ran. */
function wasDeletedAfterEnd({ spec, status }: MiniCluster): boolean {
  const { phase } = status ?? {};
  return spec.ttlSecondsAfterFinished !== undefined && hasStarted(phase) && phase !== 'Finished';
}

function endedUnobserved(now: number): Progress {
  const message = 'the Job was deleted before its result was observed';
  const end = { result: 'Cancelled', message, finishedAt: now } as const;
  return { desired: 0, pods: 0, scheduled: 0, ready: 0, suspended: false, end };
}
