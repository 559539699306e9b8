/** Checks the invariants during a simulation and at its end. */
import { parseConfig } from '../../runtime/config';
import type { Fluxion } from '../../runtime/fluxion/types';
import type { FluxJobObject, FluxSetupObject } from '../../runtime/kubernetes/custom-resources';
import type { Job, KubernetesObject, Node, Pod } from '../../runtime/kubernetes/types';
import { differences, PersistentDifferences } from '../invariants/agreement';
import { recordedEnds, type SeenChange, TrueEnds } from '../invariants/ends';
import { hasEndedGang, heldNodeViolations } from '../invariants/held-nodes';
import {
  type CountedQuota,
  closedNodeGrants,
  endlessPreemptions,
  QuotaObserver,
  unlawfulPreemptions,
} from '../invariants/limits';
import { doubleGrants, unexplainedChanges } from '../invariants/log';
import type { Interventions, Observation, SeenRecord, Violation } from '../invariants/observation';
import { orderViolations } from '../invariants/order';
import { plansBehindServices } from '../invariants/plans';
import { SurplusQuotaObserver } from '../invariants/surplus-quota';
import { changedTerms } from '../invariants/terms';
import { IdleGrants, unexplainedWaits } from '../invariants/waits';
import type { Features } from './features';
import type { QueueModel } from './queue-model';
import type { SimulatedApiserver } from './simulated-apiserver';
import { pullSecondsOf } from './simulated-cluster';
import { NAMESPACES, type SimulatedUser } from './simulated-user';

const { units, grants } = parseConfig({});

/**
 * Seconds of two passes whose calls are slow: the second one says why a workload waits that changed during the first, and
 * frees in Fluxion what ended during the first.
 */
const PASSES_SECONDS = 15;
/** Seconds in which a node is given back on which no pod will run again: the last pod is over, seen and counted. */
const TAIL_SECONDS = 12;
/** Seconds that a FluxJob may be behind while many workloads start and end, and what a lagging watch adds. */
const SHOWN_SECONDS = 18;

export interface InvariantChecksOptions {
  readonly queue: QueueModel;
  readonly apiserver: SimulatedApiserver;
  readonly user: SimulatedUser;
  readonly features: Features;
  /** Unix seconds of the cluster. */
  readonly now: () => number;
  /** Whether a fault lasts or has just ended: the controller does not see all that happens. */
  readonly isRecovering: () => boolean;
  /** The current Fluxion service. */
  readonly fluxion: () => Fluxion;
}

export class InvariantChecks {
  readonly violations: Violation[] = [];
  private readonly persistent = new PersistentDifferences();
  private readonly inFluxion = new PersistentDifferences(PASSES_SECONDS);
  private readonly inRecords = new PersistentDifferences(SHOWN_SECONDS);
  private readonly unexplained = new PersistentDifferences(PASSES_SECONDS);
  private readonly inTails = new PersistentDifferences(TAIL_SECONDS);
  private readonly ends = new TrueEnds();
  private readonly limits = new WeakMap<object, CountedQuota>();
  private readonly quotas = new QuotaObserver(units.cpuMillis / 1000);
  private readonly surplus = new SurplusQuotaObserver(units.cpuMillis / 1000);
  private readonly idle = new IdleGrants(grants.unschedulableSeconds, pullSecondsOf);
  /** Number of events whose grants are checked. */
  private checkedEvents = 0;

  constructor(private readonly options: InvariantChecksOptions) {
    this.follow('jobs', (job, change) => this.ends.sawJob(job as Job, change));
    this.follow('pods', (pod, change) => this.ends.sawPod(pod as Pod, change));
  }

  private follow(resource: string, saw: (object: KubernetesObject, change: SeenChange) => void): void {
    const { apiserver, now, isRecovering } = this.options;
    const { store } = apiserver;
    let cursor = store.latest;
    store.onChange(resource, () => {
      const changes = store.since(resource, cursor) ?? [];
      cursor = store.latest;
      for (const { object, type } of changes)
        saw(object, { isGone: type === 'DELETED', isUnseen: isRecovering(), at: now() });
    });
  }

  /** The database knows nothing of what happened since its backup. */
  restored(): void {
    this.ends.forgotten();
  }

  /** Every workload has ended that can, and what is known of it has been written. */
  settled(): void {
    const { queue, features } = this.options;
    if (!features.ends) return;
    const areClocksRight = !(features.clockJumps || features.restores);
    this.violations.push(...this.ends.violations(queue.all, areClocksRight), ...this.recordedEnds());
  }

  private recordedEnds(): Violation[] {
    const { queue, apiserver, features } = this.options;
    if (!features.ends) return [];
    const { jobs, pods } = this.objects();
    const existing = [...jobs, ...pods].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const records = apiserver.store.list<FluxJobObject>('fluxjobs');
    return [
      ...recordedEnds(queue.all, records, new Set(existing.map(({ metadata }) => metadata.uid))),
      ...this.ends.unrecorded(records),
    ];
  }

  /**
   * Checks the current state. Differences count if they last too long.
   * @param at Unix seconds of the cluster
   * @param isRecovering whether a fault lasts or has just ended
   */
  async observe(at: number, isRecovering: boolean): Promise<void> {
    if (isRecovering) for (const lasting of this.lasting) lasting.reset();
    else this.violations.push(...(await this.differences(at)));
    const seen = { ...this.objects(), rows: this.options.queue.all };
    this.checkLimits(at, seen, isRecovering);
    const withPods = seen.rows.filter(
      ({ uid }) => !hasEndedGang(seen.jobs.find(({ metadata }) => metadata.uid === uid)),
    );
    this.violations.push(
      ...this.idle.observe(
        at,
        { ...seen, rows: withPods },
        isRecovering,
        this.options.user.tails.takeDeleted(),
      ),
    );
  }

