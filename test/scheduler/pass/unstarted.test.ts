/** Grants whose pods never start, in front of the reservation of an earlier workload. */
import { LatePromises } from '../../../runtime/scheduler/pass/late-promises';
import { startLimitOf } from '../../../runtime/scheduler/pass/planned-end';
import { startableIn } from '../startable-in';
import type { JobOptions } from './job-options';
import { granted, nodesOf, reserved, Simulation } from './simulation';

const POLICIES = ['easy', 'hybrid', 'conservative'] as const;

/** Plays a cluster in which the pods of some workloads never start, second by second. */
class Unstarted {
  private constructor(readonly sim: Simulation) {}

  /** Node n0 has `first` for 60 s; `big` needs all four nodes. */
  static async behindFirst(policy: (typeof POLICIES)[number], first: JobOptions = {}): Promise<Unstarted> {
    const sim = await Simulation.of(nodesOf(4, 2), { policy });
    sim.submit('first', { cpu: 2, walltime: 60, ...first });
    await sim.pass();
    sim.submit('big', { pods: 4, cpu: 2, walltime: 600 });
    expect(reserved(await sim.pass())).toEqual(['big']);
    return new Unstarted(sim);
  }

  /** A pass, after which the pods of what it grants do not start; what others wait for leaves, if its time is over. */
  async pass() {
    const { sim } = this;
    const result = await sim.pass();
    for (const uid of granted(result))
      if (uid.startsWith('stuck')) sim.change(uid, { phase: 'Ready', startedAt: null });
    for (const { uid, allocation } of result.awaited)
      if (sim.row(uid).evictionReason === null && sim.now >= allocation!.start + startLimitOf(sim.row(uid)))
        this.evict(uid);
    return result;
  }

  private evict(uid: string): void {
    const { sim } = this;
    const allocation = { ...sim.row(uid).allocation!, end: sim.now + 45 };
    sim.change(uid, { evictionReason: 'it did not start', evictionCause: 'cluster', allocation });
    sim.evicted.push({ uid, message: '', at: sim.now });
  }

  /** The next second: pods of what has to leave are gone three seconds after that. */
  async tick(): Promise<void> {
    const { sim } = this;
    sim.now += 1;
    for (const { uid, allocation, phase } of sim.rows.values())
      if (phase === 'Running' && allocation!.end <= sim.now && !uid.startsWith('stuck'))
        await sim.finish(uid);
    for (const { uid, at, gone } of sim.evicted)
      if (gone === undefined && at + 3 <= sim.now) {
        await sim.requeue(uid);
        const requeues = sim.row(uid).requeues + 1;
        sim.change(uid, { requeues, notBefore: sim.now + 30 * 2 ** requeues });
      }
  }

  /** @returns when `big` starts, at most so many seconds after the first pass */
  async startOfBig(seconds: number, eachSecond: (second: number) => void): Promise<number | undefined> {
    for (let second = 0; second < seconds; second++) {
      eachSecond(second);
      await this.pass();
      if (this.sim.row('big').phase === 'Running') return this.sim.now;
      await this.tick();
    }
    return undefined;
  }
}

test.each(POLICIES)(
  '%s: a stream of short workloads that never start delays a promise once',
  async (policy) => {
    const world = await Unstarted.behindFirst(policy);
    const start = await world.startOfBig(400, (second) => {
      world.sim.submit(`stuck-${second}`, { cpu: 2, walltime: 1, user: 'mallory' });
    });
    // The last one that passed it was granted a second before the promise, and has a minute.
    expect(start).toBeLessThanOrEqual(1_060 + 60 + 3);
    expect(world.sim.doubleGrants()).toEqual([]);
  },
);

test('so do those that were put back before, and have longer', async () => {
  const world = await Unstarted.behindFirst('easy', { walltime: 300 });
  const start = await world.startOfBig(2_000, (second) => {
    const uid = `stuck-${second}`;
    if (second >= 40) return;
    world.sim.submit(uid, { cpu: 2, walltime: 1 });
    world.sim.change(uid, { requeues: 4 });
  });
  expect(start).toBeLessThanOrEqual(1_300 + 960 + 3);
});

