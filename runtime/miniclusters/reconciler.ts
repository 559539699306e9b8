/**
 * Reconciles one MiniCluster. Each call takes a key (`namespace/name`), reads
 * the resource, its Job or StatefulSet and its row in the queue, applies the
 * manifests that the construct renders, and writes the status. Every step is
 * idempotent.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  brokerSelector,
  objectNames,
  type ReportContact,
  renderMiniCluster,
  validateMiniCluster,
} from '../../constructs/minicluster/index';
import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import { FluxqError } from '../errors';
import { fluxJobName } from '../fluxjobs/status';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import type { EventNote } from '../kubernetes/events';
import { jobs } from '../kubernetes/paths';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch, deleteObject } from '../kubernetes/writes';
import type { Logger } from '../observability/log';
import { secondsOf } from '../workloads/adapter';
import { applyManifest, NOT_SEEN_YET } from './apply';
import { Applying, type ApplyingState } from './applying';
import { createCertificate } from './curve-secret';
import { type DeviceClaimState, withClaimedGpus } from './device-claims';
import { laterDeadline } from './granted-deadline';
import { isWorkload, type Manifest, manifestToApply } from './manifests';
import { type OwnedObject, prune } from './prune';
import { invalidSpec, isRendererChange, nameTaken, rejectEditAfterEnd } from './rejections';
import type { FluxNumbers } from './reports';
import { effectiveSpec } from './resize';
import { type MiniCluster, miniClusters } from './resource';
import { type Applied, REJECTED_RETRY_S, RESYNC_S, resyncAfterMs, unseenSeconds } from './resync';
import { type Rejection, statusOf } from './status';
import { writeStatus } from './status-writer';
import { findWorkload, type Workload, type WorkloadSource } from './workload';

export interface MiniClusterReconcilerOptions extends WorkloadSource {
  readonly client: KubernetesClient;
  /** The MiniCluster of this key, as the watch last delivered it. */
  readonly clusterOf: (key: string) => MiniCluster | undefined;
  /** The MiniClusters of a namespace, as the watch last delivered them. */
  readonly clustersIn: (namespace: string) => readonly MiniCluster[];
  /** Services and Deployments that carry the label of the cluster with this key. */
  readonly ownedObjectsOf: (key: string) => readonly OwnedObject[];
  /** Whom the lead broker of this cluster can report to. */
  readonly reportContactOf: (cluster: MiniCluster) => Promise<ReportContact | undefined>;
  /** What the lead broker of this cluster reported in the last minute. */
  readonly reportOf: (cluster: MiniCluster) => FluxNumbers | undefined;
  readonly recordEvent: (cluster: MiniCluster, event: EventNote) => void;
  readonly logger: Pick<Logger, 'debug'>;
}

/** What this process remembers about one cluster. */
interface ClusterState extends ApplyingState, DeviceClaimState {
  readonly uid: string;
  applied?: Applied;
  hasCertificate?: true;
  /** The status that was written last: the watch may lag behind it. */
  status?: MiniClusterStatus;
}

/** One cluster during one reconcile. */
interface Context {
  readonly key: string;
  readonly cluster: MiniCluster;
  readonly workload: Workload;
  readonly state: ClusterState;
}

interface ApplyResult {
  readonly rejection: Rejection | undefined;
  readonly requeue: ReconcileResult;
  /** Whether the write is repeated at once. */
  readonly repeats?: true;
}

/** The objects of a deleted cluster of the same name may still exist for this time. */
const NEW_CLUSTER_S = 10;
const NAME_TAKEN_RETRY_MS = 1_000;

export class MiniClusterReconciler {
  private readonly states = new Map<string, ClusterState>();
  private readonly applying: Applying;

