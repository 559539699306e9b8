/**
 * A simulated cluster: the embedded matcher, rows, and a clock that jumps from event to event. It commits the
 * decisions of a pass as the queue would.
 */

import type { MatchPolicy, QueuePolicy } from '../../../constructs/api/policies';
import type { Fluxion } from '../../../runtime/fluxion/types';
import { newRow } from '../../../runtime/queue/rows';
import type { QueueSettings } from '../../../runtime/queue/settings';
import type { WorkloadRow } from '../../../runtime/queue/workload';
import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import type { GraphNode } from '../../../runtime/resources/types';
import type { FairShare } from '../../../runtime/scheduler/pass/fair-share';
import { NodeChanges } from '../../../runtime/scheduler/pass/node-changes';
import { runPass } from '../../../runtime/scheduler/pass/pass';
import type { PassCache } from '../../../runtime/scheduler/pass/pass-cache';
import type { PlacedPods, Surroundings } from '../../../runtime/scheduler/pass/placed-pods';
import type { Reservation } from '../../../runtime/scheduler/pass/reservations';
import type { PassInput, PassQueue, PassResult } from '../../../runtime/scheduler/pass/types';
import { PlannedEnds } from '../../../runtime/scheduler/planned-ends';
import { simulationFluxion } from './engine';
import type { JobOptions } from './job-options';
import { submissionOf } from './requests';
import { queueSettings } from './settings';
import { doubleGrants, type Eviction, heldOn, holdersIn, type Start } from './simulated-runs';

export const granted = ({ grants }: { grants: readonly { uid: string }[] }) => grants.map(({ uid }) => uid);

export const reserved = (result: { reservations: readonly { uid: string }[] }) =>
  result.reservations.map(({ uid }) => uid);

export function nodesOf(count: number, cores: number): GraphNode[] {
  return Array.from({ length: count }, (_, i) => ({ name: `n${i}`, units: { core: cores } }));
}

export class Simulation {
  now = 1_000;
  readonly rows = new Map<string, WorkloadRow>();
  readonly started: Start[] = [];
  readonly evicted: Eviction[] = [];
  /** uid -> all its estimated starts in order, and its start. */
  readonly estimates = new Map<string, number[]>();
  /** @default - off */
  fairShare: FairShare | undefined;
  /** Pods outside the queue. */
  others: PlacedPods[] = [];
  /** By node: resources that are not units. */
  readonly amounts = new Map<string, Readonly<Record<string, number>>>();
  private readonly labels = new Map<string, Readonly<Record<string, string>>>();
  /** What the user of each asks for, by uid. */
  readonly asked = new Map<string, JobOptions>();
  private readonly runs = new Map<string, number>();
  private readonly leaves = new Map<string, number>();
  private plannedEnds: PlannedEnds;
  /** The reservations after the last pass. */
  reservations: readonly Reservation[] = [];
  private cache: PassCache | undefined;
  private freed = true;
  /** Whether nothing but time or an event would let the next pass decide more. */
  isSettled = false;
  private lastNodes: readonly GraphNode[] | undefined;
  private count = 0;
  /** By name. A queue without an entry has the defaults, with the policy and depth of the simulation. */
  private readonly settings = new Map<string, QueueSettings>();
  private readonly defaults = new Map<string, QueueSettings>();

  private constructor(
    readonly fluxion: Fluxion,
    public nodes: readonly GraphNode[],
    readonly policy: QueuePolicy,
    readonly depth: number,
    readonly match: MatchPolicy,
  ) {
    this.plannedEnds = new PlannedEnds(fluxion);
  }

  static async of(
    nodes: readonly GraphNode[],
    {
      policy = 'easy',
      depth = 100,
      match = 'lonode',
      fluxion: given,
    }: { policy?: QueuePolicy; depth?: number; match?: MatchPolicy; fluxion?: Fluxion | undefined } = {},
  ): Promise<Simulation> {
    const fluxion = given ?? (await simulationFluxion());
    await fluxion.init({ nodes, policy: match, now: 1_000 });
    return new Simulation(fluxion, nodes, policy, depth, match);
  }

  submit(uid: string, options: JobOptions = {}): WorkloadRow {
    this.labels.set(uid, options.labels ?? {});
    this.asked.set(uid, options);
    this.count += 1;
    const row = newRow(submissionOf(uid, { submittedAt: this.now, ...options }), this.count);
    this.runs.set(uid, options.runs ?? row.walltime);
    if (options.leaves !== undefined) this.leaves.set(uid, options.leaves);
    this.rows.set(uid, row);
    return row;
  }

