import { FinishedCounts } from '../../runtime/fluxsetups/finished-counts';
import { rowIn } from '../queue/rows';

test('adds the workloads that finish to the counts from the database', () => {
  const finished = new FinishedCounts();
  finished.load([{ queue: 'a', count: 40 }]);
  for (const phase of ['Waiting', 'Ready', 'Running', 'Finished', 'Finished'] as const)
    finished.rowChanged(rowIn(phase, { queue: 'a' }));
  finished.rowChanged(rowIn('Finished', { queue: 'b' }));
  expect([finished.of('a'), finished.of('b'), finished.of('c')]).toEqual([42, 1, 0]);
});