  constructor(private readonly options: MiniClusterReconcilerOptions) {
    this.applying = new Applying(options);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const seen = this.options.clusterOf(key);
    if (seen === undefined || seen.metadata.deletionTimestamp !== undefined) {
      // The garbage collector deletes the objects of the cluster.
      this.applying.endTurn(key.split('/')[0], this.states.get(key)?.uid);
      this.states.delete(key);
      this.options.logger.debug({ minicluster: key }, 'deleted, nothing to do');
      return undefined;
    }
    const state = this.stateOf(key, seen);
    const cluster = state.status === undefined ? seen : { ...seen, status: state.status };
    const context = { key, cluster, workload: findWorkload(key, cluster, this.options), state };
    const { rejection, requeue } = await this.applyInTurn(context);
    const status = this.buildStatus(context, rejection);
    if (await writeStatus(cluster, status, this.options)) state.status = status;
    if (status.phase === 'Finished' && cluster.spec.cleanup === true) await this.deleteFinished(context);
    return requeue;
  }

  private stateOf(key: string, { metadata: { namespace, uid } }: MiniCluster): ClusterState {
    const known = this.states.get(key);
    if (known?.uid === uid) return known;
    this.applying.endTurn(namespace, known?.uid);
    const state: ClusterState = { uid };
    this.states.set(key, state);
    return state;
  }

  /** A cluster keeps its turn only for a write that is repeated at once. */
  private async applyInTurn(context: Context): Promise<ApplyResult> {
    const { namespace, uid } = context.cluster.metadata;
    let repeats = false;
    try {
      const result = await this.applySpec(context);
      repeats = result.repeats === true;
      return result;
    } catch (error) {
      // It has to be refused for ten seconds in a row.
      delete context.state.refused;
      throw error;
    } finally {
      if (!repeats) this.applying.endTurn(namespace, uid);
    }
  }

  /** Applies the spec as far as the state of the cluster and the apiserver allow. */
  private async applySpec(context: Context): Promise<ApplyResult> {
    const { cluster, workload } = context;
    const { progress, kind } = workload;
    if (progress?.end !== undefined || cluster.status?.phase === 'Finished') {
      this.log(context, 'finished, the spec is not applied');
      return { rejection: rejectEditAfterEnd(cluster), requeue: undefined };
    }
    if (workload.isNameTaken) return this.handleNameTaken(context, nameTaken(cluster));
    const { spec, rejection: notEffective } = effectiveSpec(cluster, progress, kind);
    const effective = await withClaimedGpus(this.options.client, { ...cluster, spec }, context.state);
    const problems = validateMiniCluster(effective);
    if (problems.length > 0) {
      this.log(context, 'invalid spec', { problems: problems.length });
      return { rejection: invalidSpec(problems), requeue: undefined };
    }
    const waits = this.waitsForTurn(context);
    if (waits !== undefined) return this.handleNotSeenYet(context, waits);
    const report = spec.flux?.report === true ? await this.options.reportContactOf(cluster) : undefined;
    const rendered = renderMiniCluster(effective, report === undefined ? {} : { report });
    const manifests = rendered.map((one) => manifestToApply(one, cluster, progress));
    // A cluster is suspended before its manifests are applied: the Job would start the pods that they ask for.
    const suspends = cluster.spec.suspend === true;
    if (suspends) await this.syncSuspend(context);
    const applied = await this.applyManifests(context, manifests);
    if (!suspends) await this.syncSuspend(context);
    if (applied.rejection === undefined) await this.pruneObjects(context, manifests);
    if (applied.rejection?.reason === 'NameTaken') return this.handleNameTaken(context, applied.rejection);
    if (applied.rejection?.reason === NOT_SEEN_YET) return this.handleNotSeenYet(context, applied.rejection);
    await this.applying.end(cluster, context.state);
    return {
      rejection: applied.rejection ?? notEffective ?? laterDeadline(cluster, rendered, progress),
      requeue: { after: resyncAfterMs(cluster, workload, applied) },
    };
  }

  /** The refusal of a cluster that is not written yet, before its manifests are rendered: many may wait. */
  private waitsForTurn({ cluster, workload, state: { applied } }: Context): Rejection | undefined {
    const isWritten =
      workload.progress !== undefined || (applied !== undefined && applied.rejection === undefined);
    return isWritten ? undefined : this.applying.refusalFor(cluster);
  }

