import { queueLines } from '../../runtime/cli/workloads';
import { ended, fluxJob, NOW, runs, waits } from './flux-jobs';

test('a queue is printed in the order of its line: what runs, what waits, what has ended', () => {
  const all = [
    ended,
    waits('second', 2),
    fluxJob('new'),
    runs,
    waits('first', 1, { start: '~2026-11-23T13:00:00Z' }),
  ];
  expect(queueLines(all, { namespaces: false, now: NOW })).toEqual([
    'QUEUE    POSITION  WORKLOAD    PHASE     NODES       START                  AGE  REASON',
    'default            job/runs    Running   node-[1-2]  2026-11-23T11:55:10Z   5m',
    'default  1         job/first   Waiting               ~2026-11-23T13:00:00Z  5m   Busy',
    'default  2         job/second  Waiting                                      5m   Busy',
    'default            job/new                                                  5m',
    'default            job/ended   Finished  node-1                             5m   Succeeded',
  ]);
  expect(queueLines([runs], { namespaces: true, now: NOW })[1]).toMatch(/^science {4}default /);
});
