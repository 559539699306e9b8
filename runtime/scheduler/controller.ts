/** The scheduling loop and its Fluxion as an area of the term. */
import { QUEUE_DEFAULTS } from '../../constructs/api/queue-defaults';
import { pause } from '../clock';
import { changedLabels } from '../jobspec/cluster-facts';
import type { NodeFacts } from '../jobspec/constraints';
import type { FairUsage } from '../queue/fair-usage';
import type { LeaderView } from '../queue/leader-view';
import type { WorkloadRow } from '../queue/workload';
import type { GraphNode, UnitCounts } from '../resources/types';
import type { Controller, Shared } from '../shared/shared';
import type { Surpluses } from '../shared/surplus';
import { ConservedWork } from './conserved-work';
import { driftInBoth } from './drift';
import { FluxionSync } from './fluxion-sync';
import { SchedulingLoop } from './loop';
import type { RowsAudit } from './loop-options';
import type { Precedence } from './pass/order';
import type { PassResult } from './pass/types';
import { planAfter, type Situation, startableAfter } from './plan-after';
import { mayBePlanned } from './queue-plan';
import { type PlanBudget, StartEstimates } from './start-estimates';
import { ClusterSurroundings } from './surroundings';
import { UnmanagedPods } from './unmanaged-pods';
import { ViewWriter } from './view-writer';

export interface PeriodicAudit extends RowsAudit {
  /** Whether a grant for this waiting row may be committed. */
  mayGrant(row: WorkloadRow): boolean;
}

/** Milliseconds from a difference between Fluxion and the rows to the look that confirms it. */
const SECOND_LOOK_MS = 1_000;

export class Scheduler implements Controller {
  private readonly fluxionSync: FluxionSync;
  private readonly loop: SchedulingLoop;
  private readonly estimates: StartEstimates;
  private readonly conservedWork: ConservedWork;
  private readonly unmanagedPods: UnmanagedPods;
  private readonly viewWriter: ViewWriter;
  private readonly stopping = new AbortController();
  /** Labels and taints of the nodes at the last pass. */
  private facts: NodeFacts | undefined;

  constructor(
    private readonly shared: Shared,
    audit: PeriodicAudit,
  ) {
    const { config, signals } = shared;
    const unmanagedPods = new UnmanagedPods(shared);
    this.unmanagedPods = unmanagedPods;
    const surroundings = new ClusterSurroundings(shared);
    const fairUsage = (now: number) => this.fairUsage(now);
    const given = (budget: PlanBudget) => ({ ...budget, ...unmanagedPods.facts(), surroundings, fairUsage });
    this.estimates = new StartEstimates({
      plan: (result, budget) => planAfter(shared, result, given(budget)),
      clock: shared.time.clock,
      now: shared.now,
      logger: shared.logger,
    });
    this.conservedWork = conservedWorkOf(shared, given);
    this.fluxionSync = new FluxionSync({
      fluxion: shared.fluxion,
      fence: shared.fence,
      logger: shared.logger,
      policy: config.fluxion.policy,
      onRebuild: (cause) => this.reportRebuild(cause),
    });
    this.loop = new SchedulingLoop({
      workloadCache: shared.workloadCache,
      graph: this.fluxionSync,
      nodes: () => this.graphNodes(),
      surroundings,
      units: config.units,
      unmanaged: () => unmanagedPods.usage(),
      surpluses: () => unmanagedPods.surpluses.charges(),
      queueSettings: (name) => shared.queues.byName(name),
      queues: () => shared.queues.all(),
      problemOf: (name) => shared.queues.problemOf(name),
      fairUsage,
      hasLeft: ({ namespace }) => shared.namespaces.hasLeft(namespace),
      isUnlisted: (row) => shared.workloads.isUnlisted(row),
      mayGrant: (row) => audit.mayGrant(row),
      onGranted: (row) => this.granted(row),
      onEvictionRequested: (row) => signals.reconcileWorkload.emit(row),
      onPending: (row) => signals.reconcileWorkload.emit(row),
      audit: { compare: (isReloaded) => this.compare(audit, isReloaded), confirm: () => audit.confirm() },
      auditMs: config.audit.intervalSeconds * 1000,
      onFluxionDiffers: (difference) => this.reportDifference(difference),
      onReloaded: () => signals.resync.emit(),
      onPassed: (result, isSettled) => this.passed(result, isSettled),
      onFenced: shared.onFenced,
      logger: shared.logger,
      metrics: shared.metrics,
      clock: shared.time.clock,
      now: shared.now,
    });
    this.viewWriter = new ViewWriter(shared, () => this.view());
    this.follow();
  }

  private follow(): void {
    const { signals, nodes, namespaces } = this.shared;
    signals.schedule.subscribe(() => this.loop.trigger());
    signals.audit.subscribe(() => this.loop.auditSoon());
    signals.unitsFreed.subscribe(({ jobid, nodes: names, isReduced }) => {
      if (isReduced === true) this.fluxionSync.replaceLater(jobid);
      else if (names === undefined) this.fluxionSync.cancelLater(jobid);
      else this.fluxionSync.shrinkLater(jobid, names);
    });
    nodes.changed.subscribe(() => this.loop.trigger());
    // What waits there may start again, or not any more.
    namespaces.changed.subscribe(() => this.loop.trigger());
    this.unmanagedPods.changed.subscribe(() => this.loop.trigger());
  }

  /** The first pass runs at once. Until then, requests for a pass are ignored. */
  start(): void {
    // Every workload is compared at the start of a term anyway.
    this.facts = this.shared.nodes.clusterFacts();
    this.loop.start();
    this.viewWriter.start();
  }

