import { invalidJobspec } from '../../../runtime/jobspec/jobspec';
import { DEFAULT_UNITS } from '../../../runtime/jobspec/units';
import { nodesOf, Simulation } from './simulation';

test('does not match a requeued workload during its backoff, and returns when that ends', async () => {
  const sim = await Simulation.of(nodesOf(2, 1), { policy: 'fcfs' });
  sim.submit('again');
  sim.submit('next');
  sim.change('again', { reason: 'Requeued', message: 'node n0 is gone', notBefore: 1010.5 });
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'next' }], waits: [], nextAt: 1011 });
  sim.now = 1011;
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'again' }], nextAt: undefined });
});

test('tries what is at its requeue limit again when its hour is over, and what an earlier version gave up for ever at once', async () => {
  const sim = await Simulation.of(nodesOf(2, 1));
  for (const uid of ['hourly', 'earlier']) {
    sim.submit(uid);
    sim.change(uid, { reason: 'RequeueLimit', message: 'no such image', requeues: 6 });
  }
  // The clock of a pass counts whole seconds.
  sim.change('hourly', { notBefore: sim.now + 3600.5 });
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'earlier' }], waits: [], nextAt: sim.now + 3601 });
  sim.now += 3601;
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'hourly' }], waits: [] });
});

test('says that a workload backs off if nothing else does', async () => {
  const sim = await Simulation.of(nodesOf(1, 1));
  sim.submit('again');
  sim.change('again', { reason: 'Submitted', message: null, notBefore: 1010.5 });
  expect(await sim.pass()).toMatchObject({
    grants: [],
    waits: [{ uid: 'again', reason: 'Requeued', message: 'requeued, retrying in 11s' }],
  });
});

test('waiting rows of a queue that does not exist wait for it', async () => {
  const sim = await Simulation.of(nodesOf(1, 1));
  const row = sim.submit('orphan', { queue: 'science/gone' });
  sim.rows.clear();
  const held = { ...row, seq: 2, uid: 'held', held: true };
  const { waits } = await sim.pass({
    queues: [],
    orphaned: [row, held, { ...row, uid: 'runs', phase: 'Running' }],
  });
  expect(waits).toEqual([
    {
      uid: 'orphan',
      reason: 'NoFluxSetup',
      message: 'waits for queue science/gone, which does not exist',
      estimatedStart: null,
    },
    expect.objectContaining({ uid: 'held', reason: 'Held' }),
  ]);
});

test('a workload that cannot be read waits with the reason until its user changes it', async () => {
  const sim = await Simulation.of(nodesOf(2, 1), { policy: 'fcfs' });
  const { jobspec } = sim.submit('bad');
  sim.change('bad', { jobspec: invalidJobspec('no such quantity', DEFAULT_UNITS) });
  sim.submit('next');
  expect(await sim.pass()).toMatchObject({
    grants: [{ uid: 'next' }],
    waits: [{ uid: 'bad', reason: 'Invalid', message: 'no such quantity' }],
  });
  expect(await sim.pass()).toMatchObject({ grants: [], waits: [] });
  sim.change('bad', { jobspec, reason: 'Submitted', message: null });
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'bad' }] });
});
