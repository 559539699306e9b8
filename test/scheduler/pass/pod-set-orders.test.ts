/** Which orders of the pod sets of a gang are tried, and when the search ends. */
import { placeInOrders } from '../../../runtime/scheduler/pass/pod-set-orders';

interface Set {
  readonly name: string;
  readonly follows: boolean;
}

const set = (name: string, follows = false): Set => ({ name, follows });

/** @param failedIn the pod set without room, by the order of the names; every other order has room for all */
function tried(sets: readonly Set[], failedIn: (order: string) => string | undefined) {
  const orders: string[] = [];
  const { complete } = placeInOrders(sets, (order) => {
    const text = order.map(({ name }) => name).join('');
    orders.push(text);
    const failed = order.find(({ name }) => name === failedIn(text));
    return { complete: failed === undefined, failed };
  });
  return { complete, orders };
}

const THREE = ['a', 'b', 'c'].map((name) => set(name));

test('takes the given order if there is room for all in it', () => {
  expect(tried(THREE, () => undefined)).toEqual({ complete: true, orders: ['abc'] });
});

test('tries a pod set without room behind others as the first one', () => {
  const failedIn = (order: string) => (order === 'abc' ? 'c' : order === 'cab' ? 'b' : undefined);
  expect(tried(THREE, failedIn)).toEqual({ complete: true, orders: ['abc', 'cab', 'bca'] });
});

test('gives up where a pod set finds no room although nothing of the gang is there before it', () => {
  expect(tried(THREE, () => 'a')).toEqual({ complete: false, orders: ['abc'] });
  expect(tried(THREE, () => 'b')).toEqual({ complete: false, orders: ['abc', 'bac'] });
});

test('tries each pod set in front at most once', () => {
  const failedIn = (order: string) => order.at(-1);
  expect(tried(THREE, failedIn)).toEqual({ complete: false, orders: ['abc', 'cab', 'bca', 'abc'] });
});

test('places pods that need pods of others after these', () => {
  const sets = [set('a', true), set('b'), set('c')];
  expect(tried(sets, () => undefined).orders).toEqual(['bca']);
  expect(tried(sets, (order) => (order === 'bca' ? 'a' : undefined)).orders).toEqual(['bca']);
  const followers = [set('a', true), set('b', true)];
  expect(tried(followers, (order) => (order === 'ab' ? 'a' : undefined)).orders).toEqual(['ab', 'ba']);
});

test('ends when a plan ends without a pod set that failed, because it has cost too much', () => {
  let plans = 0;
  const answer = placeInOrders(THREE, () => {
    plans += 1;
    return { complete: false };
  });
  expect([answer.complete, plans]).toEqual([false, 1]);
});
