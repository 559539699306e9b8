import { Finished } from '../../runtime/fluxsetups/queue-counts';
import { rowIn } from '../queue/rows';

test('what has ended before and since', () => {
  const finished = new Finished();
  finished.start([{ queue: 'a', count: 40 }]);
  for (const phase of ['Waiting', 'Ready', 'Running', 'Finished', 'Finished'] as const)
    finished.changed(rowIn(phase, { queue: 'a' }));
  finished.changed(rowIn('Finished', { queue: 'b' }));
  expect([finished.of('a'), finished.of('b'), finished.of('c')]).toEqual([42, 1, 0]);
});
