import { queueLines, startSentence, whyLines } from '../../runtime/cli/workloads';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';

type Status = NonNullable<FluxJobObject['status']>;
type Conditions = NonNullable<Status['conditions']>;

const NOW = Date.parse('2026-11-23T12:00:00Z');

function fluxJob(
  name: string,
  status: Partial<Status> = {},
  { queue = 'default', kind = 'Job' } = {},
): FluxJobObject {
  return {
    metadata: {
      name: `${name}-job`,
      namespace: 'science',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-11-23T11:55:00Z',
    },
    spec: { queue, workload: { apiVersion: 'batch/v1', kind, name, uid: name } },
    status: status as Status,
  };
}

const because = (reason: string, message: string, type = 'Scheduled'): Conditions => [
  {
    type,
    status: (type === 'Scheduled' ? 'False' : 'True') as never,
    reason,
    message,
    lastTransitionTime: '',
  },
];

const waits = (name: string, position: number, over: Partial<Status> = {}) =>
  fluxJob(name, {
    phase: 'Waiting' as never,
    position,
    conditions: because('Busy', 'needs 3 pods with 1 core each; not free now for its walltime'),
    ...over,
  });
const runs = fluxJob('runs', {
  phase: 'Running' as never,
  nodes: 'node-[1-2]',
  start: '2026-11-23T11:55:10Z',
  startTime: '2026-11-23T11:55:10Z',
  conditions: because('Allocated', 'runs'),
});
const ended = fluxJob('ended', { phase: 'Finished' as never, nodes: 'node-1', result: 'Succeeded' as never });

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

test.each<[string, FluxJobObject, FluxJobObject[], string[]]>([
  [
    'waits behind others',
    waits('mine', 5, { plannedStart: '2026-11-23T14:00:00Z' as never }),
    [waits('a', 1), waits('b', 2), waits('c', 3), waits('d', 4)],
    [
      'science/job/mine waits in queue default, position 5',
      'Busy: needs 3 pods with 1 core each; not free now for its walltime',
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
      'Busy: needs 3 pods with 1 core each; not free now for its walltime',
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