  /** What its user changes while it waits; as the queue does, it gets another job id. @returns whether it waits */
  edit(uid: string, over: JobOptions): boolean {
    const row = this.rows.get(uid);
    if (row?.phase !== 'Waiting') return false;
    const options = { ...this.asked.get(uid), ...over };
    this.asked.set(uid, options);
    this.count += 1;
    const { submittedAt } = row;
    this.change(uid, { ...submissionOf(uid, { ...options, submittedAt }), jobid: this.count });
    return true;
  }

  /** Runs one pass and commits its decisions. */
  async pass(over: Partial<PassInput> = {}): Promise<PassResult> {
    const all = [...this.rows.values()].filter(({ phase }) => phase !== 'Finished');
    const nodes = over.nodes ?? this.nodes;
    await this.planEnds();
    const result = await runPass({
      now: this.now,
      queues: this.queuesOf(all),
      matcher: this.fluxion,
      surroundings: this.surroundings(),
      reservations: this.reservations,
      cache: this.cache,
      freed: this.freed,
      graphGrew: nodes !== this.lastNodes,
      nodeChanges: NodeChanges.between(this.lastNodes, nodes),
      ...(this.fairShare && { fairShare: this.fairShare }),
      ...over,
      nodes,
    });
    this.plannedEnds.granted(result.grants);
    this.cache = result.cache;
    this.freed = false;
    this.lastNodes = nodes;
    this.commit(result);
    return result;
  }

  /** All queues that have rows or settings of their own: an idle one lends its quota. */
  queuesOf(rows: readonly WorkloadRow[]): PassQueue[] {
    const byQueue = Map.groupBy(rows, ({ queue }) => queue);
    const names = new Set([...byQueue.keys(), ...this.settings.keys()]);
    return [...names].map((name) => ({ settings: this.settingsOf(name), rows: byQueue.get(name) ?? [] }));
  }

  /** Makes the ends in Fluxion those that are planned now, as the controller does before a pass. */
  private async planEnds(): Promise<void> {
    const holders = holdersIn(this.rows);
    const { moved, reservations } = await this.plannedEnds.update(
      holders,
      heldOn(this.nodes, holders, this.now),
      this.reservations,
      this.now,
    );
    this.reservations = reservations;
    this.freed ||= moved;
  }

  /** Gives a queue settings of its own. */
  queue(name: string, over: Partial<QueueSettings> = {}): void {
    this.settings.set(name, queueSettings({ name, policy: this.policy, depth: this.depth, ...over }));
  }

  /** The pods of the rows, and `others`. */
  surroundings(): Surroundings {
    return {
      unmanaged: () => this.others,
      repelling: () => this.others.filter(({ traits }) => traits.rules?.apart !== undefined),
      unmanagedOn: (name) => this.others.filter(({ node }) => node === name).length,
      amountsOf: (node) => this.amounts.get(node) ?? {},
      traitsOf: ({ uid, namespace, jobspec }) => {
        const rules = jobspec.attributes.user?.placement;
        return { namespace, labels: this.labels.get(uid) ?? {}, ...(rules && { rules }) };
      },
    };
  }

  private settingsOf(name: string): QueueSettings {
    const { settings, defaults, policy, depth } = this;
    const known = settings.get(name) ?? defaults.get(name) ?? queueSettings({ name, policy, depth });
    defaults.set(name, known);
    return known;
  }

  private commit({ grants, waits, evictions, reservations }: PassResult): void {
    this.reservations = reservations;
    for (const { uid, message, end } of evictions) {
      const allocation = { ...this.row(uid).allocation!, end };
      this.change(uid, { evictionReason: message, allocation });
      this.evicted.push({ uid, message, at: this.now });
    }
    for (const { uid, allocation } of grants) {
      this.change(uid, {
        phase: 'Running',
        reason: null,
        message: null,
        allocation,
        isAfterMet: true,
        estimatedStart: null,
        allocatedAt: this.now,
        startedAt: this.now,
      });
      this.started.push({ uid, start: this.now, allocation });
      this.estimates.get(uid)?.push(this.now);
    }
    for (const { uid, reason, message, estimatedStart } of waits) {
      this.change(uid, { reason, message, estimatedStart });
      if (estimatedStart !== null)
        this.estimates.set(uid, [...(this.estimates.get(uid) ?? []), estimatedStart]);
    }
  }

  change(uid: string, over: Partial<WorkloadRow>): void {
    this.rows.set(uid, { ...this.row(uid), ...over });
  }

