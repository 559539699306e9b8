import type { GraphNode } from '../../runtime/resources/types';
import { submission } from '../queue/submission';
import { type Line, NODE, startLoop } from './loop-fixture';
import { PREEMPTS, queueSettings } from './pass/settings';

const decisions = (lines: readonly Line[]) =>
  lines
    .filter(({ message }) => `${message}`.startsWith('decided'))
    .map(({ time: _, pid: __, hostname: ___, level: ____, ...line }) => line);

test('logs each decision once, with workload, queue and job id', async () => {
  const { clock, lines, workloadCache, granted, loop } = await startLoop('debug');
  await clock.advance(1_000);
  for (const uid of ['a', 'b']) await workloadCache.submit(submission(uid));
  loop.trigger();
  await clock.advance(40_000);
  expect(granted).toEqual(['a']);
  expect(decisions(lines)).toEqual([
    {
      message: 'decided to start the workload',
      pass: 2,
      workload: 'Job/science/job-a',
      queue: 'default',
      jobid: expect.any(Number),
      nodes: ['n0'],
      end: 1_700_000_061,
    },
    {
      message: 'decided that the workload waits',
      pass: 2,
      workload: 'Job/science/job-b',
      queue: 'default',
      jobid: expect.any(Number),
      reason: 'Reserved',
      why: 'nodes are reserved for it',
      estimatedStart: 1_700_000_061,
    },
  ]);
  await loop.stop();
});

test('plans behind the end of a grant that moved before the next pass', async () => {
  const { clock, workloadCache, loop } = await startLoop('info');
  await clock.advance(1_000);
  await workloadCache.submit(submission('a'));
  loop.trigger();
  await clock.advance(10);
  const allocation = workloadCache.byUid('a')!.allocation!;
  const end = allocation.end + 40;
  await workloadCache.shrink('a', { ...allocation, end });
  await workloadCache.submit(submission('b'));
  loop.trigger();
  await clock.advance(2_000);
  expect(workloadCache.byUid('b')).toMatchObject({ reason: 'Reserved', estimatedStart: end });
  await loop.stop();
});

test('fails no pass when an end moves while Fluxion is made equal to the rows', async () => {
  const settings = queueSettings(PREEMPTS);
  let delay = () => {};
  const over = { queueSettings: () => settings, queues: () => [settings] };
  const { clock, workloadCache, loop } = await startLoop('info', () => delay(), over);
  await clock.advance(1_000);
  await workloadCache.submit(submission('runs', { preemptible: true, walltime: 30 }));
  loop.trigger();
  await clock.advance(1_000);
  // One is promised its end; another one would be over before that, if it left.
  await workloadCache.submit(submission('first', { priority: 2 }));
  await workloadCache.submit(submission('short', { priority: 1, walltime: 5 }));
  const allocation = workloadCache.byUid('runs')!.allocation!;
  const end = allocation.end + 100;
  delay = () => void workloadCache.shrink('runs', { ...allocation, end });
  loop.trigger();
  await clock.advance(10);
  expect(loop.trouble).toBeUndefined();
  expect(workloadCache.byUid('runs')!.allocation!.end).toBe(end);
  expect(workloadCache.byUid('first')!.estimatedStart).toBe(allocation.end);
  await loop.stop();
});

test.each([
  ['gone', []],
  ['closed', [{ ...NODE, up: false }]],
])('does not grant a node that is %s since the snapshot of the pass, and decides again', async (_, after) => {
  const { clock, queue, workloadCache, granted, loop } = await startLoop('info', (tables, setNodes) => {
    if (tables.all.length > 0) setNodes(after);
  });
  await clock.advance(1_000);
  await workloadCache.submit(submission('a'));
  loop.trigger();
  await clock.advance(2_000);
  expect(granted).toEqual([]);
  expect(queue.events.map(({ event }) => event)).toEqual(['Leader', 'Submitted', 'Waiting']);
  await loop.stop();
});

test('gives no later workload a node that an earlier one needs because its own is gone', async () => {
  const other: GraphNode = { name: 'n1', units: { core: 1 } };
  const { clock, workloadCache, granted, loop } = await startLoop('info', (tables, setNodes) => {
    setNodes(tables.all.length === 0 ? [NODE, other] : [other]);
  });
  await clock.advance(5_000);
  for (const uid of ['first', 'second']) await workloadCache.submit(submission(uid));
  loop.trigger();
  await clock.advance(2_000);
  expect(granted).toEqual(['first']);
  expect(workloadCache.byUid('first')!.allocation!.nodes).toMatchObject([{ name: 'n1' }]);
  await loop.stop();
});

test.each(['a', 'b'])(
  'plans nothing for a later workload behind a grant that is void, in queue %s',
  async (later) => {
    const queues = ['a', 'b'].map((name) => queueSettings({ name }));
    const queueSettingsOf = (of: string) => queues.find(({ name }) => name === of)!;
    const other: GraphNode = { name: 'n1', units: { core: 1 } };
    const { clock, workloadCache, granted, loop } = await startLoop(
      'info',
      (tables, setNodes) => {
        const { length } = tables.all;
        setNodes(length === 0 ? [other] : length === 1 ? [NODE, other] : [{ ...NODE, up: false }, other]);
      },
      { queues: () => queues, queueSettings: queueSettingsOf },
    );
    await clock.advance(1_000);
    await workloadCache.submit(submission('runs', { queue: 'a' }));
    loop.trigger();
    await clock.advance(5_000);
    await workloadCache.submit(submission('first', { queue: 'a' }));
    await workloadCache.submit(submission('second', { queue: later }));
    loop.trigger();
    await clock.advance(2_000);
    expect(granted).toEqual(['runs']);
    expect(workloadCache.byUid('first')).toMatchObject({ reason: 'Reserved' });
    expect(workloadCache.byUid('second')).toMatchObject({ reason: 'Busy' });
    await loop.stop();
  },
);

