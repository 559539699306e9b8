import { FinishedCounts } from '../../runtime/fluxsetups/finished-counts';
import { rowIn } from '../queue/rows';

test('says nothing before those of the database are known, and counts what finishes meanwhile', () => {
  const finished = new FinishedCounts();
  finished.rowChanged(rowIn('Finished', { queue: 'a' }));
  expect([finished.of('a'), finished.of('b')]).toEqual([undefined, undefined]);
  finished.load([{ queue: 'a', count: 2 }]);
  expect([finished.of('a'), finished.of('b')]).toEqual([3, 0]);
});

test('adds the workloads that finish to the counts from the database', () => {
  const finished = new FinishedCounts();
  finished.load([{ queue: 'a', count: 40 }]);
  for (const phase of ['Waiting', 'Ready', 'Running', 'Finished', 'Finished'] as const)
    finished.rowChanged(rowIn(phase, { queue: 'a' }));
  finished.rowChanged(rowIn('Finished', { queue: 'b' }));
  expect([finished.of('a'), finished.of('b'), finished.of('c')]).toEqual([42, 1, 0]);
});