  /** A new leader knows nothing of the past. */
  restarted(): void {
    this.idle.reset();
  }

  private get lasting(): readonly PersistentDifferences[] {
    return [this.persistent, this.inFluxion, this.inRecords, this.unexplained, this.inTails];
  }

  private async differences(at: number): Promise<Violation[]> {
    const seen = await this.observation();
    const found = differences(seen);
    const toleratedBy = ({ text }: Violation) =>
      text.includes('Fluxion') ? this.inFluxion : text.includes('FluxJob') ? this.inRecords : this.persistent;
    const bySource = Map.groupBy(
      [...found, ...plansBehindServices(seen), ...this.recordedEnds()],
      toleratedBy,
    );
    return [
      ...[this.persistent, this.inFluxion, this.inRecords].flatMap((lasting) =>
        lasting.observe(at, bySource.get(lasting) ?? []),
      ),
      ...this.unexplained.observe(at, unexplainedWaits(seen)),
      ...(this.options.features.tails ? this.inTails.observe(at, heldNodeViolations(seen)) : []),
    ];
  }

  /** Checks the whole event log. */
  finish(): void {
    const { user, apiserver, queue, features } = this.options;
    const { events, all } = queue;
    const interventions: Interventions = {
      disturbances: user.nodes.disturbances,
      losses: user.nodes.losses,
      services: features.services,
      closures: user.nodes.closures,
      changes: user.changes,
      queueChanges: user.queues.changes,
      injectedSince: user.enlargements.injectedSince,
      progressed: apiserver.progressed,
      stopped: new Set([...user.stopped, ...apiserver.unadmitted]),
      comparable: this.comparable,
    };
    const seen = { ...this.objects(), rows: all, events, fluxion: { jobs: [], nodes: [] } };
    this.violations.push(
      ...doubleGrants(events),
      // Who has borrowed quota has not to agree.
      ...(this.options.features.cohorts ? endlessPreemptions(all) : unlawfulPreemptions(events, all)),
      ...unexplainedChanges(seen, interventions),
      // What a webhook adds to the pods of a template is charged from then on, until it adds it no more.
      ...(this.options.features.enlargements ? [] : changedTerms(events, interventions)),
      ...orderViolations(events, all, interventions),
    );
  }

  /** No estimate may be postponed, and no clock is wrong. */
  private get comparable(): boolean {
    const { faults, services, slowPods, queues } = this.options.features;
    return !(faults || services || slowPods || queues);
  }

  /** Checks quotas and the latest grants. A workload that was adopted after a restore may exceed a quota. */
  private checkLimits(at: number, seen: Pick<Observation, 'rows' | 'pods'>, isRecovering: boolean): void {
    const { queue, apiserver, user, features } = this.options;
    const latest = queue.events.slice(this.checkedEvents);
    this.checkedEvents = queue.events.length;
    if (features.restores) return;
    const quotaOf = (name: string) => {
      const spec = apiserver.store.get<FluxSetupObject>('fluxsetups', name)?.spec;
      return spec && this.limitOf(spec);
    };
    // A bare pod whose grant was taken back is adopted when kube-scheduler binds it after all.
    const adopted = new Set(latest.filter(({ event }) => event === 'Adopted').map(({ uid }) => uid));
    const queues = new Set(queue.all.filter(({ uid }) => adopted.has(uid)).map((row) => row.queue));
    const isExcused = (name: string) => isRecovering || queues.has(name);
    this.violations.push(...this.quotas.observe(at, queue.all, quotaOf, isExcused));
    const coresOf = (name: string) => {
      const { cores } = quotaOf(name) ?? {};
      return cores === undefined ? undefined : Number(cores);
    };
    if (features.enlargements) this.violations.push(...this.surplus.observe(at, seen, coresOf, isExcused));
    if (!isRecovering) this.violations.push(...closedNodeGrants(latest, user.nodes.closedSince));
  }

  /** The quota, with what the queue may borrow. The same object for a spec. */
  private limitOf(spec: FluxSetupObject['spec']): CountedQuota | undefined {
    if (spec.cohort === undefined) return spec.quota as CountedQuota | undefined;
    const { cores = 0 } = spec.quota ?? {};
    const borrowed = spec.borrowing?.cores;
    const limit = this.limits.get(spec) ?? {
      ...(borrowed !== undefined && { cores: String(Number(cores) + Number(borrowed)) }),
    };
    this.limits.set(spec, limit);
    return limit;
  }

  private objects(): Pick<Observation, 'jobs' | 'pods' | 'nodes' | 'records' | 'enlarged'> {
    const { store, unadmitted } = this.options.apiserver;
    return {
      records: store.list<SeenRecord>('fluxjobs'),
      enlarged: new Set([...this.options.user.enlargements.uids, ...unadmitted]),
      jobs: store.list<Job>('jobs').filter(isQueued),
      pods: store.list<Pod>('pods').filter(isQueued),
      nodes: store.list<Node>('nodes'),
    };
  }

  private async observation(): Promise<Observation> {
    const { queue, fluxion } = this.options;
    const state = await fluxion()
      .state()
      .catch(() => ({ jobs: [], nodes: [] }));
    return { ...this.objects(), rows: queue.all, events: queue.events, fluxion: state };
  }
}

function isQueued({ metadata: { namespace = '' } }: KubernetesObject): boolean {
  return NAMESPACES.includes(namespace);
}
