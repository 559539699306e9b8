/** Containers start a second or two after their grant, so each end is later by as much: promises move with them, and no further. */
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
  private readonly gone = new Map<string, number>();

  constructor(
    readonly sim: Simulation,
    seed: number,
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
      if (allocation!.end <= sim.now) await sim.finish(uid);
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
    [...Array(8).keys()].map((seed) => [policy, seed] as const),
  ),
)('%s: no promise moves by more than the starts that were late before it, seed %i', async (policy, seed) => {
  const sim = await twoOwners(policy);
  const world = new World(sim, seed);
  for (let second = 0; second < SECONDS; second++) await world.second();
  expect([...world.arrivals.keys()].filter((uid) => sim.row(uid).phase !== 'Finished')).toEqual([]);
  // Two workloads one behind the other, each two seconds late, and a second to see it.
  for (const [uid, delay] of world.delays) expect([uid, delay <= 6]).toEqual([uid, true]);
});
