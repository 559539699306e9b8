/**
 * Keeps Fluxion equal to the cluster: its graph to the nodes, its allocations to the rows of the queue and to the pods
 * outside it. When anything about its state is uncertain, Fluxion is stale and is rebuilt before the next pass. There
 * is one caller at a time (the scheduling loop), and nothing else calls Fluxion.
 */
import type { MatchPolicy } from '../../constructs/api/policies';
import { FluxqError, hasCode, messageOf } from '../errors';
import type { Fluxion } from '../fluxion/types';
import type { Logger } from '../observability/log';
import type { LeaderView } from '../queue/leader-view';
import type { WorkloadRow } from '../queue/workload';
import type { GraphNode, UnitCounts } from '../resources/types';
import { driftOf, jobDifferences, nodeDifferences } from './drift';
import { type FittedAllocations, type MovedJobs, movedAgain } from './fit-allocations';
import { diffGraph, onlyShrank, replacedNodes } from './graph-diff';
import type { Reservation } from './pass/reservations';
import type { Grant } from './pass/types';
import { PlannedEnds } from './planned-ends';
import { heldAllocations, replayAll } from './replay';
import { UnmanagedUsage } from './unmanaged-usage';

export interface FluxionSyncOptions {
  readonly fluxion: Fluxion;
  readonly policy: MatchPolicy;
  /** The leader's fence: Fluxion refuses callers with a lower one. */
  readonly fence: number;
  readonly logger: Logger;
  /** Called before each rebuild. The cause of the first is `start`. */
  readonly onRebuild: (cause: string) => void;
}

/** What Fluxion has to hold before a pass. */
export interface DesiredState {
  /** Unix seconds. */
  readonly now: number;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Rows with an allocation. */
  readonly holders: readonly WorkloadRow[];
  /** Units in use on each node by pods outside the queue. */
  readonly unmanaged: ReadonlyMap<string, UnitCounts>;
  /** Reservations of the previous pass. */
  readonly reservations: readonly Reservation[];
}

export interface SyncResult {
  /** Whether units became free: requests that were refused may fit now. */
  readonly freed: boolean;
  /** Reservations that Fluxion still holds. */
  readonly reservations: readonly Reservation[];
}

const NO_NODES: ReadonlySet<string> = new Set();
/** When more than this share of the nodes has to be replaced, a rebuild costs less. */
const MOST_REPLACED = 1 / 4;

export class FluxionSync {
  /** Why Fluxion has to be rebuilt; undefined: it is in sync. */
  private staleCause: string | undefined = 'start';
  private isFirstBuild = true;
  private nodes = new Map<string, GraphNode>();
  private readonly cancels = new Set<number>();
  private readonly reduced = new Set<number>();
  private shrinks: { readonly jobid: number; readonly nodes: readonly string[] }[] = [];
  private readonly unmanaged: UnmanagedUsage;
  private readonly plannedEnds: PlannedEnds;
  /** What jobs hold that have other units than they were granted. */
  private moved: MovedJobs = new Map();

  constructor(private readonly options: FluxionSyncOptions) {
    this.plannedEnds = new PlannedEnds(options.fluxion);
    this.unmanaged = new UnmanagedUsage(options.fluxion, options.logger);
  }

  /** Whether Fluxion has to be rebuilt before it is asked again. */
  get isStale(): boolean {
    return this.staleCause !== undefined;
  }

  /** Marks Fluxion as stale. The first cause counts. */
  invalidate(cause: string): void {
    this.staleCause ??= cause;
  }

  /** Fluxion holds the grants of a pass. */
  granted(grants: readonly Grant[]): void {
    this.plannedEnds.granted(grants);
  }

  /** Frees this job before the next pass. */
  cancelLater(jobid: number): void {
    this.cancels.add(jobid);
  }

  /** Frees these nodes of this job before the next pass. */
  shrinkLater(jobid: number, nodes: readonly string[]): void {
    this.shrinks.push({ jobid, nodes });
  }

  /** Before the next pass, this job gets what its row holds then, with fewer units on some node. */
  replaceLater(jobid: number): void {
    this.reduced.add(jobid);
  }

  /** Makes Fluxion equal to `desired`. On any error Fluxion is stale; the next call tries again. */
  async sync(desired: DesiredState): Promise<SyncResult> {
    try {
      const replaced = this.isStale ? NO_NODES : this.replacedNodes(desired);
      if (this.isStale || replaced.size > desired.nodes.size * MOST_REPLACED) {
        // Jobs that were to be freed are no holders any more. What is freed during the replay must be freed after it.
        this.cancels.clear();
        this.shrinks = [];
        this.reduced.clear();
        return await this.syncUnmanaged(desired, await this.rebuild(desired));
      }
      return await this.syncUnmanaged(desired, await this.adjust(desired, replaced));
    } catch (error) {
      this.invalidate(messageOf(error));
      throw error;
    }
  }

