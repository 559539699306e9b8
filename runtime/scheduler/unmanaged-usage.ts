/**
 * Units that pods outside the queue use. Fluxion knows nothing of these pods, so one allocation per node stands for
 * them, and is replaced when their usage changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Fluxion } from '../fluxion/types';
import type { Logger } from '../observability/log';
import { ENDLESS_SECONDS } from '../resources/endless';
import type { GraphNode, UnitCounts } from '../resources/types';
import { isUp } from './graph-diff';

/** Job ids of these allocations begin here: far above anything the sequence of the queue reaches. */
const FIRST_JOBID = 2 ** 52;

interface UnmanagedAllocation {
  readonly usage: UnitCounts;
  /** Undefined: no unit was free for it. */
  readonly jobid: number | undefined;
  /** Whether some of these units are granted to workloads. */
  readonly isShort: boolean;
}

/** Whether this job stands for pods outside the queue. */
export function isUnmanagedJob(jobid: number): boolean {
  return jobid >= FIRST_JOBID;
}

export class UnmanagedUsage {
  private readonly byNode = new Map<string, UnmanagedAllocation>();
  private created = 0;

  constructor(
    private readonly fluxion: Fluxion,
    private readonly logger: Pick<Logger, 'warn' | 'debug'>,
  ) {}

  /** The graph was rebuilt: nothing is allocated. */
  clear(): void {
    this.byNode.clear();
  }

  /** The node has left the graph, and its allocation with it. */
  forget(node: string): void {
    this.byNode.delete(node);
  }

  /** Frees the units on these nodes until the next update. */
  async release(names: Iterable<string>): Promise<void> {
    for (const name of names) {
      const jobid = this.byNode.get(name)?.jobid;
      this.byNode.delete(name);
      if (jobid !== undefined) await this.fluxion.cancel(jobid);
    }
  }

  /**
   * Nodes whose usage changed, and after a release those that had too few free units. A node that is down accepts no
   * allocation, so it waits until it is up.
   * @param usage units in use on each node
   * @param freed whether units were released since the last update
   */
  changedNodes(
    nodes: ReadonlyMap<string, GraphNode>,
    usage: ReadonlyMap<string, UnitCounts>,
    freed: boolean,
  ): readonly string[] {
    return [...new Set([...this.byNode.keys(), ...usage.keys()])].filter((name) => {
      const node = nodes.get(name);
      const wanted = usage.get(name);
      const known = this.byNode.get(name);
      const isSame = known?.usage === wanted || isDeepStrictEqual(known?.usage, wanted);
      const isCurrent = isSame && !(freed && known?.isShort === true);
      if (node === undefined || isCurrent) return false;
      return wanted === undefined || isUp(node);
    });
  }

  /** Replaces the allocations of these nodes. */
  async update(names: readonly string[], usage: ReadonlyMap<string, UnitCounts>, now: number): Promise<void> {
    for await (const _node of this.updates(names, usage, now));
  }

  /** The same, node by node: the caller may rest between two nodes, or end with those that are done. */
  async *updates(
    names: readonly string[],
    usage: ReadonlyMap<string, UnitCounts>,
    now: number,
  ): AsyncGenerator<string> {
    const before = new Map(names.map((name) => [name, this.byNode.get(name)]));
    await this.release(names);
    const free = new Map((await this.fluxion.state()).nodes.map((node) => [node.name, node.free]));
    for (const [name, held] of before) {
      const wanted = usage.get(name);
      if (wanted === undefined) continue;
      const available = free.get(name) ?? {};
      if (isShortOf(wanted, available) && !isDeepStrictEqual(held?.usage, wanted))
        this.logger.warn(
          { node: name, used: wanted, free: available },
          'pods without a grant for them use units that are granted to workloads',
        );
      await this.allocate(name, wanted, available, now);
      yield name;
    }
  }

  private async allocate(name: string, usage: UnitCounts, free: UnitCounts, now: number): Promise<void> {
    const isShort = isShortOf(usage, free);
    const units = Object.entries(usage)
      .map(([type, count]) => ({ type, count: Math.min(count, free[type] ?? 0) }))
      .filter(({ count }) => count > 0);
    if (units.length === 0) {
      this.byNode.set(name, { usage, jobid: undefined, isShort });
      return;
    }
    const jobid = FIRST_JOBID + this.created++;
    const result = await this.fluxion.match({
      jobid,
      now,
      operation: 'allocate',
      jobspec: {
        version: 9999,
        resources: [{ type: 'slot', count: 1, label: 'unmanaged', with: units }],
        tasks: [{ command: ['unmanaged'], slot: 'unmanaged', count: { per_slot: 1 } }],
        attributes: { system: { duration: ENDLESS_SECONDS, constraints: { hostlist: [name] } } },
      },
    });
    // A node that is down accepts nothing. Without an entry it is tried again once it is up.
    if (result.status === 'OK') this.byNode.set(name, { usage, jobid, isShort });
    else
      this.logger.debug({ node: name, text: result.text }, 'usage of pods outside the queue is not yet held');
  }
}

function isShortOf(usage: UnitCounts, free: UnitCounts): boolean {
  return Object.entries(usage).some(([type, count]) => count > (free[type] ?? 0));
}
