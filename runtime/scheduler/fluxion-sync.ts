/**
 * The scheduling loop's hold on Fluxion: keeps its graph equal to the nodes,
 * its allocations equal to the workload cache, and rebuilds both whenever there is a
 * doubt. One caller at a time (the loop); nothing else talks to Fluxion.
 */
import { isDeepStrictEqual } from 'node:util';
import type { MatchPolicy } from '../../constructs/api/policies';
import { FluxqError, hasCode, messageOf } from '../errors';
import type { Fluxion, InitRequest } from '../fluxion/types';
import type { Logger } from '../observability/log';
import type { WorkloadRow } from '../queue/workload';
import type { Allocation, GraphNode } from '../resources/types';
import { clipAllocation } from './clip-allocation';
import type { Reservation } from './pass/reservations';
import { LEAVING_SECONDS } from './pass/victims';

export interface FluxionGraphOptions {
  readonly fluxion: Fluxion;
  readonly policy: MatchPolicy;
  readonly fence: number;
  readonly logger: Logger;
  readonly onRebuild: (cause: string) => void;
}

/** What is to be true in Fluxion before a pass. */
export interface Desired {
  readonly now: number;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Rows with an allocation. */
  readonly holders: readonly WorkloadRow[];
  /** Units used on each node by pods that are not ours. */
  readonly unmanaged: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** The last pass's. */
  readonly reservations: readonly Reservation[];
}

/** What the next pass has to know of it. */
export interface Settled {
  /** Something was given back, by whomever: what was refused before may fit now. */
  readonly freed: boolean;
  /** Those that are still there. */
  readonly reservations: readonly Reservation[];
}

/** Job ids of foreign allocations: far above anything the queue's sequence reaches. */
const FOREIGN_BASE = 2 ** 52;
/** Foreign pods have no end that is known; 10 years is finite for the planner and beyond every walltime. */
const FOREIGN_SECONDS = 10 * 365 * 24 * 3600;

export class FluxionSync {
  private doubt: string | undefined = 'start';
  private nodes = new Map<string, GraphNode>();
  private readonly cancels = new Set<number>();
  private shrinks: { readonly jobid: number; readonly nodes: readonly string[] }[] = [];
  private readonly unmanaged = new Map<string, ForeignAllocation>();
  private unmanagedIds = 0;

  constructor(private readonly options: FluxionGraphOptions) {}

  /** From now on nothing Fluxion says counts until it has been rebuilt. */
  invalidate(cause: string): void {
    this.doubt ??= cause;
  }

  /** Frees this job before the next pass. */
  cancelLater(jobid: number): void {
    this.cancels.add(jobid);
  }

  /** Frees these nodes of this job before the next pass. */
  shrinkLater(jobid: number, nodes: readonly string[]): void {
    this.shrinks.push({ jobid, nodes });
  }

  /** Makes Fluxion equal to `desired`. Throws (retryable) and stays in doubt when it can't. */
  async settle(desired: Desired): Promise<Settled> {
    try {
      const rebuild = this.doubt !== undefined || this.needsRebuild(desired);
      const freed = rebuild ? await this.rebuild(desired) : await this.adjust(desired);
      const changed = this.unmanagedChanges(desired, freed);
      if (changed.length === 0) return { freed, reservations: rebuild ? [] : desired.reservations };
      const reservations = await this.clearFor(changed, rebuild ? [] : desired.reservations);
      await this.settleUnmanaged(changed, desired);
      return { freed: true, reservations };
    } catch (error) {
      this.invalidate(messageOf(error));
      throw error;
    }
  }

  /**
   * Compares what Fluxion holds with what it is to hold; what differs is a doubt.
   * @param isCurrent false for a holder that has changed meanwhile: nothing can be said of it
   * @returns what differs, in words
   */
  async verify(
    { now, nodes, holders, reservations }: Desired,
    isCurrent: (holder: WorkloadRow) => boolean,
  ): Promise<string | undefined> {
    const { jobs } = await this.options.fluxion.state();
    const held = new Map(
      jobs.filter(({ jobid }) => jobid < FOREIGN_BASE).map((job) => [job.jobid, textOf(job)]),
    );
    const wanted = new Map(reservations.map(({ jobid, allocation }) => [jobid, textOf(allocation)]));
    for (const holder of holders) {
      const allocation = clipAllocation(spanOf(holder, now), nodes);
      if (!isCurrent(holder)) held.delete(holder.jobid);
      else if (allocation !== undefined) wanted.set(holder.jobid, textOf(allocation));
    }
    for (const jobid of new Set([...wanted.keys(), ...held.keys()])) {
      if (wanted.get(jobid) === held.get(jobid)) continue;
      const difference = `job ${jobid} is to hold ${wanted.get(jobid) ?? 'nothing'} and holds ${held.get(jobid) ?? 'nothing'}`;
      this.invalidate(difference);
      return difference;
    }
    return undefined;
  }