test('logs the number of each pass and how long its phases took', async () => {
  const { clock, lines, loop } = await startLoop('debug');
  await clock.advance(40_000);
  const passes = lines.filter(({ message }) => message === 'pass done');
  expect(passes.map(({ pass }) => pass)).toEqual([1, 2]);
  expect(Object.keys(passes[0]!.milliseconds as object)).toEqual([
    'audit',
    'sync',
    'snapshot',
    'order',
    'match',
    'commit',
  ]);
  await loop.stop();
});

test('logs nothing at info level while nothing happens', async () => {
  const { clock, lines, loop } = await startLoop('info');
  await clock.advance(1_000);
  expect(lines.map(({ message }) => message)).toEqual(['graph rebuilt', 'pass done']);
  await clock.advance(300_000);
  expect(lines).toHaveLength(2);
  await loop.stop();
});

test('writes nothing and seldom asks Fluxion while a workload overruns its walltime', async () => {
  const { clock, lines, workloadCache, granted, loop } = await startLoop('debug');
  for (const uid of ['late', 'next', 'last']) await workloadCache.submit(submission(uid));
  await clock.advance(1_000);
  expect(granted).toEqual(['late']);
  // One reason changes when the walltime of 60 s is over: the start of the next one is not known any more.
  await clock.advance(65_000);
  const before = decisions(lines).length;
  const passes = () =>
    lines.filter(({ message, matches }) => message === 'pass done' && matches !== 0).length;
  const asked = passes();
  await clock.advance(600_000);
  expect(decisions(lines).slice(before)).toEqual([]);
  expect(passes() - asked).toBeLessThanOrEqual(4);
  await loop.stop();
});

test('a trigger during a pass starts the next one at once, also when that pass wanted a rest of a second', async () => {
  let trigger = () => {};
  const { clock, lines, workloadCache, granted, loop } = await startLoop('debug', () => trigger());
  // A walltime that ends in less than a second makes the pass ask for another one after exactly a second.
  await workloadCache.submit(submission('a', { walltime: 1 }));
  loop.trigger();
  await clock.advance(100);
  expect(granted).toEqual(['a']);
  trigger = () => {
    trigger = () => {};
    loop.trigger();
  };
  await workloadCache.submit(submission('b'));
  const passes = () => lines.filter(({ message }) => message === 'pass done').length;
  const before = passes();
  loop.trigger();
  await clock.advance(200);
  expect(passes()).toBe(before + 2);
  await loop.stop();
});

test('tells again of what was granted and not released, and of what has to leave, but not all the time', async () => {
  const pending: string[] = [];
  const { clock, workloadCache, loop } = await startLoop('info', undefined, {
    // Whoever hears of it fails.
    onGranted: () => {
      throw new Error('a listener');
    },
    onPending: ({ uid }) => pending.push(uid),
  });
  await workloadCache.submit(submission('a', { walltime: 3600 }));
  await clock.advance(5_000);
  expect(workloadCache.byUid('a')).toMatchObject({ phase: 'Ready', releasedAt: null });
  expect(pending).toEqual([]);
  await clock.advance(60_000);
  expect(new Set(pending)).toEqual(new Set(['a']));
  expect(pending.length).toBeLessThan(7);
  pending.length = 0;
  await workloadCache.released('a');
  await clock.advance(60_000);
  expect(pending).toEqual([]);
  await workloadCache.requestEviction([{ uid: 'a', message: 'others need it', end: 1_700_000_200 }]);
  await clock.advance(60_000);
  expect(new Set(pending)).toEqual(new Set(['a']));
  await loop.stop();
});

test('grants nothing in a namespace that leaves during the pass, and starts no pass after the other', async () => {
  let asked = 0;
  // The pass still sees it in the queue.
  const hasLeft = () => asked++ > 0;
  const { clock, lines, workloadCache, granted, loop } = await startLoop('debug', undefined, { hasLeft });
  await clock.advance(1_000);
  await workloadCache.submit(submission('a'));
  loop.trigger();
  await clock.advance(20_000);
  expect(asked).toBeGreaterThan(1);
  expect(granted).toEqual([]);
  expect(workloadCache.byUid('a')).toMatchObject({ phase: 'Waiting', reason: 'NamespaceLeft' });
  expect(lines.filter(({ message }) => message === 'pass done').length).toBeLessThan(6);
  await loop.stop();
});

test('compares everything once in its interval, and what that suspects once more, however much is new', async () => {
  const audits: string[] = [];
  const { clock, workloadCache, loop } = await startLoop('debug', undefined, {
    auditMs: 60_000,
    audit: {
      compare: async () => audits.push('all') > 0,
      confirm: async () => void audits.push('suspects'),
    },
  });
  for (let i = 0; i < 100; i++) {
    await workloadCache.submit(submission(`job-${i}`));
    loop.trigger();
    await clock.advance(1_000);
  }
  await loop.stop();
  // Its rows are loaded at its start.
  expect(audits).toEqual(['all', 'suspects', 'all', 'suspects']);
});

test('writes the reasons of many waiting workloads in several statements', async () => {
  const { clock, workloadCache, queue, loop } = await startLoop('info');
  await clock.advance(1_000);
  const sizes: number[] = [];
  const wait = queue.wait.bind(queue);
  queue.wait = (fence, updates) => {
    sizes.push(updates.length);
    return wait(fence, updates);
  };
  for (let i = 0; i < 12_001; i++) await workloadCache.submit(submission(`job-${i}`));
  loop.trigger();
  await clock.advance(2_000);
  await loop.stop();
  expect(sizes).toEqual([5_000, 5_000, 2_000]);
});
