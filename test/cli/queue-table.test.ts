import { linesOf } from '../../runtime/cli/picture';
import { type QueueTableOptions, queuePicture, requireNames } from '../../runtime/cli/queue-table';
import { parseWorkload } from '../../runtime/cli/workload-names';
import { ended, fluxJob, NOW, runs, waits } from './fluxjobs';

const OPTIONS: QueueTableOptions = { namespaces: false, now: NOW, all: true, empty: 'nothing runs or waits' };
const lines = (fluxJobs: Parameters<typeof queuePicture>[0], options: Partial<QueueTableOptions> = {}) =>
  linesOf(queuePicture(fluxJobs, { ...OPTIONS, ...options }));

const ALL = [
  ended,
  waits('second', 2),
  fluxJob('new'),
  runs,
  waits('first', 1, { start: '~2026-11-23T13:00:00Z' }),
];

test('a queue is printed in the order of its line: what runs, what waits, what has ended', () => {
  expect(lines(ALL)).toEqual([
    'QUEUE    POS  WORKLOAD    PHASE     NODES       START       AGE  REASON',
    'default       job/runs    Running   node-[1-2]  11:55:10Z   5m',
    'default  1    job/first   Waiting               ~13:00:00Z  5m   Busy',
    'default  2    job/second  Waiting                           5m   Busy',
    'default       job/new                                       5m',
    'default       job/ended   Finished  node-1                  5m   Succeeded',
  ]);
  expect(lines([runs], { namespaces: true })[1]).toMatch(/^science {4}default /);
});

test('a start is a clock time only where that is clear, and always whole in a wide table', () => {
  const start = (at: string, users?: ReadonlyMap<string, string>) =>
    lines([waits('a', 1, { start: at })], users && { users })[1]!.split(/ +/)[4];
  expect(start('?2026-11-23T23:59:59Z')).toBe('?23:59:59Z');
  expect(start('?2026-11-24T00:00:00Z')).toBe('?2026-11-24T00:00:00Z');
  expect(start('2026-11-22T23:00:00Z')).toBe('2026-11-22T23:00:00Z');
  expect(start('?2026-11-23T23:59:59Z', new Map())).toBe('?2026-11-23T23:59:59Z');
});

test('what has ended is shown if it is asked for', () => {
  expect(lines([ended], { all: false })).toEqual(['nothing runs or waits']);
  expect(lines([ended], { all: false, names: [parseWorkload('ended')] })[1]).toContain('Succeeded');
});

test('workloads are chosen by queue, name and labels', () => {
  const wide = fluxJob('wide', {}, { queue: 'wide' });
  const workloads = (options: Partial<QueueTableOptions>) =>
    queuePicture([...ALL, wide], { ...OPTIONS, ...options }).rows.map(({ key }) => key);
  expect(workloads({ queue: 'wide' })).toEqual(['wide']);
  expect(workloads({ names: [parseWorkload('job/first'), parseWorkload('runs')] })).toEqual([
    'runs',
    'first',
  ]);
  expect(workloads({ names: [parseWorkload('pod/first')] })).toEqual([]);
  expect(workloads({ uids: new Set(['second']) })).toEqual(['second']);
});

test('a name that nothing has is refused', () => {
  expect(() => requireNames(ALL, [parseWorkload('first'), parseWorkload('job/fist')])).toThrow(
    'FLUXQ_WORKLOAD_UNKNOWN: workload: no FluxJob is about it (got "job/fist"); kubectl fluxqueue queue --all',
  );
  expect(() => requireNames(ALL, [parseWorkload('ended')])).not.toThrow();
});

test('a wide table also has user, priority, pods, walltime and what is left of it', () => {
  const users = new Map([['runs', 'ada']]);
  const served = { ...runs, spec: { ...runs.spec, priority: 7, pods: 2, walltimeSeconds: 3600 } };
  const [head, row, waiting] = lines([served, waits('first', 1)], { users });
  expect(head).toMatch(/REASON +USER +PRIORITY +PODS +WALLTIME +LEFT$/);
  // It started 290 s ago.
  expect(row).toMatch(/5m +ada +7 +2 +60m +55m$/);
  expect(waiting).toMatch(/Busy +0 +60m$/);
});

test('an age is no change of a row, a position is one', () => {
  const state = (fluxJob: typeof runs, now: number) =>
    queuePicture([fluxJob], { ...OPTIONS, now }).rows[0]!.state;
  expect(state(waits('a', 2), NOW)).toBe(state(waits('a', 2), NOW + 1e6));
  expect(state(waits('a', 2), NOW)).not.toBe(state(waits('a', 1), NOW));
});

test('an age is that of the workload, whose FluxJob is younger', () => {
  const old = waits('old', 1, { submitTime: '2026-11-23T09:00:00Z' as never });
  expect(lines([old])[1]).toMatch(/ 3h +Busy$/);
});
