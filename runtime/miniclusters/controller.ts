/**
 * The MiniCluster part of a term: watches the resources and what was made for
 * them, and has each looked at when something of it changes.
 */
import { MINICLUSTER_LABEL } from '../../constructs/api/labels';
import { keyOf } from '../kubernetes/cache';
import { jobs, namespaced } from '../kubernetes/paths';
import { Reflector } from '../kubernetes/reflector';
import type { Job, KubernetesObject } from '../kubernetes/types';
import type { WorkQueue } from '../kubernetes/work-queue';
import type { WorkloadRow } from '../queue/workload';
import { reconcileQueue } from '../shared/reconcile-queue';
import type { Controller, Shared } from '../shared/shared';
import type { OwnedObject } from './prune';
import { MiniClusterReconciler } from './reconciler';
import { MINICLUSTER_API_VERSION, type MiniCluster, miniClusters } from './resource';
import type { StatefulSet } from './workload-status';

const statefulSets = namespaced('apps', 'v1', 'statefulsets');
const deployments = namespaced('apps', 'v1', 'deployments');
const services = namespaced('', 'v1', 'services');

export class MiniClusterController implements Controller {
  private readonly clusters: Reflector<MiniCluster>;
  private readonly jobs: Reflector<Job>;
  private readonly statefulSets: Reflector<StatefulSet>;
  private readonly parts: readonly Reflector<KubernetesObject, OwnedObject>[];
  private readonly queue: WorkQueue;
  private synced = false;

  constructor(
    private readonly shared: Shared,
    fluxJobs: { rowOf(uid: string): WorkloadRow | undefined },
  ) {
    const { client, logger, events, workloads, now } = shared;
    const { clock, random } = shared.time;
    const common = { client, logger, clock, random };
    const made = {
      ...common,
      labelSelector: MINICLUSTER_LABEL,
      onChange: (key: string) => this.enqueue(key),
    };
    this.clusters = new Reflector<MiniCluster>({
      ...common,
      path: miniClusters(),
      // Also one that is gone: what was remembered of it goes too.
      onChange: (key) => this.add(key),
    });
    // A workload bears the name of its cluster.
    this.jobs = new Reflector<Job>({ ...made, path: jobs() });
    this.statefulSets = new Reflector<StatefulSet>({ ...made, path: statefulSets() });
    this.parts = [partsIn('Service', services()), partsIn('Deployment', deployments())].map(
      (part) =>
        new Reflector<KubernetesObject, OwnedObject>({
          ...common,
          labelSelector: MINICLUSTER_LABEL,
          ...part,
          onChange: (_key, now, before) => this.enqueue(clusterOf((now ?? before)!)),
        }),
    );
    const reconciler = new MiniClusterReconciler({
      client,
      clusterOf: (key) => this.clusters.get(key),
      jobOf: (key) => this.jobs.get(key),
      statefulSetOf: (key) => this.statefulSets.get(key),
      ownedObjectsOf: (key) =>
        this.parts.flatMap((reflector) => reflector.list().filter((part) => clusterOf(part) === key)),
      podsOf: (uid) => workloads.podsOf(uid),
      rowOf: (uid) => fluxJobs.rowOf(uid),
      recordEvent: ({ metadata: { name, namespace = '', uid } }, event) =>
        events.record(
          { apiVersion: MINICLUSTER_API_VERSION, kind: 'MiniCluster', namespace, name, uid },
          event,
        ),
      logger,
      now,
    });
    this.queue = reconcileQueue(shared, {
      name: 'miniclusters',
      concurrency: 8,
      reconcile: (key) => reconciler.reconcile(key),
    });
  }

  /** Returns at once: nothing else waits for it. */
  start(): void {
    this.shared.workloadCache.onChange((row) => this.rowChanged(row));
    const all = this.reflectors();
    for (const reflector of all) reflector.start();
    void Promise.all(all.map(({ synced }) => synced)).then(() => {
      this.synced = true;
      for (const { metadata } of this.clusters.list()) this.add(keyOf(metadata));
    });
  }

  /** Its place in the queue, or its end there. */
  private rowChanged({ kind, namespace, name }: WorkloadRow): void {
    if (kind === 'Job') this.enqueue(`${namespace}/${name}`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.reflectors().map((reflector) => reflector.stop()));
    await this.queue.stop();
  }

  private reflectors() {
    return [this.clusters, this.jobs, this.statefulSets, ...this.parts];
  }

  private enqueue(key: string): void {
    if (this.clusters.get(key) !== undefined) this.add(key);
  }

  /** Until everything was listed once, a workload that is not seen may be there all the same. */
  private add(key: string): void {
    if (this.synced) this.queue.add(key);
  }
}

function partsIn(kind: OwnedObject['kind'], path: string) {
  return { path, project: ({ metadata }: KubernetesObject): OwnedObject => ({ kind, metadata }) };
}

/** Key of the cluster that it says it is of. */
function clusterOf({ metadata: { namespace, labels } }: OwnedObject): string {
  return `${namespace}/${labels?.[MINICLUSTER_LABEL]}`;
}