  /** Applies the manifests unless these very manifests were applied recently. */
  private async applyManifests(context: Context, manifests: readonly Manifest[]): Promise<Applied> {
    const { state, workload } = context;
    const create = workload.progress === undefined;
    if (this.isUpToDate(context, manifests)) {
      this.log(context, 'manifests are up to date');
      state.applied = { ...state.applied!, unseen: create ? state.applied!.unseen : 0 };
      return state.applied;
    }
    const at = this.options.now();
    const rejection = create
      ? await this.createObjects(context, manifests)
      : await this.updateObjects(context, manifests);
    this.log(context, rejection === undefined ? 'manifests applied' : 'manifests rejected', {
      manifests: manifests.length,
      ...rejection,
    });
    const unseen = create ? (state.applied?.unseen ?? 0) + 1 : 0;
    state.applied = { manifests, at, rejection, unseen };
    return state.applied;
  }

  private isUpToDate({ state: { applied }, workload }: Context, manifests: readonly Manifest[]): boolean {
    if (applied === undefined || !isDeepStrictEqual(applied.manifests, manifests)) return false;
    const age = this.options.now() - applied.at;
    const { rejection } = applied;
    if (rejection !== undefined)
      return age < REJECTED_RETRY_S && rejection.reason !== 'NameTaken' && rejection.reason !== NOT_SEEN_YET;
    return age < (workload.progress === undefined ? unseenSeconds(applied) : RESYNC_S);
  }

  /** Creates the workload last, because its brokers need the other objects and the certificate. */
  private async createObjects(
    context: Context,
    manifests: readonly Manifest[],
  ): Promise<Rejection | undefined> {
    const others = manifests.filter((manifest) => !isWorkload(manifest));
    const rejection = await this.applyInOrder(context, others);
    if (rejection !== undefined) return isRendererChange(context.cluster, rejection) ? undefined : rejection;
    const workloads = manifests.filter(isWorkload);
    return (await this.ensureCertificate(context)) ?? this.applyInOrder(context, workloads);
  }

  /** Updates the workload first: if the apiserver rejects its change, no other object changes either. */
  private async updateObjects(
    context: Context,
    manifests: readonly Manifest[],
  ): Promise<Rejection | undefined> {
    const others = manifests.filter((manifest) => !isWorkload(manifest));
    const rejection = await this.applyInOrder(context, [...manifests.filter(isWorkload), ...others]);
    if (rejection !== undefined && !isRendererChange(context.cluster, rejection)) return rejection;
    return mayUseCertificate(context) ? undefined : this.ensureCertificate(context);
  }

