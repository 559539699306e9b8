/** What `why` and `when` add to a reason: those ahead, and those that hold nodes. The sentences of all reasons are in why/. */
import { movedLines, whenLines, whyLines } from '../../runtime/cli/why';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { HANDED_BACK } from '../../runtime/queue/workload';
import { ended, fluxJob, NOW, runs, waits } from './fluxjobs';

const running = (name: string, startTime: string, over: object = {}) =>
  fluxJob(name, { ...runs.status, nodes: 'node-1', startTime, ...over } as FluxJobObject['status']);
const BUSY = 'Busy: needs 3 pods with 1 core each; not free now for its walltime';
const ADVICE =
  'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier';

test.each<[string, FluxJobObject, FluxJobObject[], string[]]>([
  [
    'waits behind others',
    waits('mine', 5, { plannedStart: '2026-11-23T14:00:00Z' as never }),
    [waits('a', 1), waits('b', 2), waits('c', 3), waits('d', 4)],
    [
      'science/job/mine waits in queue default, position 5',
      BUSY,
      'it would start at about 2026-11-23T14:00:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/b (position 2), job/c (position 3), job/d (position 4)',
      ADVICE,
    ],
  ],
  [
    'is likely to start sooner than planned',
    waits('mine', 5, {
      plannedStart: '2026-11-23T14:00:00Z' as never,
      likelyStart: '2026-11-23T12:30:00Z' as never,
    }),
    [waits('a', 1), waits('b', 2), waits('c', 3), waits('d', 4)],
    [
      'science/job/mine waits in queue default, position 5',
      BUSY,
      'it would start at about 2026-11-23T14:00:00Z if nothing else were submitted; this is no promise; if workloads end as early as the last two of their users, it starts at about 2026-11-23T12:30:00Z',
      'just ahead of it: job/b (position 2), job/c (position 3), job/d (position 4)',
      ADVICE,
    ],
  ],
  [
    'waits behind workloads that its user may not see',
    waits('mine', 3, { estimatedStart: '2026-11-23T14:00:00Z' as never }),
    [waits('a', 2)],
    [
      'science/job/mine waits in queue default, position 3',
      BUSY,
      'it starts at 2026-11-23T14:00:00Z at the latest: nodes are reserved for it',
      'just ahead of it: job/a (position 2)',
      'its position counts 1 more: in other namespaces, without a FluxJob yet, or no longer waiting',
      ADVICE,
    ],
  ],
  [
    'is a lone pod that its node does not end',
    fluxJob('lone', { ...runs.status, startTime: '2026-11-23T10:00:00Z' }, { kind: 'Pod' }),
    [],
    [
      'science/pod/lone runs on node-[1-2]',
      'it started at 2026-11-23T10:00:00Z, and its walltime ended at 2026-11-23T11:00:00Z',
      'what to do: kubectl fluxqueue cancel pod/lone -n science ends it. Its kubelet should have done so: ask your administrator about its node',
    ],
  ],
  [
    'waits for one whose pods do not run yet',
    waits('mine', 1),
    [fluxJob('img', { phase: 'Ready' as never, nodes: 'node-1' })],
    [
      'science/job/mine waits in queue default, position 1',
      BUSY,
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'in namespace science: job/img has node-1, its pods do not run yet; it may use its walltime of 1h from their start',
      ADVICE,
    ],
  ],
  [
    'waits for some of those that run',
    waits('mine', 1),
    [
      running('last', '2026-11-23T11:59:00Z'),
      running('late', '2026-11-23T10:00:00Z'),
      running('next', '2026-11-23T11:10:00Z', {
        nodes: 'node-[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33]',
        nodeCount: 17,
      }),
      running('then', '2026-11-23T11:20:00Z'),
    ],
    [
      'science/job/mine waits in queue default, position 1',
      BUSY,
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'in namespace science: job/late has node-1, its walltime ended at 2026-11-23T11:00:00Z; job/next has 17 nodes, its walltime ends at 2026-11-23T12:10:00Z; job/then has node-1, its walltime ends at 2026-11-23T12:20:00Z; 1 more runs',
      ADVICE,
    ],
  ],
  [
    'has just been submitted',
    fluxJob('new'),
    [],
    [
      'science/job/new waits in queue default',
      'Submitted: no pass has judged it yet',
      'no pass has judged it for 5m: the controller or Fluxion may be down',
      'what to do: nothing, unless this lasts: then ask your administrator for the log of the controller',
    ],
  ],
])('why a workload %s', (_, given, others, lines) => {
  expect(whyLines({ fluxJob: given, all: [...others, given], now: NOW })).toEqual(lines);
});

test('what was handed back to Kubernetes has not ended', () => {
  const conditions = [{ type: 'Scheduled', status: 'False', reason: 'Cancelled', message: HANDED_BACK }];
  const back = { ...ended, status: { ...ended.status!, conditions } } as unknown as FluxJobObject;
  expect(whyLines({ fluxJob: back, all: [back], now: NOW })).toEqual([
    'science/job/ended is in the queue no more: its namespace left the queue, so Kubernetes runs it without the queue',
  ]);
});

