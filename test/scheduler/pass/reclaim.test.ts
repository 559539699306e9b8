import type { WorkloadRow } from '../../../runtime/queue/workload';
import { borrowersFor } from '../../../runtime/scheduler/pass/reclaim';

/** With one dimension: cores. */
const borrower = (uid: string, queue: string, allocatedAt: number, cores: number) => ({
  row: { uid, queue, allocatedAt } as WorkloadRow,
  holds: Float64Array.of(cores),
});

const beyond = (amounts: Record<string, number>) => ({
  borrowedBy: (queue: string) => Float64Array.of(amounts[queue] ?? 0),
});

const chosen = (short: number, holders: ReturnType<typeof borrower>[], amounts: Record<string, number>) =>
  borrowersFor(Float64Array.of(short), holders, beyond(amounts), 0)?.map(({ uid }) => uid);

test('chooses the youngest beyond their own quota until enough is returned', () => {
  const holders = [borrower('old', 'a', 1, 2), borrower('young', 'a', 9, 2), borrower('other', 'b', 5, 2)];
  expect(chosen(2, holders, { a: 4, b: 2 })).toEqual(['young']);
  expect(chosen(4, holders, { a: 4, b: 2 })).toEqual(['young', 'other']);
  expect(chosen(0, holders, { a: 4, b: 2 })).toEqual([]);
});

test('chooses only workloads of queues that have borrowed', () => {
  const holders = [borrower('one', 'a', 1, 2), borrower('two', 'a', 2, 2), borrower('own', 'b', 3, 9)];
  expect(chosen(2, holders, { a: 2, b: 0 })).toEqual(['two']);
});

test('chooses none if all of them would not suffice', () => {
  expect(chosen(5, [borrower('one', 'a', 1, 2)], { a: 2 })).toBeUndefined();
});
