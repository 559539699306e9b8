/** The MiniClusters as an area of the term: their watches and work queue, and the changes that enqueue them. */
import { MINICLUSTER_LABEL } from '../../constructs/api/labels';
import { keyOf } from '../kubernetes/cache';
import { jobs, namespaced } from '../kubernetes/paths';
import type { RateLimiter } from '../kubernetes/rate-limiter';
import { Reflector } from '../kubernetes/reflector';
import type { Job, KubernetesObject } from '../kubernetes/types';
import type { ReconcileResult, WorkQueue } from '../kubernetes/work-queue';
import type { WorkloadRow } from '../queue/workload';
import { reconcileQueue } from '../shared/reconcile-queue';
import type { Controller, Shared } from '../shared/shared';
import { createStatusLimiter, type StatusPace } from '../shared/status-limiter';
import type { OwnedObject } from './prune';
import { MiniClusterReconciler } from './reconciler';
import { ReportReceiver } from './report-receiver';
import { Reports, STALE_S } from './reports';
import { MINICLUSTER_API_VERSION, type MiniCluster, miniClusters } from './resource';
import type { StatefulSet } from './workload-status';

/** MiniClusters that are reconciled at the same time. */
const CONCURRENCY = 8;
/** Status writes for new numbers of jobs, which are the least urgent of all. */
const REPORT_PACE: StatusPace = {
  perSecond: { busy: 2, quiet: 10 },
  burst: 10,
  longestWait: 30,
  mostPerSecond: 20,
};

const statefulSets = namespaced('apps', 'v1', 'statefulsets');
const deployments = namespaced('apps', 'v1', 'deployments');
const services = namespaced('', 'v1', 'services');

interface RowSource {
  /** The row of the Job with this uid, active or finished a moment ago. */
  rowOf(uid: string): WorkloadRow | undefined;
}

export class MiniClusterController implements Controller {
  private readonly clusters: Reflector<MiniCluster>;
  private readonly jobs: Reflector<Job>;
  private readonly statefulSets: Reflector<StatefulSet>;
  private readonly ownedObjects: readonly Reflector<KubernetesObject, OwnedObject>[];
  private readonly queue: WorkQueue;
  private readonly reports: Reports;
  private readonly receiver: ReportReceiver;
  private readonly pace: RateLimiter;
  /** Until every resource has been listed, a workload that is not in a cache may exist. */
  private synced = false;

  constructor(
    private readonly shared: Shared,
    rows: RowSource,
  ) {
    const { client, logger, time } = shared;
    const common = { client, logger, clock: time.clock, random: time.random };
    const owned = { ...common, labelSelector: MINICLUSTER_LABEL };
    this.clusters = new Reflector<MiniCluster>({
      ...common,
      path: miniClusters(),
      // A deleted MiniCluster is reconciled too, so that its state is dropped.
      onChange: (key) => this.enqueue(key),
    });
    // The Job or StatefulSet of a MiniCluster has the same name, so it has the same key.
    const onWorkload = (key: string) => this.enqueueExisting(key);
    this.jobs = new Reflector<Job>({ ...owned, path: jobs(), onChange: onWorkload });
    this.statefulSets = new Reflector<StatefulSet>({
      ...owned,
      path: statefulSets(),
      onChange: onWorkload,
    });
    this.ownedObjects = [ownedIn('Service', services()), ownedIn('Deployment', deployments())].map(
      (resource) =>
        new Reflector<KubernetesObject, OwnedObject>({
          ...owned,
          ...resource,
          onChange: (_key, now, before) => this.enqueueExisting(clusterOf((now ?? before)!)),
        }),
    );
    this.reports = new Reports(shared.now);
    const enqueue = (key: string) => this.reportChanged(key);
    this.pace = createStatusLimiter(REPORT_PACE, {
      isBusy: shared.busyness.isBusy,
      clock: time.clock,
      enqueue,
    });
    this.receiver = this.createReceiver();
    const reconciler = this.createReconciler(rows);
    this.queue = reconcileQueue(shared, {
      name: 'miniclusters',
      concurrency: CONCURRENCY,
      reconcile: async (key) => this.withReports(key, await reconciler.reconcile(key)),
    });
  }

