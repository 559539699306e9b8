/** The workloads as an area of the term: their work queue, and the changes that enqueue them. */
import { TimeSlice } from '../clock';
import type { Change } from '../kubernetes/informer';
import type { KubernetesObject } from '../kubernetes/types';
import type { ReconcileResult, WorkQueue } from '../kubernetes/work-queue';
import type { WorkloadRow } from '../queue/workload';
import { reconcileQueue } from '../shared/reconcile-queue';
import { schedulersOf } from '../shared/schedulers';
import type { Controller, Shared } from '../shared/shared';
import type { Resubmission } from '../shared/signals';
import { together } from '../shared/together';
import { formatKey, parseKey, type WorkloadKey } from '../shared/workload-key';
import type { Signal } from '../signal';
import { type ActiveWorkload, isTerminal } from './adapter';
import { DryRuns } from './dry-runs';
import { WorkloadEvents } from './events';
import { adapters } from './index';
import { MutatingAdmission } from './mutating-admission';
import { Owners } from './owner-settings';
import { WorkloadReconciler } from './reconciler';
import { concerns } from './resubmission';
import type { SubmissionBuilder } from './submission';
import { submissionsOf } from './submissions';

/** Workloads that are reconciled at the same time; those of one namespace get half of it. Most of them wait for the database, which takes the calls of all in one statement; the client limits their writes to the apiserver. */
const CONCURRENCY = 256;

interface ChangesOf<T> {
  readonly changed: Signal<Change<T>>;
}

export class WorkloadController implements Controller {
  readonly queue: WorkQueue;
  readonly submissionBuilder: SubmissionBuilder;
  private readonly events: WorkloadEvents;
  private readonly reconciler: WorkloadReconciler;
  private readonly admission: MutatingAdmission;
  private readonly dryRuns: DryRuns;
  private readonly owners: Owners;

  constructor(private readonly shared: Shared) {
    const { events, workloads } = shared;
    this.events = new WorkloadEvents({ events, objectOf: (key) => workloads.get(key) });
    this.admission = new MutatingAdmission({
      ...shared,
      labelsOf: (name) => shared.informers.namespaces.get(name)?.metadata.labels,
    });
    this.owners = new Owners({ client: shared.client, adapters, clock: shared.time.clock });
    this.submissionBuilder = this.createSubmissionBuilder();
    this.dryRuns = this.createDryRuns();
    this.reconciler = this.createReconciler();
    this.queue = reconcileQueue(shared, {
      name: 'workloads',
      concurrency: CONCURRENCY,
      groupOf: (key) => parseKey(key).namespace,
      reconcile: (key) => this.reconcile(key),
    });
  }

  async start(): Promise<void> {
    const slice = new TimeSlice(this.shared.time.clock);
    await this.submissionBuilder.charges.continueWith(this.knownWorkloads(), slice);
    await this.reconciler.load();
    const { signals, workloads, namespaces, nodes, informers, workloadCache } = this.shared;
    this.followDeletions();
    workloads.changed.subscribe((key) => this.enqueue(key));
    signals.reconcileWorkload.subscribe((key) => this.enqueue(key));
    signals.resubmitWaiting.subscribe((resubmission) => this.enqueueWaiting(resubmission));
    signals.resync.subscribe(() => this.enqueueAll());
    const enqueueNamespaces = together((names: ReadonlySet<string>) => this.enqueueNamespaces(names));
    namespaces.changed.subscribe(enqueueNamespaces);
    nodes.deleted.subscribe((name) => this.enqueueRowsOn(name));
    nodes.readinessChanged.subscribe((name) => this.enqueueRowsOn(name));
    // The value of its PriorityClass, or of the default one, is part of a submission.
    informers.priorityClasses.changed.subscribe(() => this.enqueueWaiting());
    // What a RuntimeClass adds to pods is part of a jobspec.
    informers.runtimeClasses.changed.subscribe(() => this.enqueueWaiting());
    // A Job of a namespace with a LimitRange is charged what its pods will request.
    const resubmit = together((names: ReadonlySet<string>) => this.enqueueWaiting({ namespaces: names }));
    informers.limitRanges.changed.subscribe(({ now, before }) =>
      resubmit((now ?? before)!.metadata.namespace ?? ''),
    );
    // What they add to pods is part of a jobspec.
    this.admission.changed.subscribe(together(() => this.enqueueWaiting()));
    this.admission.start();
    this.followVolumes();
    workloadCache.onChange((row) => {
      this.events.rowChanged(row);
      if (row.phase === 'Finished') workloads.ended(row);
    });
  }

