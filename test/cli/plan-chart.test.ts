import { type PlanOptions, planLines, planTable } from '../../runtime/cli/plan-chart';
import type { Page } from '../../runtime/cli/repeat';
import { type Plan, type PlannedJob, READ_API } from '../../runtime/reader/kinds';
import { cpuSeconds } from '../cpu-time';

const NOW = Date.parse('2026-11-23T09:00:00Z');
const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
const PIPE: Page = { columns: 80, isTerminal: false };
const terminal = (columns: number): Page => ({ columns, isTerminal: true });
const HERE: PlanOptions = {
  where: 'namespace science',
  namespaces: false,
  empty: 'nothing runs or waits',
};

function job(
  name: string,
  state: PlannedJob['state'],
  from: number,
  to: number,
  nodes: string[],
): PlannedJob {
  return {
    namespace: 'science',
    name,
    kind: 'Job',
    queue: 'default',
    state,
    start: at(from),
    end: at(to),
    nodes,
  };
}

function plan(jobs: readonly PlannedJob[], over: Partial<Plan> = {}): Plan {
  return {
    apiVersion: READ_API,
    kind: 'Plan',
    metadata: {},
    now: at(0),
    jobs,
    unplanned: 0,
    ...over,
  };
}

const JOBS = [
  job('tune', 'Planned', 70, 100, ['node-2', 'node-10', 'node-1']),
  job('train', 'Running', -10, 60, ['node-0']),
  job('wide', 'Reserved', 60, 70, ['node-0', 'node-1']),
];

test('a job whose pods do not run yet has a sign and a state of its own', () => {
  const starts = plan([job('img', 'Starting', -10, 60, ['node-0'])]);
  const [, , bar, legend] = planLines(starts, HERE, PIPE);
  expect(bar).toMatch(/^job\/img +\++ +2026-/);
  expect(legend).toBe('+ granted, its pods do not run yet');
  expect(planTable(starts, HERE)[2]).toContain('Starting');
});

test('each job has a bar on the axis of time, its start, how long it lasts and its nodes', () => {
  const estimateError = { jobs: 1204, p50Seconds: 3, p90Seconds: 40.2 };
  expect(planLines(plan(JOBS, { unplanned: 12, estimateError }), HERE, PIPE)).toEqual([
    'plan of namespace science at 2026-11-23T09:00:00Z; a column is 5m',
    'WORKLOAD   now         +1h            START                  LASTS  NODES',
    'job/train  ############               2026-11-23T08:50:00Z   1h10m  node-0',
    'job/wide               ==             ~2026-11-23T10:00:00Z  10m    node-[0-1]',
    'job/tune                 ------       ?2026-11-23T10:10:00Z  30m    node-[1-2,10]',
    '# running   = reserved, starts at ~ or earlier   - planned, ? may change',
    '12 more wait behind the plan',
    'estimates were off by 3s (p50) and 40s (p90) in 1,204 jobs of all namespaces in the last 7 days',
  ]);
});

test('a table says the same without bars', () => {
  const jobs = JOBS.map((one) => (one.name === 'wide' ? { ...one, likelyStart: at(20) } : one));
  expect(planTable(plan(jobs), { ...HERE, namespaces: true })).toEqual([
    'plan of namespace science at 2026-11-23T09:00:00Z',
    'NAMESPACE  WORKLOAD   QUEUE    STATE     START                  LIKELY                END                   NODES',
    'science    job/train  default  Running   2026-11-23T08:50:00Z   -                     2026-11-23T10:00:00Z  node-0',
    'science    job/wide   default  Reserved  ~2026-11-23T10:00:00Z  2026-11-23T09:20:00Z  2026-11-23T10:10:00Z  node-[0-1]',
    'science    job/tune   default  Planned   ?2026-11-23T10:10:00Z  -                     2026-11-23T10:40:00Z  node-[1-2,10]',
    'no estimate to judge: no job that had one has started in the last 7 days',
  ]);
});

