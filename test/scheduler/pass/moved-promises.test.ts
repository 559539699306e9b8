/**
 * Containers start a second or two after their grant, so each end is later by as much; pods may take seconds more to end, so that another
 * end is predicted: promises move with the ends, and no further.
 */
import { TERMINATION_SECONDS } from '../../../runtime/scheduler/pass/planned-end';
import { Random } from '../../fuzz/random';
import type { Simulation } from './simulation';
import { type Arrival, arrivalsAfter, leavesAfter, twoOwners } from './two-owners';

const SECONDS = 400;

class World {
  /** What the owners submit, by uid. */
  readonly arrivals: ReadonlyMap<string, Arrival>;
  /** The earliest promised start of each, and how much later than that it was promised or started. */
  private readonly promised = new Map<string, number>();
  readonly delays = new Map<string, number>();
  private readonly random: Random;
  private readonly lateStarts = new Map<string, number>();
  /** Seconds that each needs to end after its walltime. */
  private readonly overruns = new Map<string, number>();
  private readonly gone = new Map<string, number>();

  constructor(
    readonly sim: Simulation,
    seed: number,
    private readonly longestOverrun: number,
  ) {
    this.random = new Random(seed);
    this.arrivals = new Map(arrivalsAfter(sim.now, this.random).map((one) => [one.uid, one]));
  }

  private below(most: number): number {
    return Math.floor(this.random.next() * most);
  }

  async second(): Promise<void> {
    const { sim, arrivals, lateStarts, gone } = this;
    for (const { at, uid, job } of arrivals.values()) if (at === sim.now) sim.submit(uid, job);
    await this.endAndStart();
    const { grants, evictions } = await sim.pass();
    for (const { uid } of evictions) gone.set(uid, sim.now + leavesAfter(uid));
    for (const { uid } of grants) {
      this.overruns.set(uid, this.below(this.longestOverrun + 1));
      if (arrivals.has(uid)) lateStarts.set(uid, sim.now + this.below(3));
      this.note(uid, sim.now);
    }
    for (const { uid, allocation } of sim.reservations) this.note(uid, allocation.start);
    sim.now += 1;
  }

  private async endAndStart(): Promise<void> {
    const { sim, lateStarts, gone } = this;
    for (const [uid, at] of gone) {
      if (at > sim.now) continue;
      gone.delete(uid);
      await sim.requeue(uid);
    }
    for (const { uid } of sim.running()) {
      const { allocation, allocatedAt } = sim.row(uid);
      if (allocation!.end + this.overruns.get(uid)! <= sim.now && !gone.has(uid)) await sim.finish(uid);
      else if (lateStarts.get(uid) === sim.now) {
        const end = allocation!.end + sim.now - allocatedAt!;
        sim.change(uid, { startedAt: sim.now, allocation: { ...allocation!, end } });
      }
    }
  }

  private note(uid: string, start: number): void {
    if (!this.arrivals.has(uid)) return;
    const first = Math.min(start, this.promised.get(uid) ?? Infinity);
    this.promised.set(uid, first);
    this.delays.set(uid, Math.max(start - first, this.delays.get(uid) ?? 0));
  }
}

test.each(
  (['fcfs', 'conservative'] as const).flatMap((policy) =>
    [0, 2].flatMap((overrun) => [...Array(8).keys()].map((seed) => [policy, overrun, seed] as const)),
  ),
)(
  '%s: no promise moves by more than the ends before it, which are up to %i seconds past walltimes, seed %i',
  async (policy, overrun, seed) => {
    const sim = await twoOwners(policy);
    const world = new World(sim, seed, overrun);
    for (let second = 0; second < SECONDS; second++) await world.second();
    expect([...world.arrivals.keys()].filter((uid) => sim.row(uid).phase !== 'Finished')).toEqual([]);
    // Two workloads one behind the other, each two seconds late, and a second to see it.
    const most = 6 + (overrun > 0 ? 2 * TERMINATION_SECONDS : 0);
    for (const [uid, delay] of world.delays) expect([uid, delay <= most]).toEqual([uid, true]);
  },
);
