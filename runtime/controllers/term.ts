/**
 * A term: what a leader does from the moment it holds the lease and the fence
 * until it loses them. Everything in it starts from Postgres and the apiserver,
 * so a term after a crash is a term like any other.
 */
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config';
import { FluxqError } from '../errors';
import type { Fluxion, GraphNode } from '../fluxion/types';
import type { ClusterFacts } from '../jobspec/constraints';
import type { KubernetesClient } from '../kubernetes/client';
import { EventRecorder } from '../kubernetes/events';
import type { KubernetesObject } from '../kubernetes/types';
import { type Again, WorkQueue } from '../kubernetes/work-queue';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';
import { Ledger } from '../queue/ledger';
import type { Queue, WorkloadRow } from '../queue/types';
import { adapters } from '../workloads';
import type { WorkloadAdapter } from '../workloads/adapter';
import { Bustle } from './bustle';
import { Caches } from './caches';
import { FluxionGraph } from './fluxion-graph';
import { FluxJobReconciler } from './fluxjob-reconciler';
import { Intake } from './intake';
import { MiniClusters } from './miniclusters';
import { Positions } from './positions';
import { Records } from './records';
import { SchedulingLoop } from './scheduling-loop';
import { type UserEvent, type WorkloadKey, WorkloadReconciler } from './workload-reconciler';

export interface TermOptions {
  readonly config: Config;
  readonly client: KubernetesClient;
  readonly queue: Queue;
  readonly fluxion: Fluxion;
  readonly fence: number;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  /** The database has seen a newer leader: the term is over. */
  readonly onFenced: (error: Error) => void;
}

/** Changes of rows per second from which on the apiserver has better to do than records. */
const BUSY = 5;
/** How often the places of the first in line are shown anew. */
const POSITIONS_MS = 10_000;
/** What no repetition can cure is looked at again this late. */
const REFUSED_MS = 30_000;

export class Term {
  private readonly ledger: Ledger;
  private readonly graph: FluxionGraph;
  private readonly loop: SchedulingLoop;
  private readonly caches: Caches;
  private readonly positions: Positions;
  private readonly bustle = new Bustle();
  private readonly records: Records;
  private readonly events: EventRecorder;
  private readonly workloads: WorkQueue;
  private readonly fluxJobs: WorkQueue;
  private readonly workloadReconciler: WorkloadReconciler;
  private readonly fluxJobReconciler: FluxJobReconciler;
  private readonly miniClusters: MiniClusters;
  private stopped = false;
  /** Until everything has been listed once, what is not in the caches may exist all the same. */
  private synced = false;
  private refresh: NodeJS.Timeout | undefined;
  private facts: ClusterFacts | undefined;

  constructor(private readonly options: TermOptions) {
    const { config, client, queue, fluxion, fence, logger, metrics } = options;
    this.ledger = new Ledger(queue, fence, { onDoubt: () => this.loop.trigger() });
    this.positions = new Positions(this.ledger);
    this.records = new Records(this.ledger, queue);
    this.events = new EventRecorder({
      client,
      logger,
      component: 'fluxqueue-controller',
      instance: hostname(),
    });
    this.graph = new FluxionGraph({
      fluxion,
      fence,
      logger,
      policy: config.fluxion.policy,
      onRebuild: (cause) => metrics.rebuilds.inc({ cause: cause === 'start' ? 'start' : 'doubt' }),
    });
    this.caches = new Caches({
      client,
      logger,
      units: config.units,
      isOurs: (uid) => this.ledger.byUid(uid)?.allocation != null,
      onWorkload: (key) => this.look(key),
      onCapacity: () => this.loop.trigger(),
      onNodeGone: (name) => this.nodeGone(name),
      onFluxJob: (uid, object) => this.fluxJobChanged(uid, object === undefined),
    });
    this.loop = new SchedulingLoop({
      ledger: this.ledger,
      graph: this.graph,
      nodes: () => this.graphNodes(),
      units: config.units,
      foreign: () => this.caches.foreign(),
      queueSettings: () => ({ policy: config.queue.policy, depth: config.queue.depth }),
      onGranted: (row) => this.granted(row),
      onReloaded: () => this.lookAtAll(),
      onFenced: options.onFenced,
      logger,
      metrics,
      now,
    });
    this.workloads = this.workQueue('workloads', 32, (key) => this.workloadReconciler.reconcile(keyOf(key)));
    this.fluxJobs = this.workQueue('fluxjobs', 8, (uid) => this.fluxJobReconciler.reconcile(uid));
    this.workloadReconciler = this.createWorkloadReconciler();
    this.fluxJobReconciler = new FluxJobReconciler({
      client,
      adapters,
      rowOf: (uid) => this.records.rowOf(uid),
      positionOf: (uid) => this.positions.of(uid),
      seen: (namespace, name) => this.caches.fluxJob(namespace, name),
      busy: () => this.bustle.perSecond(now()) > BUSY,
      onSettled: (uid) => this.records.settled(uid),
      now,
    });
    this.miniClusters = new MiniClusters({
      client,
      logger,
      events: this.events,
      podsOf: (uid) => this.caches.podsOf(uid),
      rowOf: (uid) => this.records.rowOf(uid),
      workQueue: (reconcile) => this.workQueue('miniclusters', 8, reconcile),
      now,
    });
    this.ledger.onChange((row) => this.rowChanged(row));
  }