test.each([40, 60, 80, 120, 200])('no line is longer than a terminal of %i columns', (columns) => {
  const long = job('a-job-with-a-name-that-is-longer-than-others', 'Running', -1, 2000, ['node-1']);
  const lines = planLines(plan([...JOBS, long]), { ...HERE, namespaces: true }, terminal(columns));
  const rows = lines.slice(1, 6);
  expect(rows).toHaveLength(5);
  for (const line of rows) expect(line.length).toBeLessThanOrEqual(columns);
  expect(lines[2]).toMatch(/#/);
  expect(lines.join('\n')).toContain('> goes on');
});

test('columns are left out from the right where a bar needs their room', () => {
  const head = (columns: number) => planLines(plan(JOBS), HERE, terminal(columns))[1];
  expect(head(80)).toMatch(/START +LASTS +NODES$/);
  expect(head(70)).toMatch(/START +LASTS$/);
  expect(head(56)).toMatch(/START$/);
  expect(head(40)).not.toContain('START');
});

test('a pipe has all cells, however long the names are', () => {
  const long = job('a-job-with-a-name-that-is-longer-than-others', 'Reserved', 5, 10, ['node-1']);
  const [, head, line] = planLines(plan([long]), { ...HERE, namespaces: true }, PIPE);
  expect(head).toMatch(/START +LASTS +NODES$/);
  expect(line).toMatch(
    /^science +job\/a-job-with-a-name-that-is-longer-than-others +=+ +~2026-\S+ +5m +node-1$/,
  );
});

test('what has no end, has run out, or starts behind the chart is in it', () => {
  const jobs = [
    job('service', 'Running', -5, 10 * 365 * 24 * 60, ['node-1']),
    { ...job('late', 'Running', -90, 8, ['node-2']), overdue: true },
    job('far', 'Planned', 60 * 30, 60 * 31, []),
  ];
  const lines = planLines(plan(jobs), HERE, PIPE);
  expect(lines[0]).toContain('a column is 1h');
  expect(lines.find((line) => line.startsWith('job/service'))).toMatch(
    / #+> +2026-11-23T08:55:00Z +endless +node-1$/,
  );
  expect(lines.find((line) => line.startsWith('job/late'))).toMatch(
    /^job\/late +#+>? +2026-\S+ +overdue +node-2$/,
  );
  expect(lines.find((line) => line.startsWith('job/far'))).toMatch(
    /^job\/far +> +\?2026-11-24T15:00:00Z +1h$/,
  );
  expect(planTable(plan(jobs), HERE).join('\n')).toMatch(
    /job\/service +default +Running +\S+ +- +none +node-1/,
  );
  expect(planTable(plan(jobs), HERE).join('\n')).toMatch(
    /job\/late +default +Running +\S+ +- +overdue +node-2/,
  );
});

test('the hours of the chart are chosen', () => {
  const [title, , train] = planLines(plan(JOBS), { ...HERE, hours: 0.4 }, PIPE);
  expect(title).toContain('a column is 1m');
  expect(train).toMatch(/^job\/train +#+> /);
});

test('an empty plan is a sentence', () => {
  expect(planLines(plan([], { unplanned: 1 }), HERE, PIPE)).toEqual([
    'plan of namespace science at 2026-11-23T09:00:00Z',
    'nothing runs or waits',
    '1 more waits behind the plan',
    'no estimate to judge: no job that had one has started in the last 7 days',
  ]);
});

test('what cannot start is named apart from what waits behind the plan', () => {
  const [, , ...lines] = planLines(plan([], { unplanned: 1200, blocked: 2 }), HERE, PIPE);
  expect(lines.slice(0, 2)).toEqual([
    '1,200 more wait behind the plan',
    '2 more cannot start as things are: kubectl fluxqueue queue says why',
  ]);
  const all = { ...HERE, namespaces: true };
  expect(planTable(plan(JOBS, { blocked: 1 }), all).at(-2)).toBe(
    '1 more cannot start as things are: kubectl fluxqueue queue -A says why',
  );
});

test('10,000 jobs are drawn with less than a second of CPU', () => {
  const jobs = Array.from({ length: 10_000 }, (_, i) =>
    job(`job-${i}`, i < 1000 ? 'Running' : 'Planned', i - 1000, i - 900, [`node-${i % 1000}`]),
  );
  const seconds = cpuSeconds(() => {
    expect(planLines(plan(jobs), HERE, PIPE)).toHaveLength(10_004);
  });
  expect(seconds).toBeLessThan(1);
});

test('a name cannot move the cursor', () => {
  const lines = planLines(plan([job('x\u001b[2J', 'Running', 0, 1, [])]), HERE, PIPE);
  expect(lines.join('')).not.toMatch(/\p{Cc}/u);
});
