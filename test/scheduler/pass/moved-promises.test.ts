/** Containers start a second or two after their grant, so each end is later by as much: promises move with them, and no further. */
import { Random } from '../../fuzz/random';
import { nodesOf, Simulation } from './simulation';

const SECONDS = 400;
const GRACES = [20, 60];
/** Cores and pods of what two owners submit, in order. */
const SIZES = {
  x: [
    [1, 1],
    [1, 1],
    [1, 4],
    [1, 1],
    [1, 1],
    [3, 1],
  ],
  y: [
    [2, 1],
    [1, 3],
    [1, 1],
    [1, 2],
    [1, 1],
  ],
} as const;
const WALLTIMES = { x: 90, y: 75 };

class World {
  /** Owners' workloads: the second of submission. */
  readonly arrivals = new Map<string, number>();
  /** The earliest promised start of each, and how much later than that it was promised or started. */
  readonly promised = new Map<string, number>();
  readonly delays = new Map<string, number>();
  private readonly random: Random;
  private readonly lateStarts = new Map<string, number>();
  private readonly gone = new Map<string, number>();

  constructor(
    readonly sim: Simulation,
    seed: number,
  ) {
    this.random = new Random(seed);
    let at = 25;
    for (const [queue, all] of Object.entries(SIZES))
      for (const i of all.keys()) {
        at += this.below(i === 0 ? 9 : 2);
        this.arrivals.set(`${queue}${i}`, sim.now + at);
      }
  }

  private below(most: number): number {
    return Math.floor(this.random.next() * most);
  }

  async second(): Promise<void> {
    const { sim, arrivals, lateStarts, gone } = this;
    for (const [uid, at] of arrivals) if (at === sim.now) this.submit(uid);
    await this.endAndStart();
    const { grants, evictions } = await sim.pass();
    for (const { uid } of evictions) gone.set(uid, sim.now + GRACES[numberOf(uid) % 2]! - 3);
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

  private submit(uid: string): void {
    const queue = uid[0] as keyof typeof SIZES;
    const [cpu, pods] = SIZES[queue][numberOf(uid)]!;
    this.sim.submit(uid, { queue, cpu, pods, walltime: WALLTIMES[queue] });
  }

  private note(uid: string, start: number): void {
    if (!this.arrivals.has(uid)) return;
    const first = Math.min(start, this.promised.get(uid) ?? Infinity);
    this.promised.set(uid, first);
    this.delays.set(uid, Math.max(start - first, this.delays.get(uid) ?? 0));
  }
}

const numberOf = (uid: string) => Number(/\d+/.exec(uid)![0]);

test.each(
  (['fcfs', 'conservative'] as const).flatMap((policy) =>
    [...Array(8).keys()].map((seed) => [policy, seed] as const),
  ),
)('%s: no promise moves by more than the starts that were late before it, seed %i', async (policy, seed) => {
  const sim = await Simulation.of(nodesOf(2, 16));
  for (const name of ['x', 'y'])
    sim.queue(name, { policy, cohort: 'lab', quota: { cores: 6 }, reclaim: true });
  sim.queue('guest', { policy, cohort: 'lab', quota: { cores: 0 } });
  for (let i = 0; i < 11; i++) {
    const pod = { terminationGracePeriodSeconds: GRACES[i % 2]! };
    sim.submit(`guest${i}`, { queue: 'guest', cpu: i % 3 === 0 ? 2 : 1, walltime: 1_200, pod });
  }
  const world = new World(sim, seed);
  for (let second = 0; second < SECONDS; second++) await world.second();
  expect([...world.arrivals.keys()].filter((uid) => sim.row(uid).phase !== 'Finished')).toEqual([]);
  // Two workloads one behind the other, each two seconds late, and a second to see it.
  for (const [uid, delay] of world.delays) expect([uid, delay <= 6]).toEqual([uid, true]);
});