  /** Returns at once, because no other area waits for the MiniClusters. */
  start(): void {
    const { workloadCache, grantWaits } = this.shared;
    workloadCache.onChange((row) => this.rowChanged(row));
    grantWaits.changed.subscribe((uid) => this.rowChanged(workloadCache.byUid(uid)));
    const all = this.reflectors();
    for (const reflector of all) reflector.start();
    void Promise.all(all.map(({ synced }) => synced)).then(() => {
      this.synced = true;
      for (const { metadata } of this.clusters.list()) this.enqueue(keyOf(metadata));
    });
  }

  async stop(): Promise<void> {
    for (const reflector of this.reflectors()) reflector.stop();
    this.pace.stop();
    await Promise.all([this.queue.stop(), this.receiver.stop()]);
  }

  /** Numbers that nobody repeats have to leave the status. */
  private withReports(key: string, result: ReconcileResult): ReconcileResult {
    const cluster = this.clusters.get(key);
    if (cluster === undefined || this.reports.of(cluster) === undefined) return result;
    return { after: Math.min(result?.after ?? Infinity, STALE_S * 1000) };
  }

  /** Called again for a key that had to wait. */
  private reportChanged(key: string): void {
    if (this.pace.claim(key)) this.enqueueExisting(key);
  }

  private createReceiver(): ReportReceiver {
    const { client, config, informers, logger, now } = this.shared;
    return new ReportReceiver({
      client,
      settings: config.miniClusters.reports,
      reports: this.reports,
      ownersOf: (key) => {
        const cluster = this.clusters.get(key)?.metadata.uid;
        const workload = (this.jobs.get(key) ?? this.statefulSets.get(key))?.metadata;
        // A Job of the same name can have another owner.
        const isOwned = workload?.ownerReferences?.some(({ uid }) => uid === cluster) === true;
        return cluster === undefined || !isOwned ? undefined : { cluster, workload: workload!.uid };
      },
      podOf: (key) => informers.pods.get(key),
      onChange: (key) => this.reportChanged(key),
      logger,
      now,
    });
  }

  private createReconciler(rows: RowSource): MiniClusterReconciler {
    const { client, events, workloads, grantWaits, logger, now } = this.shared;
    return new MiniClusterReconciler({
      client,
      clusterOf: (key) => this.clusters.get(key),
      clustersIn: (namespace) =>
        this.clusters.list().filter(({ metadata }) => metadata.namespace === namespace),
      jobOf: (key) => this.jobs.get(key),
      statefulSetOf: (key) => this.statefulSets.get(key),
      ownedObjectsOf: (key) =>
        this.ownedObjects.flatMap((reflector) =>
          reflector.list().filter((object) => clusterOf(object) === key),
        ),
      podsOf: (workload) => workloads.podsOf(workload),
      rowOf: (uid) => rows.rowOf(uid),
      waitOf: (uid) => grantWaits.of(uid),
      reportContactOf: ({ metadata: { namespace = '', name } }) => this.receiver.contactOf(namespace, name),
      reportOf: (cluster) => this.reports.of(cluster),
      recordEvent: ({ metadata: { name, namespace = '', uid } }, event) =>
        events.record(
          { apiVersion: MINICLUSTER_API_VERSION, kind: 'MiniCluster', namespace, name, uid },
          event,
        ),
      logger,
      now,
    });
  }

  private reflectors() {
    return [this.clusters, this.jobs, this.statefulSets, ...this.ownedObjects];
  }

  private rowChanged(row: WorkloadRow | undefined): void {
    if (row?.kind === 'Job') this.enqueueExisting(`${row.namespace}/${row.name}`);
  }

  private enqueueExisting(key: string): void {
    if (this.clusters.get(key) !== undefined) this.enqueue(key);
  }

  private enqueue(key: string): void {
    if (this.synced) this.queue.add(key);
  }
}

function ownedIn(kind: OwnedObject['kind'], path: string) {
  return { path, project: ({ metadata }: KubernetesObject): OwnedObject => ({ kind, metadata }) };
}

/** The key of the MiniCluster that the label of the object names. */
function clusterOf({ metadata: { namespace, labels } }: OwnedObject): string {
  return `${namespace}/${labels?.[MINICLUSTER_LABEL]}`;
}
