/** What the browser makes of the server's messages. */
import {
  barsOf,
  changed,
  EMPTY,
  NO_FILTER,
  shownJobs,
  tilesOf,
  usageBy,
} from '../../runtime/dashboard/browser/state';
import { colourOf, count, duration } from '../../runtime/dashboard/browser/words';
import type { Changes } from '../../runtime/dashboard/messages';
import { jobView, nodeView } from '../../runtime/dashboard/view';
import { at, ENDED, fluxJob, NOW, node, PLANNED, RESERVED, RUNNING } from './sample';

const NOTHING: Changes = { jobs: [], goneJobs: [], nodes: [], goneNodes: [] };
const JOBS = [ENDED, PLANNED, RESERVED, RUNNING].map(jobView);
const ALL: Changes = {
  ...NOTHING,
  jobs: JOBS,
  nodes: ['node10', 'node2', 'node0'].map((name) => nodeView(node(name))),
};
const names = (jobs: readonly { readonly name: string }[]) => jobs.map(({ name }) => name);

describe('messages', () => {
  test('change what they name and nothing else', () => {
    const before = changed(EMPTY, ALL, true);
    const moved = { ...jobView(PLANNED), position: 1 };
    const after = changed(
      before,
      { ...NOTHING, jobs: [moved], goneJobs: ['science/wide-job'], goneNodes: ['node2'] },
      false,
    );
    expect(after.jobs.get('science/next-job')).toBe(moved);
    expect(after.jobs.has('science/wide-job')).toBe(false);
    expect([...after.nodes.keys()]).toEqual(['node10', 'node0']);
    expect(after.jobs.get('science/train-job')).toBe(before.jobs.get('science/train-job'));
  });

  test('say whether what is shown is live', () => {
    const trouble = { message: 'The queue cannot be read now.', since: at(-5) };
    const troubled = changed(changed(EMPTY, ALL, true), { ...NOTHING, trouble }, false);
    expect([troubled.connection, troubled.jobs.size]).toEqual([trouble, JOBS.length]);
    expect(changed(troubled, NOTHING, false).connection).toBe('live');
    expect(changed(EMPTY, { ...ALL, trouble }, true).connection).toBe(trouble);
  });

  test('after a lost connection the first one replaces all', () => {
    const lost = { ...changed(EMPTY, { ...ALL, nodesUnknown: 'no' }, true), connection: 'lost' as const };
    const again = changed(lost, { ...NOTHING, jobs: [jobView(RUNNING)] }, true);
    expect(again).toMatchObject({ connection: 'live', nodesUnknown: undefined });
    expect([again.jobs.size, again.nodes.size]).toEqual([1, 0]);
  });
});

describe('the queue', () => {
  test('has what runs, then what waits in its line', () => {
    expect(names(shownJobs(JOBS, NO_FILTER))).toEqual(['job/train', 'job/wide', 'job/next']);
  });

  test.each([
    [{ phase: 'all' as const }, ['job/train', 'job/wide', 'job/next', 'job/old']],
    [{ phase: 'Finished' as const }, ['job/old']],
    [{ phase: 'Waiting' as const }, ['job/wide', 'job/next']],
    [{ text: 'BUSY  science' }, ['job/next']],
    [{ text: 'node[0-1]' }, ['job/train']],
    [{ queue: 'other' }, []],
  ])('shows with the filter %j', (filter, expected) => {
    expect(names(shownJobs(JOBS, { ...NO_FILTER, ...filter }))).toEqual(expected);
  });

  test('shows a job whose nodes are granted among what runs', () => {
    const ready = jobView(fluxJob('ready', { phase: 'Ready', nodes: 'node0' }));
    expect(names(shownJobs([ready], { ...NO_FILTER, phase: 'Running' }))).toEqual(['job/ready']);
  });
});

test('nodes are in the order in which people count, with what is held of each', () => {
  const tiles = tilesOf(changed(EMPTY, ALL, true));
  expect(tiles.map((tile) => tile.node.name)).toEqual(['node0', 'node1', 'node2', 'node10']);
  expect(tiles[0]!.parts).toMatchObject([{ job: { name: 'job/train' }, cores: 4, whole: false }]);
  // It was not listed, but a job holds it.
  expect(tiles[1]).toMatchObject({ node: { cores: 2.5 }, parts: [{ cores: 2.5, whole: true }] });
});

test('usage counts what is held, and not what has ended', () => {
  expect(usageBy(JOBS, ({ queue }) => queue)).toEqual([
    { name: 'default', running: 1, waiting: 2, nodes: 2, cores: 6.5 },
  ]);
});

test('the timeline has what runs, is reserved and is planned, each with its walltime', () => {
  const time = (minutes: number) => Date.parse(at(minutes));
  expect(
    barsOf(JOBS, NOW).map(({ job: { name }, kind, from, until, open }) => [name, kind, from, until, open]),
  ).toEqual([
    ['job/train', 'running', time(-10), time(50), false],
    ['job/wide', 'reserved', time(50), time(60), false],
    ['job/next', 'planned', time(60), time(120), true],
  ]);
});

test('what ends at another time than its walltime says is drawn until then', () => {
  const status = { phase: 'Running', startTime: at(-20), endTime: at(5) } as const;
  const lowered = jobView(fluxJob('lowered', status, { walltimeSeconds: 3600 }));
  expect(barsOf([lowered], NOW)[0]).toMatchObject({ until: Date.parse(at(5)) });
});

test('what runs longer than its walltime still runs', () => {
  const late = jobView(fluxJob('late', { phase: 'Running', startTime: at(-20) }, { walltimeSeconds: 60 }));
  expect(barsOf([late], NOW)[0]).toMatchObject({ from: Date.parse(at(-20)), until: NOW });
});

test.each([
  [0, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [90_000, '1 min 30 s'],
  [11 * 60_000 + 30_000, '11 min'],
  [3_600_000 + 5 * 60_000, '1 h 5 min'],
  [30 * 3_600_000, '1 d 6 h'],
])('%d ms are %s', (milliseconds, expected) => {
  expect(duration(milliseconds)).toBe(expected);
});

test('words and colours', () => {
  expect([count(1, 'core'), count(2, 'core'), count(0, 'job runs', 'jobs run')]).toEqual([
    '1 core',
    '2 cores',
    '0 jobs run',
  ]);
  expect(colourOf('a/b')).toBe(colourOf('a/b'));
});