  /** Stops at the first manifest that the apiserver rejects. */
  private async applyInOrder(
    { cluster, workload }: Context,
    manifests: readonly Manifest[],
  ): Promise<Rejection | undefined> {
    for (const manifest of manifests) {
      const { progress } = workload;
      const expected = { version: progress?.unstarted, isUnseen: progress === undefined };
      const rejection = await applyManifest(
        this.options.client,
        manifest,
        cluster.metadata,
        isWorkload(manifest) ? expected : {},
      );
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  }

  /** Only while no broker is ready yet: brokers with different certificates cannot communicate. */
  private async ensureCertificate({ cluster, state, workload }: Context): Promise<Rejection | undefined> {
    if (cluster.spec.flux?.curveCertSecret !== undefined) return undefined;
    try {
      const outcome = await createCertificate(this.options.client, cluster, objectNames(cluster).certificate);
      // Soon after its creation, a Secret of this name may belong to a deleted cluster; later it is its own, or the user's.
      const isOwn = state.hasCertificate === true || workload.progress !== undefined;
      if (outcome === 'exists' && !isOwn && this.isNew(cluster)) return nameTaken(cluster);
    } catch (error) {
      // A quota of the namespace may be full with the Secret that is there.
      if (workload.progress !== undefined && isStatus(error, 403)) return undefined;
      if (!(error instanceof FluxqError) || error.retryable) throw error;
      return { reason: 'Invalid', message: error.message };
    }
    state.hasCertificate = true;
    return undefined;
  }

  private async pruneObjects({ key, cluster }: Context, manifests: readonly Manifest[]): Promise<void> {
    const { client, ownedObjectsOf } = this.options;
    await prune(client, cluster, manifests, ownedObjectsOf(key));
  }

  /** Suspends a running Job. The queue resumes a suspended one; a Job outside the queue is resumed here. */
  private async syncSuspend(context: Context): Promise<void> {
    const { spec, metadata } = context.cluster;
    const { uid, progress, isQueued } = context.workload;
    const suspend = spec.suspend === true;
    if (progress === undefined || progress.suspended === suspend || (isQueued && !suspend)) return;
    if (spec.workload === 'StatefulSet') return;
    this.log(context, suspend ? 'suspending the Job' : 'resuming the Job');
    const body = { metadata: { uid }, spec: { suspend } };
    await applyPatch(this.options.client, jobs(metadata.namespace, metadata.name), { type: 'merge', body });
  }

  /** For a new cluster, waits for the objects of a deleted cluster of the same name to go before it rejects the name. */
  private handleNameTaken(context: Context, rejection: Rejection): ApplyResult {
    if (!this.isNew(context.cluster)) {
      this.log(context, 'name taken', { ...rejection });
      return { rejection, requeue: { after: REJECTED_RETRY_S * 1000 } };
    }
    this.log(context, 'name taken, waiting for the objects of a deleted cluster to go');
    return { rejection: undefined, requeue: { after: NAME_TAKEN_RETRY_MS } };
  }

  /** The apiserver compares with labelled MiniClusters, in a cache that lags behind for moments. */
  private async handleNotSeenYet({ state, cluster }: Context, { message }: Rejection): Promise<ApplyResult> {
    if (await this.applying.begin(cluster, state, message))
      return { rejection: undefined, requeue: { after: this.applying.retryAfterMs(cluster) }, repeats: true };
    return {
      rejection: { reason: 'Forbidden', message },
      requeue: { after: REJECTED_RETRY_S * 1000 },
    };
  }

  private isNew({ metadata }: MiniCluster): boolean {
    return this.options.now() - secondsOf(metadata.creationTimestamp) < NEW_CLUSTER_S;
  }

  private buildStatus({ cluster, workload }: Context, rejection: Rejection | undefined): MiniClusterStatus {
    const { progress, row, wait } = workload;
    return statusOf({
      cluster,
      progress,
      row,
      wait,
      // The queue forgets the row of a finished Job, but its FluxJob remains.
      fluxJob: row === undefined ? cluster.status?.jobid : fluxJobName(row.kind, cluster.metadata.name),
      selector: brokerSelector(cluster),
      rejection,
      flux: cluster.spec.flux?.report === true ? this.options.reportOf(cluster) : undefined,
      now: this.options.now(),
    });
  }

  private async deleteFinished(context: Context): Promise<void> {
    const { name, namespace, uid } = context.cluster.metadata;
    this.log(context, 'finished, deleting the MiniCluster');
    await deleteObject(this.options.client, miniClusters(namespace, name), {
      uid,
      propagationPolicy: 'Background',
    });
  }

  private log(
    { key, workload: { row } }: Context,
    decision: string,
    detail: Readonly<Record<string, unknown>> = {},
  ): void {
    const { logger } = this.options;
    logger.debug({ minicluster: key, queue: row?.queue, jobid: row?.jobid, ...detail }, decision);
  }
}

/** Whether brokers may run with the certificate that the cluster had first. */
function mayUseCertificate({ cluster, workload: { progress } }: Context): boolean {
  if (progress === undefined || progress.pods === 0) return false;
  return progress.ready > 0 || cluster.status?.startTime !== undefined;
}