  /** Resolves when the first look at everything is queued; the rest goes on by itself. */
  async start(): Promise<void> {
    await this.ledger.reload();
    await this.caches.start();
    if (this.stopped) return;
    await this.records.recover(this.caches.allFluxJobs());
    if (this.stopped) return;
    this.synced = true;
    this.lookAtAll();
    this.refresh = setInterval(() => this.showPositions(), POSITIONS_MS);
    this.loop.start();
    this.miniClusters.start();
  }

  /** Why nothing is scheduled at the moment; undefined when it is. */
  get trouble(): string | undefined {
    return this.synced ? this.loop.trouble : 'the term is starting';
  }

  /** Ends the term, also one that is still starting: nothing of it writes any more once this resolves. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.refresh);
    await Promise.all([
      this.loop.stop(),
      this.workloads.stop(),
      this.miniClusters.stop(),
      this.caches.stop(),
    ]);
    await this.fluxJobs.stop();
    await this.events.stop();
  }

  private lookAtAll(): void {
    for (const key of this.caches.workloads()) this.look(key);
    for (const row of this.ledger.active()) {
      this.look(row);
      this.fluxJobs.add(row.uid);
    }
    for (const uid of this.records.unsettled()) this.fluxJobs.add(uid);
  }

  private look(key: WorkloadKey): void {
    if (this.synced) this.workloads.add(textOf(key));
  }

  private nodeGone(name: string): void {
    for (const row of this.ledger.active())
      if (row.allocation?.nodes.some((node) => node.name === name)) this.look(row);
  }

  private createWorkloadReconciler(): WorkloadReconciler {
    const { config, client, logger } = this.options;
    return new WorkloadReconciler({
      client,
      ledger: this.ledger,
      adapters,
      intake: new Intake({
        ledger: this.ledger,
        queue: config.queue,
        units: config.units,
        clusterFacts: () => this.caches.clusterFacts(),
        onInvalid: (object, adapter, message) =>
          this.tell(object, adapter, { type: 'Warning', reason: 'Invalid', message }),
        logger,
      }),
      objectOf: (key) => this.caches.objectOf(key),
      podsOf: (uid) => this.caches.podsOf(uid),
      nodeExists: (name) => this.caches.nodeExists(name),
      onFreed: (jobid) => this.graph.cancelLater(jobid),
      onShrunk: (jobid, nodes) => {
        this.graph.shrinkLater(jobid, nodes);
        this.loop.trigger();
      },
      onQueueChanged: () => this.loop.trigger(),
      tell: (object, adapter, event) => this.tell(object, adapter, event),
      now,
    });
  }

  private workQueue(
    name: string,
    concurrency: number,
    reconcile: (key: string) => Promise<Again>,
  ): WorkQueue {
    const { logger, onFenced } = this.options;
    return new WorkQueue({
      name,
      concurrency,
      logger,
      reconcile: async (key) => {
        try {
          return await reconcile(key);
        } catch (error) {
          if (!(error instanceof FluxqError) || error.retryable) throw error;
          if (error.code === 'FLUXQ_FENCED') {
            onFenced(error);
            throw error;
          }
          // Nothing may be forgotten: what is refused today may be accepted when something else has changed.
          logger.error({ queue: name, key, err: error }, error.message);
          return { after: REFUSED_MS };
        }
      },
    });
  }

  /** Jobspecs name labels and taints as the nodes have them: when those change, what waits is written anew. */
  private graphNodes(): ReadonlyMap<string, GraphNode> {
    const facts = this.caches.clusterFacts();
    if (facts !== this.facts && !isDeepStrictEqual(facts, this.facts))
      for (const row of this.ledger.active()) if (row.phase === 'Waiting') this.look(row);
    this.facts = facts;
    return this.caches.graphNodes();
  }

  private granted(row: WorkloadRow): void {
    this.options.metrics.waitSeconds.observe(Math.max(0, now() - row.submittedAt));
    this.look(row);
  }

  private rowChanged(row: WorkloadRow): void {
    this.bustle.change(now());
    this.positions.changed();
    this.records.changed(row);
    this.miniClusters.rowChanged(row);
    this.fluxJobs.add(row.uid);
    if (row.reason === 'Unsatisfiable' && row.phase === 'Waiting') this.tellUnsatisfiable(row);
  }

  private tellUnsatisfiable(row: WorkloadRow): void {
    const object = this.caches.objectOf(row);
    if (object?.metadata.uid === row.uid)
      this.tell(object, adapters.get(row.kind)!, {
        type: 'Warning',
        reason: 'Unsatisfiable',
        message: row.message ?? 'can never be placed on this cluster',
      });
  }

  private tell(
    { metadata }: KubernetesObject,
    { apiVersion, kind }: WorkloadAdapter,
    { type, reason, message }: UserEvent,
  ): void {
    const { namespace = '', name, uid } = metadata;
    this.events.record({ apiVersion, kind, namespace, name, uid }, { type, reason, message });
  }

  /** Deleted by hand, or known from before a restart. */
  private fluxJobChanged(uid: string, deleted: boolean): void {
    if (deleted && this.ledger.byUid(uid) !== undefined) this.fluxJobs.add(uid);
  }

  private showPositions(): void {
    for (const uid of this.positions.first()) this.fluxJobs.add(uid);
    for (const phase of ['Waiting', 'Ready', 'Running'] as const)
      this.options.metrics.workloads.set({ phase }, this.ledger.count(phase));
  }
}

/** Unix seconds. */
function now(): number {
  return Date.now() / 1000;
}

function textOf({ kind, namespace, name }: WorkloadKey): string {
  return `${kind}/${namespace}/${name}`;
}

function keyOf(text: string): WorkloadKey {
  const [kind = '', namespace = '', name = ''] = text.split('/');
  return { kind, namespace, name };
}