  /**
   * Compares what Fluxion holds with `desired`. If they differ, Fluxion is stale.
   * @param isCurrent false for a row that has changed since: nothing can be said about it
   * @returns the first difference
   */
  async verify(
    { nodes, holders, reservations }: DesiredState,
    isCurrent: (holder: WorkloadRow) => boolean,
  ): Promise<string | undefined> {
    const { moved } = this;
    const { jobs } = await this.options.fluxion.state();
    for (const { text } of jobDifferences(jobs, { nodes, holders, moved, reservations }, isCurrent)) {
      this.invalidate(text);
      return text;
    }
    return undefined;
  }

  /** Fluxion as it is, and how it differs from `desired`; between two passes. It changes nothing. */
  async view({ holders, reservations }: Pick<DesiredState, 'holders' | 'reservations'>): Promise<LeaderView> {
    const state = await this.options.fluxion.state().catch(messageOf);
    if (typeof state === 'string') return { bootId: '', nodes: [], reservations, stale: state, drift: {} };
    const { bootId, nodes, jobs } = state;
    const known = { bootId, nodes, reservations };
    if (this.staleCause !== undefined) return { ...known, stale: this.staleCause, drift: {} };
    // What the next pass frees is no difference.
    const freed = new Set([...this.cancels, ...this.reduced, ...this.shrinks.map(({ jobid }) => jobid)]);
    const wanted = { nodes: this.nodes, holders, moved: this.moved, reservations };
    const current = jobs.filter(({ jobid }) => !freed.has(jobid));
    const ofJobs = jobDifferences(current, wanted, ({ jobid }) => !freed.has(jobid));
    return { ...known, drift: driftOf([...nodeDifferences(nodes, this.nodes), ...ofJobs]) };
  }

  /** Fluxion, for a pass. @throws FluxqError FLUXQ_FLUXION_IN_DOUBT while it is stale */
  get matcher(): Fluxion {
    if (!this.isStale) return this.options.fluxion;
    throw new FluxqError('FLUXQ_FLUXION_IN_DOUBT', `the graph must be rebuilt first (${this.staleCause})`, {
      retryable: true,
    });
  }

  private replacedNodes({ nodes, holders }: DesiredState): ReadonlySet<string> {
    return replacedNodes(
      this.nodes,
      nodes,
      holders.map(({ allocation }) => allocation!),
    );
  }

  /** A rebuild cancels all reservations, and after it everything may fit again. */
  private async rebuild({ now, nodes, holders }: DesiredState): Promise<SyncResult> {
    const { fluxion, policy, fence, logger, onRebuild } = this.options;
    const cause = this.staleCause ?? 'nodes changed';
    this.invalidate(cause);
    onRebuild(cause);
    this.unmanaged.clear();
    const { byJob, moved } = heldAllocations(holders, nodes, now);
    const allocations = [...byJob.values()];
    // At the start of a term nothing is in doubt yet: the standby may have kept its Fluxion equal to the rows.
    const warm = this.isFirstBuild;
    this.isFirstBuild = false;
    const init = { nodes: [...nodes.values()], policy, now, fence, warm };
    await replayAll(fluxion, init, allocations, logger);
    this.plannedEnds.reset(holders, now);
    this.moved = moved;
    this.nodes = new Map(nodes);
    this.staleCause = undefined;
    logger.info({ cause, nodes: nodes.size, allocations: allocations.length }, 'graph rebuilt');
    return { freed: true, reservations: [] };
  }

  private async adjust(desired: DesiredState, replaced: ReadonlySet<string>): Promise<SyncResult> {
    // A row that loses more units meanwhile is replaced again.
    const reduced = new Set(this.reduced);
    this.reduced.clear();
    const { freed, ended } = await this.freeJobs();
    // A job that ended since the snapshot was freed just now: a later end must not bring it back.
    const holders = desired.holders.filter(({ jobid }) => !ended.has(jobid));
    try {
      const synced = await this.follow({ ...desired, holders }, replaced, reduced);
      return { ...synced, freed: synced.freed || freed };
    } catch (error) {
      // Something else holds the units of a job. A pass that fails would lose all promises.
      if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
      this.invalidate(error.message);
      return await this.rebuild({ ...desired, holders });
    }
  }