  row(uid: string): WorkloadRow {
    return this.rows.get(uid)!;
  }

  /** A new leader: Fluxion is rebuilt from the rows, and nothing else is known. */
  async restart(): Promise<void> {
    await this.rebuild(this.nodes);
    this.cache = undefined;
    this.lastNodes = undefined;
  }

  /** From now on the cluster has these nodes: Fluxion is rebuilt, as the controller does where many have changed. */
  async rebuild(nodes: readonly GraphNode[]): Promise<void> {
    this.nodes = nodes;
    const holders = holdersIn(this.rows);
    const held = heldOn(nodes, holders, this.now);
    await this.fluxion.init({ nodes, policy: this.match, now: this.now });
    await this.fluxion.replay(
      holders.flatMap((holder) => held(holder) ?? []),
      this.now,
    );
    this.plannedEnds = new PlannedEnds(this.fluxion);
    this.plannedEnds.reset(holders, this.now);
    this.reservations = [];
    this.freed = true;
  }

  /** Pods outside the queue use these cores from now on. */
  async occupy(name: string, core: string): Promise<void> {
    const jobid = 2 ** 52 + this.count++;
    const span = { start: this.now, end: this.now + ENDLESS_SECONDS };
    await this.fluxion.replay([{ jobid, ...span, nodes: [{ name, units: { core } }] }], this.now);
  }

  /** Ends a workload: its pods are gone. */
  async finish(uid: string): Promise<void> {
    await this.leave(uid);
    this.change(uid, { phase: 'Finished', result: 'Succeeded', finishedAt: this.now, allocation: null });
  }

  /** Completes an eviction: the pods are gone, and the workload waits again with a new job id. */
  async requeue(uid: string): Promise<void> {
    await this.leave(uid);
    const { evictionReason, preemptions } = this.row(uid);
    this.count += 1;
    this.change(uid, {
      phase: 'Waiting',
      reason: 'Requeued',
      message: evictionReason,
      allocation: null,
      allocatedAt: null,
      startedAt: null,
      evictionReason: null,
      preemptions: preemptions + 1,
      jobid: this.count,
    });
  }

  private async leave(uid: string): Promise<void> {
    await this.fluxion.cancel(this.row(uid).jobid);
    this.freed = true;
    const start = this.started.findLast((s) => s.uid === uid);
    if (start !== undefined) start.end = this.now;
    const eviction = this.evicted.findLast((e) => e.uid === uid);
    if (eviction !== undefined) eviction.gone ??= this.now;
  }

  /**
   * Lets time pass until nothing runs and nothing more can start. A pass runs at every submission, at every end, and
   * when the previous pass asks for one.
   */
  async run(
    arrivals: readonly { readonly at: number; submit(): void | Promise<void> }[] = [],
    afterPass: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const coming = [...arrivals].sort((a, b) => a.at - b.at);
    for (;;) {
      while (coming[0] !== undefined && coming[0].at <= this.now) await coming.shift()!.submit();
      await this.endDue();
      const { nextAt = Number.POSITIVE_INFINITY, more } = await this.pass();
      this.isSettled = !this.freed && !more;
      await afterPass();
      if (this.freed || more) continue;
      const next = Math.min(
        nextAt,
        coming[0]?.at ?? Number.POSITIVE_INFINITY,
        ...this.running().map((running) => Math.min(this.endOf(running), this.leaveOf(running))),
      );
      if (!Number.isFinite(next)) return;
      this.now = next;
    }
  }

  /** Ends what has run for its time, and requeues what was evicted and has left. */
  private async endDue(): Promise<void> {
    for (const running of this.running()) {
      if (this.endOf(running) <= this.now) await this.finish(running.uid);
      else if (this.leaveOf(running) <= this.now) await this.requeue(running.uid);
    }
  }

  private endOf({ uid, start }: Start): number {
    return start + this.runs.get(uid)!;
  }

  /** When the pods of a workload that has to leave are gone. */
  private leaveOf({ uid }: Start): number {
    const leaves = this.leaves.get(uid);
    if (leaves === undefined || this.row(uid).evictionReason === null) return Number.POSITIVE_INFINITY;
    return this.evicted.findLast((eviction) => eviction.uid === uid)!.at + leaves;
  }

  running(): Start[] {
    return this.started.filter(({ end }) => end === undefined);
  }

  startOf(uid: string): number {
    return this.started.find((s) => s.uid === uid)!.start;
  }

  /** Units that two workloads held at the same time; empty if there are none. */
  doubleGrants(): string[] {
    return doubleGrants(this.started);
  }
}