test('only those that others wait for are told to leave, and only until they start', async () => {
  const world = await Unstarted.behindFirst('easy');
  const { sim } = world;
  const awaited = async () => (await world.pass()).awaited.map(({ uid }) => uid);
  sim.submit('stuck', { cpu: 2, walltime: 10 });
  expect(await awaited()).toEqual([]);
  sim.now = 1_009;
  expect(await awaited()).toEqual([]);
  // Its walltime is over, and it is planned to leave 60 s and a grace period after its grant.
  sim.now = 1_010;
  expect(await awaited()).toEqual(['stuck']);
  expect(sim.reservations.map(({ allocation }) => allocation.start)).toEqual([1_105]);
  expect(sim.row('big')).toMatchObject({
    message: 'nodes are reserved for it behind science/stuck, which should have ended by now',
    estimatedStart: null,
  });
  // Its pods have started after all: it is an overrun as any other.
  sim.change('stuck', { phase: 'Running', startedAt: 1_012 });
  sim.now = 1_013;
  expect(await awaited()).toEqual([]);
});

test.each([
  ['nobody waits', undefined],
  ['what waits has no need of its nodes', { pods: 3, cpu: 2 }],
])('a slow start stays where %s', async (_, waits) => {
  const sim = await Simulation.of(nodesOf(4, 2));
  sim.submit('slow', { cpu: 2, walltime: 10 });
  await sim.pass();
  sim.change('slow', { phase: 'Ready', startedAt: null });
  sim.submit('other', { pods: 3, cpu: 2, walltime: 5_000 });
  await sim.pass();
  if (waits) sim.submit('next', { ...waits, walltime: 100 });
  for (sim.now = 1_010; sim.now < 1_600; sim.now += 30) expect((await sim.pass()).awaited).toEqual([]);
});

/** `stuck` was granted n0 for 100 s and has 240 s to start, because it was put back twice; `big` needs all nodes. */
async function late(): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(3, 2));
  sim.submit('stuck', { cpu: 2, walltime: 100 });
  await sim.pass();
  sim.change('stuck', { phase: 'Ready', startedAt: null, requeues: 2 });
  sim.submit('big', { pods: 3, cpu: 2, walltime: 600 });
  sim.now = 1_100;
  expect((await sim.pass()).awaited).toHaveLength(1);
  expect(sim.reservations.map(({ allocation }) => allocation.start)).toEqual([1_285]);
  return sim;
}

test('what starts beside a late promise is gone in time even if it does not start, and ends with its walltime', async () => {
  const sim = await late();
  sim.submit('short', { cpu: 2, walltime: 10 });
  expect((await sim.pass()).grants).toMatchObject([{ uid: 'short', allocation: { end: 1_110 } }]);
  sim.now = 1_181;
  sim.submit('later', { cpu: 2, walltime: 10 });
  expect(granted(await sim.pass())).toEqual([]);
  expect(await startableIn(sim)).toEqual([]);
});

test('who comes before a late promise has its nodes for any time', async () => {
  const sim = await late();
  sim.now = 1_181;
  sim.submit('first', { cpu: 2, walltime: 10, priority: 1 });
  expect(granted(await sim.pass())).toEqual(['first']);
});

test('who was promised other nodes starts there with a walltime of any length', async () => {
  const nodes = [...nodesOf(1, 4), { name: 'n1', units: { core: 2 } }];
  const sim = await Simulation.of(nodes, { policy: 'conservative' });
  sim.submit('stuck', { cpu: 4, walltime: 100 });
  sim.submit('second', { cpu: 2, walltime: 150 });
  await sim.pass();
  sim.change('stuck', { phase: 'Ready', startedAt: null, requeues: 2 });
  sim.submit('big', { cpu: 4, walltime: 600 });
  sim.submit('next', { cpu: 2, walltime: 10 });
  sim.submit('after', { cpu: 2, walltime: 500 });
  await sim.pass();
  sim.now = 1_100;
  expect((await sim.pass()).awaited).toHaveLength(1);
  expect(Object.fromEntries(sim.reservations.map(({ uid, allocation }) => [uid, allocation.start]))).toEqual({
    big: 1_285,
    next: 1_150,
    after: 1_160,
  });
  sim.now = 1_150;
  await sim.finish('second');
  expect(granted(await sim.pass())).toEqual(['next']);
  expect(sim.row('next').allocation!.end).toBe(1_160);
});

test('the time that a workload needs in front of a late promise is whole seconds, as Fluxion counts', async () => {
  const sim = await late();
  sim.submit('short', { cpu: 2, walltime: 30.5 });
  const [{ allocation }] = sim.reservations as [(typeof sim.reservations)[0]];
  const rows = [...sim.rows.values()];
  const promises = { held: [sim.row('stuck')], reservations: sim.reservations, lost: [] };
  const found = new LatePromises(rows, { ...promises, now: sim.now });
  const place = { start: allocation.start - 40, nodes: allocation.nodes };
  // A minute for its start and 45 s to end.
  expect(found.missing(sim.row('short'), place, () => allocation)).toBe(75);
});
