import { newRow } from '../../../runtime/queue/rows';
import { nodesOf, Simulation } from './simulation';

test('after a requeue nobody is asked for before its time, and the pass says when that is', async () => {
  const sim = await Simulation.of(nodesOf(2, 1), { policy: 'fcfs' });
  sim.submit('again');
  sim.submit('next');
  sim.change('again', { reason: 'Requeued', message: 'node n0 is gone', notBefore: 1010.5 });
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'next' }], waits: [], nextAt: 1011 });
  sim.now = 1011;
  expect(await sim.pass()).toMatchObject({ grants: [{ uid: 'again' }], nextAt: undefined });
});

test('rows of a queue that is not there wait for it; what of them runs counts on', async () => {
  const sim = await Simulation.of(nodesOf(1, 1));
  const row = sim.submit('orphan', { queue: 'science/gone' });
  sim.rows.clear();
  const held = { ...newRow(row, 2), uid: 'held', held: true };
  const { waits } = await sim.pass({
    queues: [],
    orphaned: [row, held, { ...row, uid: 'runs', phase: 'Running' }],
  });
  expect(waits).toEqual([
    {
      uid: 'orphan',
      reason: 'NoFluxSetup',
      message: 'waits for its queue science/gone, which is not there',
      estimatedStart: null,
    },
    expect.objectContaining({ uid: 'held', reason: 'Held' }),
  ]);
});
