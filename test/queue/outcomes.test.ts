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

test('a name that nobody has submitted is unknown once it has been looked up, pending before', async () => {
  const outcomes = new Outcomes();
  outcomes.follow(undefined, waiter);
  expect(outcomes.of(prep)).toBe('active');
  await outcomes.learn(nothing);
  expect(outcomes.of(prep)).toBeUndefined();
});

test('each name is looked up once, and again for those who come when all have gone', async () => {
  const outcomes = new Outcomes();
  const asked: (readonly WorkloadName[])[] = [];
  const lookUp = async (names: readonly WorkloadName[]): Promise<Outcome[]> => {
    asked.push(names);
    return [{ ...prep, submittedAt: 1, seq: 1, result: 'Failed' }];
  };
  outcomes.follow(undefined, waiter);
  await outcomes.learn(lookUp);
  await outcomes.learn(lookUp);
  outcomes.follow(undefined, { ...waiter, uid: 'w2' });
  await outcomes.learn(lookUp);
  expect(asked).toEqual([[prep]]);
  expect(outcomes.of(prep)).toBe('Failed');
  outcomes.follow(waiter, ended(waiter, 'Cancelled'));
  expect(outcomes.of(prep)).toBe('Failed');
  outcomes.follow({ ...waiter, uid: 'w2' }, { ...waiter, uid: 'w2', after: [] });
  expect(outcomes.of(prep)).toBeUndefined();
  outcomes.follow(undefined, { ...waiter, uid: 'w3' });
  await outcomes.learn(lookUp);
  expect(asked).toHaveLength(2);
});

test('the newest of a name counts, of whatever kind, active or not', async () => {
  const outcomes = new Outcomes();
  const first = row('p1', 'prep', { submittedAt: 10, seq: 1 });
  const second = row('p2', 'prep', { submittedAt: 20, seq: 2, kind: 'Pod' });
  outcomes.follow(undefined, waiter);
  await outcomes.learn(nothing);
  outcomes.follow(undefined, first);
  outcomes.follow(undefined, second);
  expect(outcomes.of(prep)).toBe('active');
  outcomes.follow(second, ended(second, 'Succeeded'));
  // The older one still runs: nobody waits for that.
  expect(outcomes.of(prep)).toBe('Succeeded');
  outcomes.follow(first, ended(first, 'Failed'));
  expect(outcomes.of(prep)).toBe('Succeeded');
  outcomes.follow(undefined, row('p3', 'prep', { submittedAt: 30, seq: 3 }));
  expect(outcomes.of(prep)).toBe('active');
});

test('an end that comes while it is looked up is not lost', async () => {
  const outcomes = new Outcomes();
  const other = row('p', 'prep', { submittedAt: 10, seq: 1 });
  outcomes.follow(undefined, other);
  outcomes.follow(undefined, waiter);
  await outcomes.learn(async () => {
    outcomes.follow(other, ended(other, 'TimedOut'));
    return [{ ...prep, submittedAt: 5, seq: 0, result: 'Succeeded' }];
  });
  expect(outcomes.of(prep)).toBe('TimedOut');
});

test('who begins to wait while the look-up of others is under way is looked up anew', async () => {
  const outcomes = new Outcomes();
  outcomes.follow(undefined, waiter);
  await outcomes.learn(async () => {
    outcomes.follow(waiter, ended(waiter, 'Cancelled'));
    outcomes.follow(undefined, { ...waiter, uid: 'w2' });
    return [];
  });
  expect(outcomes.of(prep)).toBe('active');
  await outcomes.learn(async () => [{ ...prep, submittedAt: 1, seq: 1, result: 'Succeeded' }]);
  expect(outcomes.of(prep)).toBe('Succeeded');
});

test('a failed look-up is tried again', async () => {
  const outcomes = new Outcomes();
  outcomes.follow(undefined, waiter);
  await expect(outcomes.learn(() => Promise.reject(new Error('down')))).rejects.toThrow('down');
  await outcomes.learn(async () => [{ ...prep, submittedAt: 1, seq: 1, result: 'Succeeded' }]);
  expect(outcomes.of(prep)).toBe('Succeeded');
});
