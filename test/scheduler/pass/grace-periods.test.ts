/** Workloads whose pods may take longer to end than Kubernetes gives them by itself: the plan counts on their nodes only after that. */
import { PREEMPTS } from './settings';
import { granted, nodesOf, reserved, Simulation } from './simulation';

const POLICIES = ['easy', 'hybrid', 'conservative'] as const;
const HOUR = { terminationGracePeriodSeconds: 3_600 };

/** Node n0 has `first` for 60 s; `big` needs all four nodes. */
async function reservedBehind(policy: (typeof POLICIES)[number]): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(4, 2), { policy });
  sim.submit('first', { cpu: 2, walltime: 60 });
  await sim.pass();
  sim.submit('big', { pods: 4, cpu: 2, walltime: 600 });
  expect(reserved(await sim.pass())).toEqual(['big']);
  return sim;
}

test.each(POLICIES)(
  '%s: a walltime of a second with an hour of grace passes no reservation',
  async (policy) => {
    const sim = await reservedBehind(policy);
    const stream = Array.from({ length: 40 }, (_, i) => ({
      at: 1_000 + i,
      submit: () => void sim.submit(`short-${i}`, { cpu: 2, walltime: 1, runs: 3_601, pod: HOUR }),
    }));
    await sim.run(stream);
    expect(sim.startOf('big')).toBe(1_060);
    expect(sim.doubleGrants()).toEqual([]);
  },
);

test.each(POLICIES)(
  '%s: what is gone with its grace before the reservation starts beside it',
  async (policy) => {
    const sim = await reservedBehind(policy);
    const grace = (seconds: number) => ({ terminationGracePeriodSeconds: seconds });
    sim.submit('fits', { cpu: 2, walltime: 20, pod: grace(70) });
    sim.submit('late', { cpu: 2, walltime: 20, pod: grace(71) });
    sim.submit('usual', { cpu: 2, walltime: 60, pod: grace(30) });
    expect(granted(await sim.pass())).toEqual(['fits', 'usual']);
  },
);

/** `slow` has two of three nodes for 100 s, and 600 s to end; `big` needs all. */
async function behindGrace(): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(3, 2));
  sim.submit('slow', { pods: 2, cpu: 2, walltime: 100, pod: { terminationGracePeriodSeconds: 600 } });
  await sim.pass();
  sim.submit('big', { pods: 3, cpu: 2, walltime: 600 });
  await sim.pass();
  return sim;
}

const GONE = 1_000 + 100 + 570;

test('a promise counts on nodes once the pods there are gone, and its estimate stays meanwhile', async () => {
  const sim = await behindGrace();
  expect(sim.row('big').estimatedStart).toBe(GONE);
  sim.now = 1_200;
  expect((await sim.pass()).waits).toEqual([]);
  sim.submit('beside', { cpu: 2, walltime: 400 });
  expect(granted(await sim.pass())).toEqual(['beside']);
  expect(sim.row('big')).toMatchObject({ reason: 'Reserved', estimatedStart: GONE });
});

test('pods that end at once let a promise come earlier', async () => {
  const sim = await behindGrace();
  sim.now = 1_101;
  await sim.finish('slow');
  expect(granted(await sim.pass())).toEqual(['big']);
});

test('after its grace it is an overrun as any other', async () => {
  const sim = await behindGrace();
  sim.now = GONE;
  await sim.pass();
  expect(sim.row('big').message).toContain('behind science/slow, which should have ended by now');
  expect(sim.reservations.map(({ allocation }) => allocation.start)).toEqual([GONE + 45]);
});

test('a grant ends with its walltime, and no pass nor another leader moves what is planned', async () => {
  const sim = await behindGrace();
  expect(sim.row('slow').allocation!.end).toBe(1_100);
  const endsOf = async () => (await sim.fluxion.state()).jobs.map(({ jobid, end }) => [jobid, end]);
  const before = [await endsOf(), sim.reservations];
  expect(before[0]).toContainEqual([sim.row('slow').jobid, GONE]);
  const replay = jest.spyOn(sim.fluxion, 'replay');
  sim.now = 1_050;
  await sim.pass();
  expect(replay).not.toHaveBeenCalled();
  await sim.restart();
  await sim.pass();
  expect([await endsOf(), sim.reservations]).toEqual(before);
});

test('quota is kept for as long', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', { quota: { cores: 4 } });
  sim.submit('late', { cpu: 3, walltime: 100 });
  await sim.pass();
  sim.submit('first', { cpu: 4, walltime: 50 });
  await sim.pass();
  sim.submit('slow', { cpu: 1, walltime: 100, pod: HOUR });
  sim.submit('short', { cpu: 1, walltime: 100 });
  expect(granted(await sim.pass())).toEqual(['short']);
});

test('a victim is gone when its eviction says so', async () => {
  const sim = await Simulation.of(nodesOf(2, 2));
  sim.queue('default', PREEMPTS);
  sim.submit('low', {
    pods: 2,
    cpu: 2,
    walltime: 5_000,
    preemptible: true,
    pod: { terminationGracePeriodSeconds: 100 },
  });
  await sim.pass();
  sim.submit('urgent', { pods: 2, cpu: 2, walltime: 50, priority: 1 });
  await sim.pass();
  expect(sim.row('urgent').estimatedStart).toBe(1_115);
  sim.now = 1_050;
  expect((await sim.pass()).waits).toEqual([]);
});
