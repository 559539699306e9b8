import { startSentence, whyLines } from '../../runtime/cli/workloads';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { because, ended, fluxJob, runs, waits } from './fluxjobs';

test.each<[string, FluxJobObject, FluxJobObject[], string[]]>([
  [
    'waits behind others',
    waits('mine', 5, { plannedStart: '2026-11-23T14:00:00Z' as never }),
    [waits('a', 1), waits('b', 2), waits('c', 3), waits('d', 4)],
    [
      'science/job/mine waits in queue default, position 5',
      'Busy: needs 3 pods with 1 core each; not free now',
      'it would start at about 2026-11-23T14:00:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/b (position 2), job/c (position 3), job/d (position 4)',
    ],
  ],
  [
    'waits behind workloads that its user may not see',
    waits('mine', 3, { estimatedStart: '2026-11-23T14:00:00Z' as never }),
    [waits('a', 2)],
    [
      'science/job/mine waits in queue default, position 3',
      'Busy: needs 3 pods with 1 core each; not free now',
      'it starts at 2026-11-23T14:00:00Z at the latest: nodes are reserved for it',
      'just ahead of it: job/a (position 2)',
      '1 of those ahead of it is in other namespaces',
    ],
  ],
  [
    'can never start',
    fluxJob('mine', {
      phase: 'Waiting' as never,
      conditions: [
        ...because('Unsatisfiable', 'no node has 99 cores'),
        ...because('Stalled', 'can never start: no node has 99 cores', 'Stalled'),
      ],
    }),
    [],
    [
      'science/job/mine waits in queue default',
      'Unsatisfiable: no node has 99 cores',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'Stalled: can never start: no node has 99 cores',
    ],
  ],
  ['runs', runs, [], ['science/job/runs is Running on node-[1-2]: runs']],
  ['has ended', ended, [], ['science/job/ended has ended: Succeeded, after it ran on node-1']],
])('why a workload %s', (_, fluxJob, others, lines) => {
  expect(whyLines(fluxJob, [...others, fluxJob])).toEqual(lines);
});

test.each<[FluxJobObject, string]>([
  [runs, 'it started at 2026-11-23T11:55:10Z'],
  [
    fluxJob('ready', { phase: 'Ready' as never }),
    'its nodes are granted, and its first pod does not run yet',
  ],
])('when', (of, sentence) => {
  expect(startSentence(of)).toBe(sentence);
});