  private async rebuild({ now, nodes, holders }: Desired): Promise<true> {
    const cause = this.doubt ?? 'nodes changed';
    const { fluxion, policy, fence, logger, onRebuild } = this.options;
    this.doubt ??= cause;
    onRebuild(cause);
    // What was to be freed belongs to no holder any more; what comes while we replay must be freed after it.
    this.cancels.clear();
    this.shrinks = [];
    this.unmanaged.clear();
    const init = { nodes: [...nodes.values()], policy, now, fence };
    await fluxion.init(init);
    const allocations = holders
      .map((holder) => clipAllocation(spanOf(holder, now), nodes))
      .filter((allocation): allocation is Allocation => allocation !== undefined);
    await this.replay(allocations, init);
    this.nodes = new Map(nodes);
    this.doubt = undefined;
    logger.info({ cause, nodes: nodes.size, allocations: allocations.length }, 'graph rebuilt');
    return true;
  }

  /** Two rows that hold the same unit must not keep everybody else from being scheduled: the later one goes without. */
  private async replay(allocations: readonly Allocation[], init: InitRequest): Promise<void> {
    const { fluxion, logger } = this.options;
    try {
      return await fluxion.replay(allocations, init.now);
    } catch (error) {
      if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
    }
    await fluxion.init(init);
    for (const allocation of allocations)
      await fluxion.replay([allocation], init.now).catch((error: unknown) => {
        if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
        logger.error(
          { jobid: allocation.jobid, error: messageOf(error) },
          'two workloads have the same unit',
        );
      });
  }

  /** Changes that need what runs to be given back: a node that changed its units or came back under its jobs. */
  private needsRebuild({ nodes, holders }: Desired): boolean {
    const held = new Set(holders.flatMap(({ allocation }) => allocation!.nodes.map(({ name }) => name)));
    for (const [name, node] of nodes) {
      const known = this.nodes.get(name);
      if (known === node) continue;
      if (known === undefined ? held.has(name) : !sameUnits(known, node)) return true;
    }
    return false;
  }

  /** @returns whether it gave anything back */
  private async adjust({ nodes }: Desired): Promise<boolean> {
    const { fluxion } = this.options;
    let freed = false;
    for (const { jobid, nodes: names } of this.shrinks.splice(0)) {
      freed = true;
      await fluxion.partialCancel(jobid, names);
    }
    // Also those that come while this goes on.
    for (const jobid of this.cancels) {
      freed = true;
      await fluxion.cancel(jobid);
      this.cancels.delete(jobid);
    }
    const gone = [...this.nodes.keys()].filter((name) => !nodes.has(name));
    if (gone.length > 0) await fluxion.removeNodes(gone);
    for (const name of gone) {
      this.nodes.delete(name);
      this.unmanaged.delete(name);
    }
    const added = [...nodes.values()].filter(({ name }) => !this.nodes.has(name));
    if (added.length > 0) await fluxion.addNodes(added);
    for (const up of [true, false]) {
      const turned = [...nodes.values()].filter((node) => isUp(node) === up && this.turned(node));
      if (turned.length > 0)
        await fluxion.setStatus(
          turned.map(({ name }) => name),
          up,
        );
    }
    this.nodes = new Map(nodes);
    return freed || gone.length > 0;
  }

  private turned(node: GraphNode): boolean {
    const known = this.nodes.get(node.name);
    return known !== undefined && isUp(known) !== isUp(node);
  }

  /**
   * Nodes on which pods that are not ours use something else than is held for them, and, where something was freed,
   * those that had too little free to hold it all. One that is down gives nothing.
   */
  private unmanagedChanges({ nodes, unmanaged }: Desired, freed: boolean): readonly string[] {
    return [...new Set([...this.unmanaged.keys(), ...unmanaged.keys()])].filter((name) => {
      const node = nodes.get(name);
      const wanted = unmanaged.get(name);
      const known = this.unmanaged.get(name);
      const settled = isDeepStrictEqual(known?.wanted, wanted) && !(freed && known?.short === true);
      if (node === undefined || settled) return false;
      return wanted === undefined || isUp(node);
    });
  }