  /** What an object says last tells how its workload ended, also if nothing can be recorded at this moment. */
  private followDeletions(): void {
    const { jobs, pods, kinds } = this.shared.informers;
    const { goneEnds } = this.reconciler;
    const follow = <T extends KubernetesObject>(
      { changed }: ChangesOf<T>,
      saw: (object: T, isMissed?: boolean) => void,
    ) =>
      changed.subscribe(({ now, before, isMissed }) => {
        if (before !== undefined && now?.metadata.uid !== before.metadata.uid) saw(before, isMissed);
      });
    follow(jobs, (job, isMissed) => goneEnds.saw(job, adapters.get('Job')!, isMissed));
    follow(pods, (pod) => goneEnds.saw(pod, adapters.get('Pod')!));
    pods.changed.subscribe(({ now }) => {
      if (now !== undefined && isTerminal(now) && now.metadata.deletionTimestamp === undefined)
        goneEnds.saw(now, adapters.get('Pod')!);
    });
    follow(pods, (pod) => goneEnds.sawMember(pod));
    for (const [kind, objects] of kinds)
      follow(objects, (object, isMissed) => goneEnds.saw(object, adapters.get(kind)!, isMissed));
  }

  /** Rows with the objects that they are about. */
  private knownWorkloads(): readonly ActiveWorkload[] {
    const { workloads, workloadCache } = this.shared;
    return [...workloadCache.active()].flatMap((row) => {
      const object = workloads.get(row);
      if (object?.metadata.uid !== row.uid) return [];
      return [{ object, adapter: adapters.get(row.kind)!, row, pods: workloads.podsOf(row) }];
    });
  }

  /** The constraints of a submission follow its claims, free volumes and storage classes. */
  private followVolumes(): void {
    const { claims, volumes, storageClasses } = this.shared.informers;
    claims.changed.subscribe(({ now, before }) => {
      const { namespace, name } = (now ?? before)!.metadata;
      this.enqueueClaimants((row, names) => row.namespace === namespace && names.includes(name));
    });
    volumes.changed.subscribe(() => this.enqueueClaimants(() => true));
    storageClasses.changed.subscribe(() => this.enqueueClaimants(() => true));
  }

  /** Waiting workloads with claims of these names. */
  private enqueueClaimants(isAffected: (row: WorkloadRow, claims: readonly string[]) => boolean): void {
    for (const row of this.shared.workloadCache.active()) {
      const { claims } = row.jobspec.attributes.user ?? {};
      if (claims !== undefined && row.phase === 'Waiting' && isAffected(row, claims)) this.enqueue(row);
    }
    this.queue.repeatRunning();
  }

  async stop(): Promise<void> {
    this.reconciler.stop();
    this.admission.stop();
    await Promise.all([this.queue.stop(), this.dryRuns.stop()]);
  }

  private reconcile(key: string): Promise<ReconcileResult> {
    return this.reconciler.reconcile(parseKey(key));
  }

  private enqueue(key: WorkloadKey): void {
    this.queue.add(formatKey(key));
  }

  /** Enqueues the workloads that nobody has queued yet. */
  enqueueNew(): void {
    const { workloads, workloadCache } = this.shared;
    for (const key of workloads.keys()) {
      const object = workloads.get(key)!;
      const isQueued = workloadCache.byUid(object.metadata.uid) !== undefined;
      const adapter = adapters.get(key.kind)!;
      if (!isQueued && (adapter.isSuspended(object) || adapter.isStaged(object))) this.enqueue(key);
    }
  }