test('the pods of one that was handed back wait in the queue once its namespace has come back', () => {
  const conditions = [{ type: 'Scheduled', status: 'False', reason: 'Cancelled', message: HANDED_BACK }];
  const back = { ...ended, status: { ...ended.status!, conditions } } as unknown as FluxJobObject;
  const podOf = (name: string, given = waits(name, 1)) =>
    ({
      ...given,
      spec: { ...given.spec, workload: { ...given.spec.workload, kind: 'Pod', name } },
    }) as FluxJobObject;
  const all = [back, podOf('ended-zqfn6'), podOf('ended-x'), podOf('other-zqfn6')];
  expect(whyLines({ fluxJob: back, all, now: NOW })).toEqual([
    'science/job/ended is in the queue no more: its namespace left the queue, so Kubernetes runs it without the queue',
    'its namespace has come back since, and pod/ended-zqfn6 is in the queue: kubectl fluxqueue why pod/ended-zqfn6 -n science',
  ]);
});

test('a held one of a namespace without the label is told what a release does', () => {
  const held = waits('mine', 1);
  const asked = { fluxJob: held, all: [held], now: NOW };
  const LEFT = /has not the label fluxqueue\/enabled: "true".* once it is released/;
  expect(whyLines({ ...asked, hasLeft: true }).join('\n')).toMatch(LEFT);
  expect(whyLines(asked).join('\n')).not.toMatch(LEFT);
});

test.each<[FluxJobObject, string]>([
  [runs, 'it started at 2026-11-23T11:55:10Z'],
  [
    fluxJob('ready', { phase: 'Ready' as never, conditions: runs.status!.conditions! }),
    'its nodes are granted, and its first pod does not run yet',
  ],
  [
    { ...ended, status: { ...ended.status!, conditions: runs.status!.conditions! } },
    'it has ended without a start',
  ],
])('when', (given, sentence) => {
  expect(whenLines({ fluxJob: given, all: [], now: NOW })[0]).toBe(sentence);
});

test('when no start is known, the reason is said, too', () => {
  const when = (fluxJob: FluxJobObject) => whenLines({ fluxJob, all: [], now: NOW });
  expect(when(waits('mine', 1))[1]).toBe(BUSY);
  expect(when(waits('mine', 1, { estimatedStart: '2026-11-23T14:00:00Z' as never }))).toHaveLength(1);
  expect(when(running('mine', '2026-11-23T11:00:00Z'))).toHaveLength(1);
  expect(when(ended)).toHaveLength(1);
});

test('a workload without a pass for less than a minute is no news', () => {
  const now = Date.parse('2026-11-23T11:55:30Z');
  expect(whenLines({ fluxJob: fluxJob('new'), all: [], now })).toEqual(['the next pass will tell']);
});

test('a watch says by what a promise moved', () => {
  const promise = waits('mine', 1, { estimatedStart: '2026-11-23T12:30:00Z' as never });
  const late = running('late', '2026-11-23T10:00:00Z');
  const asked = { fluxJob: promise, all: [promise, late], now: NOW };
  expect(movedLines('2026-11-23T12:10:00Z', asked)).toEqual([
    'it was promised for 2026-11-23T12:10:00Z before; that moved by job/late, past the walltime',
  ]);
  expect(movedLines('2026-11-23T12:10:00Z', { ...asked, all: [promise] })[0]).toContain('does not show');
  const over = running('over', '2026-11-23T11:09:00Z', {
    phase: 'Finished',
    finishTime: '2026-11-23T12:10:20Z',
  });
  expect(movedLines('2026-11-23T12:10:00Z', { ...asked, all: [promise, over] })[0]).toContain(
    'by job/over, past',
  );
  expect(movedLines('2026-11-23T12:30:00Z', asked)).toEqual([]);
  expect(movedLines(undefined, asked)).toEqual([]);
});

test('a workload that came a moment ago is told that its start is planned soon', () => {
  const mine = waits('mine', 1);
  const created = Date.parse(mine.metadata.creationTimestamp!);
  const [soon] = whenLines({ fluxJob: mine, all: [mine], now: created + 5_000 });
  expect(soon).toMatch(/^no start is known yet: the plan is made again/);
  expect(whenLines({ fluxJob: mine, all: [mine], now: created + 60_000 })[0]).toMatch(/^no start is known/);
});

test('a pod of a rollout that waits for room of its older pods is told what its Deployment can do', () => {
  const mine = waits('mine', 1, {});
  const rollout = { type: 'RolloutWaits', status: 'True', reason: 'OlderPodsRun', message: 'Deployment web' };
  const conditions = [...mine.status!.conditions!, rollout as never];
  const lines = whyLines({
    fluxJob: { ...mine, status: { ...mine.status!, conditions } },
    all: [],
    now: NOW,
  });
  expect(lines.at(-1)).toBe(
    'what to do: nothing, if another workload ends and leaves enough for it: otherwise set maxUnavailable of at least 1, or type Recreate, in the strategy of its Deployment',
  );
});

test('a workload whose pods use more than was granted is told what it can do', () => {
  const more = {
    type: 'MoreThanGranted',
    status: 'True',
    reason: 'SurplusInUse',
    message: '1 cpu of node-1',
  };
  const conditions = [...runs.status!.conditions!, more as never];
  const lines = whyLines({
    fluxJob: { ...runs, status: { ...runs.status!, conditions } },
    all: [],
    now: NOW,
  });
  expect(lines.at(-1)).toBe(
    'what to do: nothing, if a pod of it is about to end: the rest is charged until then. If it lasts: kubectl get pods -n science -o wide shows its pods; delete one that is too many, or submit it again with the requests that they have there',
  );
});
