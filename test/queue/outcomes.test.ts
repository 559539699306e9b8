import { Outcomes } from '../../runtime/queue/outcomes';
import { newRow } from '../../runtime/queue/rows';
import type { Outcome, WorkloadName, WorkloadRow } from '../../runtime/queue/workload';
import { submission } from './submission';

const namespace = 'science';
const prep = { namespace, name: 'prep' };
const nothing = async () => [];

function row(uid: string, name: string, over: Partial<WorkloadRow> = {}): WorkloadRow {
  return { ...newRow(submission(uid, { name }), 1), ...over };
}

const waiter = row('w', 'main', { after: [{ type: 'afterok', name: 'prep' }] });
const ended = (given: WorkloadRow, result: WorkloadRow['result']): WorkloadRow => ({
  ...given,
  phase: 'Finished',
  result,
});

test('a name that was never submitted is pending until the look-up and unknown afterwards', async () => {
  const outcomes = new Outcomes();
  outcomes.apply(undefined, waiter);
  expect(outcomes.of(prep)).toBe('active');
  await outcomes.lookUp(nothing);
  expect(outcomes.of(prep)).toBeUndefined();
});

test('looks up each name once, and again when a new row depends on it after all others have gone', async () => {
  const outcomes = new Outcomes();
  const asked: (readonly WorkloadName[])[] = [];
  const lookUp = async (names: readonly WorkloadName[]): Promise<Outcome[]> => {
    asked.push(names);
    return [{ ...prep, submittedAt: 1, seq: 1, jobid: 1, result: 'Failed' }];
  };
  outcomes.apply(undefined, waiter);
  await outcomes.lookUp(lookUp);
  await outcomes.lookUp(lookUp);
  outcomes.apply(undefined, { ...waiter, uid: 'w2' });
  await outcomes.lookUp(lookUp);
  expect(asked).toEqual([[prep]]);
  expect(outcomes.of(prep)).toBe('Failed');
  outcomes.apply(waiter, ended(waiter, 'Cancelled'));
  expect(outcomes.of(prep)).toBe('Failed');
  outcomes.apply({ ...waiter, uid: 'w2' }, { ...waiter, uid: 'w2', after: [] });
  expect(outcomes.of(prep)).toBeUndefined();
  outcomes.apply(undefined, { ...waiter, uid: 'w3' });
  await outcomes.lookUp(lookUp);
  expect(asked).toHaveLength(2);
});

test('the newest workload of a name counts, of any kind, active or not', async () => {
  const outcomes = new Outcomes();
  const first = row('p1', 'prep', { submittedAt: 10, seq: 1 });
  const second = row('p2', 'prep', { submittedAt: 20, seq: 2, kind: 'Pod' });
  outcomes.apply(undefined, waiter);
  await outcomes.lookUp(nothing);
  outcomes.apply(undefined, first);
  outcomes.apply(undefined, second);
  expect(outcomes.of(prep)).toBe('active');
  outcomes.apply(second, ended(second, 'Succeeded'));
  // The older one still runs, and does not count.
  expect(outcomes.of(prep)).toBe('Succeeded');
  outcomes.apply(first, ended(first, 'Failed'));
  expect(outcomes.of(prep)).toBe('Succeeded');
  outcomes.apply(undefined, row('p3', 'prep', { submittedAt: 30, seq: 3 }));
  expect(outcomes.of(prep)).toBe('active');
});

test('keeps a result that comes during the look-up', async () => {
  const outcomes = new Outcomes();
  const other = row('p', 'prep', { submittedAt: 10, seq: 1 });
  outcomes.apply(undefined, other);
  outcomes.apply(undefined, waiter);
  await outcomes.lookUp(async () => {
    outcomes.apply(other, ended(other, 'TimedOut'));
    return [{ ...prep, submittedAt: 5, seq: 0, jobid: 0, result: 'Succeeded' }];
  });
  expect(outcomes.of(prep)).toBe('TimedOut');
});

test('looks up a name again if a row begins to depend on it during the look-up', async () => {
  const outcomes = new Outcomes();
  outcomes.apply(undefined, waiter);
  await outcomes.lookUp(async () => {
    outcomes.apply(waiter, ended(waiter, 'Cancelled'));
    outcomes.apply(undefined, { ...waiter, uid: 'w2' });
    return [];
  });
  expect(outcomes.of(prep)).toBe('active');
  await outcomes.lookUp(async () => [{ ...prep, submittedAt: 1, seq: 1, jobid: 1, result: 'Succeeded' }]);
  expect(outcomes.of(prep)).toBe('Succeeded');
});

test('repeats a failed look-up', async () => {
  const outcomes = new Outcomes();
  outcomes.apply(undefined, waiter);
  await expect(outcomes.lookUp(() => Promise.reject(new Error('down')))).rejects.toThrow('down');
  await outcomes.lookUp(async () => [{ ...prep, submittedAt: 1, seq: 1, jobid: 1, result: 'Succeeded' }]);
  expect(outcomes.of(prep)).toBe('Succeeded');
});

test('the newest of those that took over the place of one another counts', async () => {
  const outcomes = new Outcomes();
  const first = row('p1', 'prep', { submittedAt: 10, seq: 1, jobid: 1 });
  const second = row('p2', 'prep', { submittedAt: 10, seq: 1, jobid: 2 });
  outcomes.apply(undefined, waiter);
  await outcomes.lookUp(nothing);
  for (const each of [first, second]) outcomes.apply(undefined, each);
  outcomes.apply(second, ended(second, 'Succeeded'));
  outcomes.apply(first, ended(first, 'Cancelled'));
  expect(outcomes.of(prep)).toBe('Succeeded');
});