  /** Resolves when the first pass has succeeded or failed. */
  get tried(): Promise<void> {
    return this.loop.tried;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([
      this.viewWriter.stop(),
      this.loop.stop(),
      this.estimates.stop(),
      this.conservedWork.stop(),
    ]);
  }

  /** What workloads use beyond their grants, as the last pass saw it. */
  get surpluses(): Surpluses {
    return this.unmanagedPods.surpluses;
  }

  /** When a waiting workload without a promise would start by the latest plan, if it may still start. Unix seconds. */
  plannedStartOf(uid: string): number | undefined {
    return this.isPlanned(uid) ? this.estimates.plannedOf(uid) : undefined;
  }

  /** When it would start if workloads ran as long as those of their users usually do; with a promise, too. Unix seconds. */
  likelyStartOf(uid: string): number | undefined {
    return this.isPlanned(uid) ? this.estimates.likelyOf(uid) : undefined;
  }

  private isPlanned(uid: string): boolean {
    const row = this.shared.workloadCache.byUid(uid);
    return row !== undefined && mayBePlanned(row);
  }

  /** Units in use without a grant, by node. */
  unmanaged(): ReadonlyMap<string, UnitCounts> {
    return this.unmanagedPods.usage();
  }

  /** Why no workload is scheduled at this moment; undefined while passes succeed. */
  get trouble(): string | undefined {
    return this.loop.trouble;
  }

  /** The order in which a pass would consider rows at this moment. */
  precedence(): Precedence {
    return this.loop.precedence();
  }

  /** Undefined: fair share is off. */
  private fairUsage(now: number): FairUsage | undefined {
    const { workloadCache, queues, config } = this.shared;
    if (!config.fairShare.enabled) return undefined;
    const weightsOf = (queue: string) => (queues.byName(queue) ?? QUEUE_DEFAULTS).billingWeights;
    return workloadCache.fairUsage(now, weightsOf, this.unmanagedPods.surpluses.charges());
  }

  /** Few jobspecs look at the values of a node label: only these are written again when there are others. */
  private graphNodes(): ReadonlyMap<string, GraphNode> {
    const { nodes, signals } = this.shared;
    const facts = nodes.clusterFacts();
    const labels = this.facts && changedLabels(this.facts, facts);
    if (labels === undefined) signals.resubmitWaiting.emit({});
    else if (labels.size > 0) signals.resubmitWaiting.emit({ labels });
    this.facts = facts;
    return nodes.graphNodes();
  }

  /** Fluxion does not hold what the audit adopts, so it has to be rebuilt before it is asked for units again. */
  private async compare(audit: PeriodicAudit, isReloaded: boolean): Promise<boolean> {
    const before = this.grantedJobs();
    const hasSuspects = await audit.compare(isReloaded);
    const isAdopted = [...this.grantedJobs()].some((jobid) => !before.has(jobid));
    if (isAdopted) this.fluxionSync.invalidate('workloads were adopted');
    return hasSuspects;
  }

  private async view(): Promise<LeaderView> {
    const first = await this.viewNow();
    if (Object.keys(first.drift).length === 0) return first;
    await pause(this.shared.time.clock, SECOND_LOOK_MS, this.stopping.signal);
    const second = await this.viewNow();
    return { ...second, drift: driftInBoth(first.drift, second.drift) };
  }

  private viewNow(): Promise<LeaderView> {
    return this.loop.inspect((reservations) =>
      this.fluxionSync.view({ holders: this.holders(), reservations }),
    );
  }

  private grantedJobs(): ReadonlySet<number> {
    return new Set(this.holders().map(({ jobid }) => jobid));
  }

  private holders(): WorkloadRow[] {
    return [...this.shared.workloadCache.active()].filter(({ allocation }) => allocation !== null);
  }

  private granted(row: WorkloadRow): void {
    const { metrics, now, signals } = this.shared;
    metrics.waitSeconds.observe(Math.max(0, now() - row.submittedAt));
    signals.reconcileWorkload.emit(row);
  }

  private passed(result: PassResult, isSettled: boolean): void {
    this.tellAwaited(result);
    this.estimates.passDone(result);
    if (isSettled) this.conservedWork.settled(result);
  }

  private tellAwaited({ awaited }: PassResult): void {
    const { awaitedGrants, signals } = this.shared;
    const before = new Set(awaitedGrants);
    awaitedGrants.clear();
    for (const { jobid } of awaited) awaitedGrants.add(jobid);
    for (const row of awaited) if (!before.has(row.jobid)) signals.reconcileWorkload.emit(row);
  }

  private reportDifference(difference: string): void {
    const { metrics, logger } = this.shared;
    logger.warn({ repair: 'fluxion-differs', difference }, 'Fluxion and the database differ');
    metrics.repairs.inc({ kind: 'fluxion-differs' });
  }

  /** The rebuild at the start of a term is expected; every later one repairs a difference. */
  private reportRebuild(cause: string): void {
    const { metrics, logger } = this.shared;
    const isFirst = cause === 'start';
    metrics.rebuilds.inc({ cause: isFirst ? 'start' : 'doubt' });
    if (isFirst) return;
    logger.warn({ repair: 'fluxion-rebuilt', cause }, 'rebuilding the Fluxion graph from the database');
    metrics.repairs.inc({ kind: 'fluxion-rebuilt' });
  }
}

function conservedWorkOf(shared: Shared, given: (budget: PlanBudget) => Situation): ConservedWork {
  return new ConservedWork({
    look: (result, budget) => startableAfter(shared, result, given(budget)),
    report: (count) => shared.metrics.startable.set(count),
    clock: shared.time.clock,
    logger: shared.logger,
    ...(shared.looksEveryMs !== undefined && { everyMs: shared.looksEveryMs }),
  });
}
