import { nodesOf, Simulation } from './simulation';

const uids = (sim: Simulation) => sim.started.map(({ uid }) => uid);

test('starts no more workloads than the limits of the queue and of each user allow', async () => {
  const sim = await Simulation.of(nodesOf(10, 1));
  sim.queue('default', { limits: { queue: { running: 3 }, user: { running: 2 } } });
  for (const uid of ['a1', 'a2', 'a3', 'a4']) sim.submit(uid, { user: 'ada' });
  for (const uid of ['b1', 'b2']) sim.submit(uid, { user: 'bob' });
  await sim.pass();
  expect(uids(sim)).toEqual(['a1', 'a2', 'b1']);
  expect(sim.row('a3')).toMatchObject({
    reason: 'QuotaExceeded',
    message: 'at most 2 workloads of its user run at a time',
  });
  expect(sim.row('b2').message).toBe('at most 3 workloads of its queue run at a time');
  await sim.finish('a1');
  await sim.pass();
  expect(uids(sim).at(-1)).toBe('a3');
});

test('considers no more waiting workloads than the limit allows', async () => {
  const sim = await Simulation.of(nodesOf(10, 1));
  sim.queue('default', { limits: { queue: {}, user: { waiting: 2 } } });
  for (const uid of ['a1', 'a2', 'a3']) sim.submit(uid, { user: 'ada' });
  sim.submit('b1', { user: 'bob' });
  await sim.pass();
  expect(uids(sim)).toEqual(['a1', 'a2', 'b1']);
  expect(sim.row('a3')).toMatchObject({
    reason: 'QuotaExceeded',
    message: 'at most 2 waiting workloads of its user are considered at a time',
  });
  await sim.pass();
  expect(uids(sim).at(-1)).toBe('a3');
});