  /** Foreign pods are there already: what is reserved must not keep them out of the books. @returns what still stands */
  private async clearFor(
    changed: readonly string[],
    reservations: readonly Reservation[],
  ): Promise<readonly Reservation[]> {
    const names = new Set(changed);
    const standing: Reservation[] = [];
    for (const reservation of reservations) {
      const meets = reservation.allocation.nodes.some(({ name }) => names.has(name));
      if (meets) await this.options.fluxion.cancel(reservation.jobid);
      else standing.push(reservation);
    }
    return standing;
  }

  /** One allocation per node for the pods that are not ours, replaced when their use changes. */
  private async settleUnmanaged(changed: readonly string[], { now, unmanaged }: Desired): Promise<void> {
    const { fluxion } = this.options;
    const before = new Map(changed.map((name) => [name, this.unmanaged.get(name)]));
    for (const [name, held] of before) {
      if (held?.jobid !== undefined) await fluxion.cancel(held.jobid);
      this.unmanaged.delete(name);
    }
    const free = new Map((await fluxion.state()).nodes.map((node) => [node.name, node.free]));
    for (const [name, held] of before) {
      const wanted = unmanaged.get(name);
      if (wanted !== undefined)
        await this.holdUnmanaged(name, wanted, free.get(name) ?? {}, now, held?.wanted);
    }
  }

  /** @param before what they used at the last look: that not all of it was free is said once */
  private async holdUnmanaged(
    name: string,
    wanted: Readonly<Record<string, number>>,
    free: Readonly<Record<string, number>>,
    now: number,
    before: Readonly<Record<string, number>> | undefined,
  ): Promise<void> {
    const { fluxion, logger } = this.options;
    const units = Object.entries(wanted)
      .map(([type, count]) => ({ type, count: Math.min(count, free[type] ?? 0) }))
      .filter(({ count }) => count > 0);
    const short = Object.entries(wanted).some(([type, count]) => count > (free[type] ?? 0));
    if (short && !isDeepStrictEqual(before, wanted))
      logger.warn({ node: name, wanted, free }, 'pods that are not ours use units that are granted');
    if (units.length === 0) {
      this.unmanaged.set(name, { wanted, jobid: undefined, short });
      return;
    }
    const jobid = FOREIGN_BASE + this.unmanagedIds++;
    const result = await fluxion.match({
      jobid,
      now,
      operation: 'allocate',
      jobspec: {
        version: 9999,
        resources: [{ type: 'slot', count: 1, label: 'foreign', with: units }],
        tasks: [{ command: ['foreign'], slot: 'foreign', count: { per_slot: 1 } }],
        attributes: { system: { duration: FOREIGN_SECONDS, constraints: { hostlist: [name] } } },
      },
    });
    // A node that is down gets nothing new; it is asked again once it is up (the entry stays absent).
    if (result.status === 'OK') this.unmanaged.set(name, { wanted, jobid, short });
    else logger.debug({ node: name, text: result.text }, 'foreign pods not yet accounted');
  }

  /** The port, for a pass. @throws FluxqError FLUXQ_FLUXION_IN_DOUBT while it is not settled */
  get matcher(): Fluxion {
    if (this.doubt === undefined) return this.options.fluxion;
    throw new FluxqError('FLUXQ_FLUXION_IN_DOUBT', `the graph must be rebuilt first (${this.doubt})`, {
      retryable: true,
    });
  }
}

interface ForeignAllocation {
  readonly wanted: Readonly<Record<string, number>>;
  /** Undefined: nothing was free to hold. */
  readonly jobid: number | undefined;
  /** Not all of it was free: some of it is granted to workloads. */
  readonly short: boolean;
}

/**
 * When its nodes are held as of now. A leader whose clock was ahead may have written a start that is still to come; what
 * is being taken back is gone soon, and who it is taken back for counts on that.
 */
function spanOf({ allocation, recall }: WorkloadRow, now: number): Allocation {
  const { start, end } = allocation!;
  const until = recall === null ? end : Math.min(end, now + LEAVING_SECONDS);
  return { ...allocation!, start: Math.min(start, now), end: Math.max(until, now + 1) };
}

/** Which units of which nodes, whatever their order. */
function textOf({ nodes }: Allocation): string {
  const parts = nodes.map(({ name, units }) => {
    const held = Object.entries(units).map(([type, ids]) => `${type} ${ids}`);
    return `${name} (${held.sort().join(', ')})`;
  });
  return parts.sort().join(', ');
}

function isUp(node: GraphNode): boolean {
  return node.up ?? true;
}

function sameUnits(a: GraphNode, b: GraphNode): boolean {
  return isDeepStrictEqual({ ...a, up: true }, { ...b, up: true });
}