  private async follow(
    given: DesiredState,
    replaced: ReadonlySet<string>,
    reduced: ReadonlySet<number>,
  ): Promise<SyncResult> {
    const { now, nodes, holders } = given;
    const { removed, added, up, down } = diffGraph(this.nodes, nodes, replaced);
    const { fluxion } = this.options;
    const onOthers = await this.cancelReservationsOn(removed, given.reservations);
    if (removed.length > 0) await fluxion.removeNodes(removed);
    for (const name of removed) this.unmanaged.forget(name);
    if (added.length > 0) await fluxion.addNodes(added);
    if (up.length > 0) await fluxion.setStatus(up, true);
    if (down.length > 0) await fluxion.setStatus(down, false);
    let fitted: FittedAllocations | undefined;
    const fit = () => {
      fitted ??= heldAllocations(holders, nodes, now, this.moved);
      return fitted;
    };
    const reservations =
      replaced.size + reduced.size + this.moved.size > 0
        ? await this.replace({ ...given, reservations: onOthers }, fit(), { replaced, reduced })
        : onOthers;
    const grown = this.haveGrown(nodes, replaced);
    this.nodes = new Map(nodes);
    const plan = await this.plannedEnds.update(
      holders,
      ({ jobid }) => fit().byJob.get(jobid),
      reservations,
      now,
    );
    return {
      freed: grown || reduced.size > 0 || removed.length > 0 || plan.moved,
      reservations: plan.reservations,
    };
  }

  private haveGrown(nodes: DesiredState['nodes'], replaced: ReadonlySet<string>): boolean {
    return [...replaced].some((name) => {
      const before = this.nodes.get(name);
      return before === undefined || !onlyShrank(before, nodes.get(name)!);
    });
  }

  /**
   * Gives these nodes their present units, under the jobs that hold them, and each job the units that it can hold now. To
   * replay everything would cost as much as all nodes, each time an agent starts on one of them.
   * @param reduced jobs that hold fewer units than before
   * @returns the reservations on other nodes
   */
  private async replace(
    { now, nodes, holders, reservations }: DesiredState,
    { byJob, moved }: FittedAllocations,
    { replaced, reduced }: { readonly replaced: ReadonlySet<string>; readonly reduced: ReadonlySet<number> },
  ): Promise<readonly Reservation[]> {
    const { fluxion } = this.options;
    const changes = movedAgain(this.moved, moved);
    const changed = new Set([...replaced, ...[...changes.values()].flat()]);
    const kept = await this.cancelReservationsOn([...changed], reservations);
    // Pods outside the queue get what the jobs leave.
    await this.unmanaged.release(changed);
    const affected = holders.filter(
      ({ jobid, allocation }) =>
        reduced.has(jobid) || changes.has(jobid) || allocation!.nodes.some(({ name }) => replaced.has(name)),
    );
    for (const { jobid } of affected) await fluxion.cancel(jobid);
    if (replaced.size > 0) {
      await fluxion.removeNodes([...replaced].filter((name) => this.nodes.has(name)));
      await fluxion.addNodes([...replaced].map((name) => nodes.get(name)!));
    }
    const allocations = affected.flatMap(({ jobid }) => byJob.get(jobid) ?? []);
    if (allocations.length > 0) await fluxion.replay(allocations, now);
    this.moved = moved;
    return kept;
  }

  /** @returns whether units became free, and the jobs that hold nothing any more */
  private async freeJobs(): Promise<{ freed: boolean; ended: ReadonlySet<number> }> {
    const { fluxion } = this.options;
    const shrinks = this.shrinks.splice(0);
    for (const { jobid, nodes } of shrinks) await fluxion.partialCancel(jobid, nodes);
    const ended = new Set<number>();
    // The set also yields jobs that are added meanwhile.
    for (const jobid of this.cancels) {
      await fluxion.cancel(jobid);
      this.cancels.delete(jobid);
      ended.add(jobid);
    }
    return { freed: shrinks.length > 0 || ended.size > 0, ended };
  }

  private async syncUnmanaged(
    { now, nodes, unmanaged }: DesiredState,
    { freed, reservations }: SyncResult,
  ): Promise<SyncResult> {
    const changed = this.unmanaged.changedNodes(nodes, unmanaged, freed);
    if (changed.length === 0) return { freed, reservations };
    const kept = await this.cancelReservationsOn(changed, reservations);
    await this.unmanaged.update(changed, unmanaged, now);
    return { freed: true, reservations: kept };
  }

  /** Pods outside the queue run already: a reservation must not keep their units. @returns the other reservations */
  private async cancelReservationsOn(
    names: readonly string[],
    reservations: readonly Reservation[],
  ): Promise<readonly Reservation[]> {
    if (names.length === 0) return reservations;
    const changed = new Set(names);
    const kept: Reservation[] = [];
    for (const reservation of reservations) {
      const meets = reservation.allocation.nodes.some(({ name }) => changed.has(name));
      if (meets) await this.options.fluxion.cancel(reservation.jobid);
      else kept.push(reservation);
    }
    return kept;
  }
}
