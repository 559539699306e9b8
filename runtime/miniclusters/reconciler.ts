/**
 * Follows one MiniCluster through its life. Called with a key
 * (`namespace/name`); reads the resource, its workload, its row in the queue;
 * applies what the construct renders; writes the status; says when to look
 * again. Everything it does is safe to do twice.
 */
import { isDeepStrictEqual } from 'node:util';
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import {
  brokerSelector,
  validateMiniCluster,
  objectNames,
  type ValidationIssue,
  formatIssue,
  renderMiniCluster,
} from '../../constructs/minicluster/index';
import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import { FluxqError } from '../errors';
import { fluxJobName } from '../fluxjobs/status';
import { keyOf } from '../kubernetes/cache';
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import { jobs } from '../kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch, deleteObject } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import { secondsOf } from '../workloads/adapter';
import { applyManifest } from './apply';
import { createCertificate } from './curve-secret';
import { applied, isWorkload, type Manifest } from './manifests';
import { type Part, prune } from './prune';
import { planOf, type WorkloadKind } from './resize';
import { type MiniCluster, miniClusters } from './resource';
import { hasStarted, type Refusal, statusOf } from './status';
import { report } from './status-writer';
import { type Progress, progressOfJob, progressOfStatefulSet, type StatefulSet } from './workload-status';

export interface MiniClusterReconcilerOptions {
  readonly client: KubernetesClient;
  /** As last seen, by `namespace/name`. */
  readonly clusterOf: (key: string) => MiniCluster | undefined;
  /** The Job or StatefulSet of this name, whosever it is. */
  readonly jobOf: (key: string) => Job | undefined;
  readonly statefulSetOf: (key: string) => StatefulSet | undefined;
  /** Objects that say they are of the cluster with this key. */
  readonly partsOf: (key: string) => readonly Part[];
  /** The pods that were made for the Job or StatefulSet with this uid. */
  readonly podsOf: (uid: string) => readonly Pod[];
  /** The row of the Job with this uid, active or just finished. */
  readonly rowOf: (uid: string) => WorkloadRow | undefined;
  readonly recordEvent: (cluster: MiniCluster, news: EventNote) => void;
  /** Unix seconds. */
  readonly now: () => number;
}

/** What this process did for one cluster. */
interface Memory {
  readonly uid: string;
  applied?: Applied;
  hasCertificate?: true;
  /** Written last, where the watch may lag behind. */
  status?: MiniClusterStatus;
}

interface Applied {
  readonly manifests: readonly Manifest[];
  /** Unix seconds. */
  readonly at: number;
  readonly refusal: Refusal | undefined;
}

/** Its Job or StatefulSet as it is seen. */
interface Workload {
  readonly uid?: string;
  readonly kind?: WorkloadKind;
  readonly progress?: Progress;
  readonly row?: WorkloadRow | undefined;
  /** The queue starts it. */
  readonly isQueued?: boolean;
  /** One of its name is there and belongs to something else. */
  readonly isTaken?: true;
}

interface Expressed {
  readonly refusal: Refusal | undefined;
  readonly again: ReconcileResult;
}

/** What somebody changed by hand is put right after so long. */
const APPLY_AGAIN_S = 300;
/** What is refused may be accepted later: a quota grows, a policy changes. */
const REFUSED_RETRY_S = 30;
/** Objects of a cluster of this name that was deleted just now go by themselves. */
const SETTLE_S = 10;
const SETTLE_MS = 1_000;
/** Nobody tells us that a pod outside the queue got a node. */
const UNQUEUED_MS = 5_000;

export class MiniClusterReconciler {
  private readonly memories = new Map<string, Memory>();

  constructor(private readonly options: MiniClusterReconcilerOptions) {}

  async reconcile(key: string): Promise<ReconcileResult> {
    const seen = this.options.clusterOf(key);
    if (seen === undefined || seen.metadata.deletionTimestamp !== undefined) {
      // What belongs to it goes with it.
      this.memories.delete(key);
      return undefined;
    }
    const memory = this.recall(key, seen);
    const cluster = memory.status === undefined ? seen : { ...seen, status: memory.status };
    const workload = this.workloadOf(key, cluster);
    const { refusal, again } = await this.express(cluster, workload, memory);
    const status = this.statusOf(cluster, workload, refusal);
    if (await report(cluster, status, this.options)) memory.status = status;
    if (status.phase === 'Finished' && cluster.spec.cleanup === true) await this.cleanUp(cluster);
    return again;
  }

  private recall(key: string, { metadata: { uid } }: MiniCluster): Memory {
    const known = this.memories.get(key);
    if (known?.uid === uid) return known;
    const memory: Memory = { uid };
    this.memories.set(key, memory);
    return memory;
  }

