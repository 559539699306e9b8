/** What is opened by the first question and closed when nobody has asked for a while. */
import { OnDemand } from '../../runtime/reader/on-demand';
import { ManualClock } from '../kubernetes/manual-clock';

let clock: ManualClock;
let opened: number;
let closed: number[];
let errors: unknown[];
let thing: OnDemand<number>;
beforeEach(() => {
  clock = new ManualClock();
  opened = 0;
  closed = [];
  errors = [];
  thing = new OnDemand({
    open: async () => ++opened,
    close: async (which) => void closed.push(which),
    clock,
    idle: 1_000,
    onError: (error) => errors.push(error),
  });
});

test('is not opened before somebody asks, and once for all who ask', async () => {
  expect([thing.isOpen, opened]).toEqual([false, 0]);
  expect(await Promise.all([thing.get(), thing.get()])).toEqual([1, 1]);
  expect(thing.isOpen).toBe(true);
});

test('is closed after the idle time, which begins again with each question', async () => {
  await thing.get();
  await clock.advance(900);
  await thing.get();
  await clock.advance(900);
  expect(closed).toEqual([]);
  await clock.advance(100);
  expect([thing.isOpen, closed]).toEqual([false, [1]]);
  expect(await thing.get()).toBe(2);
});

test('is opened again after it could not be opened', async () => {
  let fails = true;
  const broken = new OnDemand({
    open: async () => {
      if (fails) throw new Error('down');
      return 1;
    },
    close: async () => undefined,
    clock,
    onError: () => undefined,
  });
  await expect(broken.get()).rejects.toThrow('down');
  fails = false;
  expect(await broken.get()).toBe(1);
});

test('is opened again after it was dropped, and the first one is closed', async () => {
  await thing.get();
  thing.drop();
  expect(await thing.get()).toBe(2);
  await thing.stop();
  expect(closed).toEqual([1, 2]);
  expect(clock.next).toBeUndefined();
});

test('tells of an end that failed', async () => {
  const stuck = new OnDemand({
    open: async () => 1,
    close: () => Promise.reject(new Error('stuck')),
    clock,
    onError: (error) => errors.push(error),
  });
  await stuck.get();
  await stuck.stop();
  expect(errors).toEqual([new Error('stuck')]);
});
