import { nodesOf, Simulation } from './simulation';

const uids = (sim: Simulation) => sim.started.map(({ uid }) => uid);

test('no more run at once than the queue and each user may', async () => {
  const sim = await Simulation.of(nodesOf(10, 1));
  sim.queue('default', { limits: { queue: { running: 3 }, user: { running: 2 } } });
  for (const uid of ['a1', 'a2', 'a3', 'a4']) sim.submit(uid, { user: 'ada' });
  for (const uid of ['b1', 'b2']) sim.submit(uid, { user: 'bob' });
  await sim.pass();
  expect(uids(sim)).toEqual(['a1', 'a2', 'b1']);
  expect(sim.row('a3')).toMatchObject({
    reason: 'QuotaExceeded',
    message: 'its user runs 2 workloads at a time',
  });
  expect(sim.row('b2').message).toBe('its queue runs 3 workloads at a time');
  await sim.finish('a1');
  await sim.pass();
  expect(uids(sim).at(-1)).toBe('a3');
});

test('only the first so many that wait are looked at', async () => {
  const sim = await Simulation.of(nodesOf(10, 1));
  sim.queue('default', { limits: { queue: {}, user: { waiting: 2 } } });
  for (const uid of ['a1', 'a2', 'a3']) sim.submit(uid, { user: 'ada' });
  sim.submit('b1', { user: 'bob' });
  await sim.pass();
  expect(uids(sim)).toEqual(['a1', 'a2', 'b1']);
  expect(sim.row('a3')).toMatchObject({
    reason: 'QuotaExceeded',
    message: 'its user looks at 2 waiting workloads at a time',
  });
  await sim.pass();
  expect(uids(sim).at(-1)).toBe('a3');
});