  private workloadOf(key: string, cluster: MiniCluster): Workload {
    const { jobOf, statefulSetOf, podsOf, rowOf } = this.options;
    const job = jobOf(key);
    const set = statefulSetOf(key);
    const own = [job, set].find((object) => object !== undefined && belongsTo(object, cluster));
    if (own === undefined && (cluster.spec.workload === 'StatefulSet' ? set : job) !== undefined)
      return { isTaken: true };
    if (own === undefined) return this.isSweptAway(cluster) ? { progress: lost(this.options.now()) } : {};
    const { uid, labels } = own.metadata;
    const pods = podsOf(uid);
    const isJob = own === job;
    return {
      uid,
      kind: isJob ? 'Job' : 'StatefulSet',
      progress: isJob ? progressOfJob(job!, pods) : progressOfStatefulSet(set!, pods),
      row: rowOf(uid),
      isQueued: labels?.[ADMITTED_LABEL] === 'true',
    };
  }

  /** Kubernetes deletes a Job some time after its end; while no controller looked, that may have been unseen. */
  private isSweptAway({ spec, status }: MiniCluster): boolean {
    const { phase } = status ?? {};
    return spec.ttlSecondsAfterFinished !== undefined && hasStarted(phase) && phase !== 'Finished';
  }

  /** Makes the cluster what its spec says, as far as that can be. */
  private async express(cluster: MiniCluster, workload: Workload, memory: Memory): Promise<Expressed> {
    const { progress, kind, isTaken } = workload;
    if (progress?.end !== undefined || cluster.status?.phase === 'Finished')
      return { refusal: editedAfterEnd(cluster), again: undefined };
    if (isTaken) return this.settle(cluster, nameTaken(cluster));
    const { spec, refusal: kept } = planOf(cluster, progress, kind);
    const effective = { ...cluster, spec };
    const problems = validateMiniCluster(effective);
    if (problems.length > 0) return { refusal: invalid(problems), again: undefined };
    const manifests = renderMiniCluster(effective).map((manifest) => applied(manifest, cluster, progress));
    const done = this.isApplied(memory.applied, manifests, progress)
      ? memory.applied
      : await this.apply(cluster, manifests, progress);
    memory.applied = done;
    await this.holdOrLetGo(cluster, workload);
    const { client, partsOf } = this.options;
    if (done.refusal === undefined) await prune(client, cluster, manifests, partsOf(keyOf(cluster.metadata)));
    if (done.refusal?.reason === 'NameTaken') return this.settle(cluster, done.refusal);
    return { refusal: done.refusal ?? kept, again: { after: nextLook(cluster, done) } };
  }

  private isApplied(
    applied: Applied | undefined,
    manifests: readonly Manifest[],
    progress: Progress | undefined,
  ): applied is Applied {
    if (applied === undefined || !isDeepStrictEqual(applied.manifests, manifests)) return false;
    const age = this.options.now() - applied.at;
    if (applied.refusal !== undefined) return age < REFUSED_RETRY_S && applied.refusal.reason !== 'NameTaken';
    // A workload that was just made may not have reached our cache.
    return age < (progress === undefined ? 1 : APPLY_AGAIN_S);
  }

  private async apply(
    cluster: MiniCluster,
    manifests: readonly Manifest[],
    progress: Progress | undefined,
  ): Promise<Applied> {
    const at = this.options.now();
    return { manifests, at, refusal: await this.applyAll(cluster, manifests, progress !== undefined) };
  }