  private enqueueAll(): void {
    for (const key of this.shared.workloads.keys()) this.enqueue(key);
    for (const row of this.shared.workloadCache.active()) this.enqueue(row);
  }

  private enqueueNamespaces(names: ReadonlySet<string>): void {
    for (const key of this.shared.workloads.keys()) if (names.has(key.namespace)) this.enqueue(key);
  }

  private enqueueWaiting(resubmission: Resubmission = {}): void {
    for (const row of this.shared.workloadCache.active()) if (concerns(resubmission, row)) this.enqueue(row);
    // A workload that is being submitted has no row yet, and its jobspec was made before the change.
    this.queue.repeatRunning();
    this.shared.signals.schedule.emit();
  }

  private enqueueRowsOn(node: string): void {
    for (const row of this.shared.workloadCache.active())
      if (row.allocation?.nodes.some(({ name }) => name === node)) this.enqueue(row);
  }

  private createSubmissionBuilder(): SubmissionBuilder {
    const { metrics } = this.shared;
    return submissionsOf(this.shared, {
      owners: this.owners,
      onInvalid: (object, adapter, message) => {
        metrics.invalidWorkloads.inc({ stage: 'intake' });
        this.events.recordEvent(object, adapter, { type: 'Warning', reason: 'Invalid', message });
      },
      mutationsFor: (namespace) => this.admission.versionFor(namespace),
      onLearned: (namespace) => this.enqueueWaiting({ namespaces: new Set([namespace]) }),
      onReduced: (object, adapter, message) =>
        this.events.recordEvent(object, adapter, { type: 'Warning', reason: 'SettingsReduced', message }),
    });
  }

  private createDryRuns(): DryRuns {
    return new DryRuns({
      ...this.shared,
      admission: this.admission,
      charges: this.submissionBuilder.charges,
      onPod: (...given) => this.submissionBuilder.expect(...given),
      enqueue: (key) => this.enqueue(key),
    });
  }

  private createReconciler(): WorkloadReconciler {
    const { client, workloadCache, workloads, nodes, queues, signals, logger, time, now } = this.shared;
    const { config, namespaces, grantWaits, withdrawnGrants, awaitedGrants, metrics } = this.shared;
    return new WorkloadReconciler({
      client,
      workloadCache,
      adapters,
      submissionBuilder: this.submissionBuilder,
      dryRuns: this.dryRuns,
      owners: this.owners,
      objectOf: (key) => workloads.get(key),
      isUnlisted: (key) => workloads.isUnlisted(key),
      podsOf: (workload) => workloads.podsOf(workload),
      namespaces,
      scope: config.namespaces,
      nodes: { exists: (name) => nodes.exists(name), isReady: (name) => nodes.isReady(name) },
      schedulerRuns: schedulersOf(this.shared.informers.pods),
      requeueOf: (queue) => queues.planOf(queue).requeue,
      limits: config.grants,
      onWait: (uid, wait) => grantWaits.set(uid, wait),
      onLingering: (uid, sentence) => grantWaits.setLingering(uid, sentence),
      isWithdrawn: (jobid) => withdrawnGrants.has(jobid),
      isAwaited: ({ jobid, startedAt }) => startedAt === null && awaitedGrants.has(jobid),
      onFreed: (jobid) => signals.unitsFreed.emit({ jobid }),
      onShrunk: (jobid, names) => {
        signals.unitsFreed.emit({ jobid, nodes: names });
        signals.schedule.emit();
      },
      onReduced: (jobid) => {
        signals.unitsFreed.emit({ jobid, isReduced: true });
        signals.schedule.emit();
      },
      onQueueChanged: () => signals.schedule.emit(),
      onUnrecordedGrant: () => signals.audit.emit(),
      enqueue: (key) => this.enqueue(key),
      recordEvent: (object, adapter, note) => this.events.recordEvent(object, adapter, note),
      isBusy: this.shared.busyness.isBusy,
      onRequeued: (cause) => metrics.requeues.inc({ cause }),
      logger,
      clock: time.clock,
      now,
    });
  }
}