  /** @returns what the apiserver will not have; the rest is as asked for */
  private async applyAll(
    cluster: MiniCluster,
    manifests: readonly Manifest[],
    isThere: boolean,
  ): Promise<Refusal | undefined> {
    const { client } = this.options;
    const { namespace = '' } = cluster.metadata;
    const workloads = manifests.filter(isWorkload);
    const others = manifests.filter((manifest) => !isWorkload(manifest));
    // Once it is there it goes first: where its change is refused, nothing else changes either.
    const ordered = isThere ? [...workloads, ...others] : others;
    for (const manifest of ordered) {
      const refusal = await applyManifest(client, manifest, namespace);
      if (refusal !== undefined) return this.isOurDoing(cluster, refusal) ? undefined : refusal;
    }
    if (isThere) return undefined;
    const refusal = await this.certify(cluster);
    if (refusal !== undefined) return refusal;
    for (const manifest of workloads) {
      const refused = await applyManifest(client, manifest, namespace);
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  /** What runs is stopped; what stopped is started again by the queue, or, where there is none, by us. */
  private async holdOrLetGo({ spec, metadata }: MiniCluster, workload: Workload): Promise<void> {
    const { uid, progress, isQueued } = workload;
    const suspend = spec.suspend === true;
    if (progress === undefined || progress.suspended === suspend || (isQueued && !suspend)) return;
    const path = jobs(metadata.namespace, metadata.name);
    const body = { metadata: { uid }, spec: { suspend } };
    if (spec.workload !== 'StatefulSet') await applyPatch(this.options.client, path, { type: 'merge', body });
  }

  /** Before its workload, and only then: brokers that run have theirs. */
  private async certify(cluster: MiniCluster): Promise<Refusal | undefined> {
    const memory = this.recall(keyOf(cluster.metadata), cluster);
    if (cluster.spec.flux?.curveCertSecret !== undefined) return undefined;
    try {
      const outcome = await createCertificate(this.options.client, cluster, objectNames(cluster).certificate);
      // What is left of a cluster of this name goes in a moment, and then it is made; otherwise it is its user's.
      if (outcome === 'there' && !memory.hasCertificate && this.isYoung(cluster)) return nameTaken(cluster);
    } catch (error) {
      if (!(error instanceof FluxqError) || error.retryable) throw error;
      return { reason: 'Invalid', message: error.message };
    }
    memory.hasCertificate = true;
    return undefined;
  }

  /** A later version of the renderer makes a template otherwise: no reason to trouble the user of what runs. */
  private isOurDoing({ metadata, status }: MiniCluster, { reason }: Refusal): boolean {
    if (reason !== 'Immutable' || status?.observedGeneration !== metadata.generation) return false;
    return status?.conditions?.find(({ type }) => type === 'Stalled')?.reason !== 'Immutable';
  }

  private isYoung({ metadata }: MiniCluster): boolean {
    return this.options.now() - secondsOf(metadata.creationTimestamp) < SETTLE_S;
  }

  /** What bears its name may be left over from one that was deleted just now. */
  private settle(cluster: MiniCluster, refusal: Refusal): Expressed {
    return this.isYoung(cluster)
      ? { refusal: undefined, again: { after: SETTLE_MS } }
      : { refusal, again: { after: REFUSED_RETRY_S * 1000 } };
  }

  private statusOf(
    cluster: MiniCluster,
    { progress, row }: Workload,
    refusal: Refusal | undefined,
  ): MiniClusterStatus {
    const { name } = cluster.metadata;
    return statusOf({
      cluster,
      progress,
      row,
      // The row of one that is over is forgotten, its record is not.
      fluxJob: row === undefined ? cluster.status?.jobid : fluxJobName(row.kind, name),
      selector: brokerSelector(cluster),
      refusal,
      now: this.options.now(),
    });
  }

  private async cleanUp({ metadata: { name, namespace, uid } }: MiniCluster): Promise<void> {
    await deleteObject(this.options.client, miniClusters(namespace, name), {
      uid,
      propagationPolicy: 'Background',
    });
  }
}

function belongsTo({ metadata }: KubernetesObject, cluster: MiniCluster): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid) ?? false;
}

function lost(now: number): Progress {
  const message = 'its Job is gone, and nobody saw how it ended';
  const end = { result: 'Cancelled', message, finishedAt: now } as const;
  return { wanted: 0, pods: 0, placed: 0, ready: 0, suspended: false, end };
}

function invalid(problems: readonly ValidationIssue[]): Refusal {
  return { reason: 'Invalid', message: problems.map(formatIssue).join('\n') };
}

/** What is over is as it was; that its user wants something else of it is not passed over in silence. */
function editedAfterEnd({ metadata, status }: MiniCluster): Refusal | undefined {
  if (status?.phase !== 'Finished') return undefined;
  const said = status.conditions?.some(({ type, reason }) => type === 'Stalled' && reason === 'Over');
  if (status.observedGeneration === metadata.generation && said !== true) return undefined;
  return { reason: 'Over', message: 'it is over; delete the MiniCluster and apply it anew to run it again' };
}

function nameTaken({ metadata: { name } }: MiniCluster): Refusal {
  return {
    reason: 'NameTaken',
    message: `objects called ${name} belong to something else; give this MiniCluster another name or delete them`,
  };
}

function nextLook(cluster: MiniCluster, { refusal }: Applied): number {
  if (refusal !== undefined) return REFUSED_RETRY_S * 1000;
  const { phase, jobid } = cluster.status ?? {};
  return phase === 'Waiting' && jobid === undefined ? UNQUEUED_MS : APPLY_AGAIN_S * 1000;
}
