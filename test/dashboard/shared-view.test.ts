/** One view for many readers: when it is opened and closed. */
import type { Changes } from '../../runtime/dashboard/messages';
import { SharedView } from '../../runtime/dashboard/shared-view';
import { jobView } from '../../runtime/dashboard/view';
import { ManualClock, settle } from '../kubernetes/manual-clock';
import { RUNNING } from './sample';
import { StaticView } from './static-view';

let clock: ManualClock;
let opened: TestView[];
let problem: Error | undefined;

class TestView extends StaticView {
  isOpen = true;

  constructor() {
    super([jobView(RUNNING)], []);
    opened.push(this);
  }

  async start(): Promise<void> {
    if (problem !== undefined) throw problem;
  }

  stop(): void {
    this.isOpen = false;
  }
}

beforeEach(() => {
  clock = new ManualClock();
  opened = [];
  problem = undefined;
});

const shared = () => new SharedView({ create: () => new TestView(), clock });

async function reader(view: SharedView, namespace?: string) {
  const told: Changes[] = [];
  const left = new AbortController();
  await view.listen(namespace, (changes) => told.push(changes), left.signal);
  return { told, leave: () => left.abort() };
}

const jobsOf = (told: readonly Changes[]) => told.flatMap(({ jobs }) => jobs.map(({ key }) => key));

test('is opened once for all readers, each of whom sees the own scope', async () => {
  const view = shared();
  const readers = await Promise.all([reader(view), reader(view, 'science'), reader(view, 'empty')]);
  expect(opened).toHaveLength(1);
  expect(readers.map(({ told }) => jobsOf(told))).toEqual([['science/train-job'], ['science/train-job'], []]);
});

test('is closed a minute after the last reader has left, and opened again for the next one', async () => {
  const view = shared();
  const [first, second] = [await reader(view), await reader(view, 'science')];
  first.leave();
  await clock.advance(120_000);
  expect(opened[0]!.isOpen).toBe(true);
  second.leave();
  await clock.advance(59_000);
  expect(opened[0]!.isOpen).toBe(true);
  await clock.advance(1_000);
  expect(opened[0]!.isOpen).toBe(false);
  expect(jobsOf((await reader(view)).told)).toEqual(['science/train-job']);
  expect(opened).toHaveLength(2);
});

test('who comes back within the minute finds it open', async () => {
  const view = shared();
  (await reader(view)).leave();
  await clock.advance(30_000);
  await reader(view);
  await clock.advance(300_000);
  expect(opened.map(({ isOpen }) => isOpen)).toEqual([true]);
});

test('who has left is told nothing, and a scope without readers follows nothing', async () => {
  const view = shared();
  const [all, science] = [await reader(view), await reader(view, 'science')];
  science.leave();
  opened[0]!.tell({ goneJobs: ['science/train-job'] });
  expect([all.told.length, science.told.length]).toEqual([2, 1]);
  expect(opened[0]!.followers).toBe(1);
});

test('a view that cannot be opened is tried again by the next reader', async () => {
  const view = shared();
  problem = new Error('away');
  await expect(reader(view)).rejects.toThrow('away');
  expect(opened[0]!.isOpen).toBe(false);
  problem = undefined;
  expect(jobsOf((await reader(view)).told)).toEqual(['science/train-job']);
});

test('who leaves before it is open is not listened for', async () => {
  const view = shared();
  const told: Changes[] = [];
  const left = new AbortController();
  const listening = view.listen(undefined, (changes) => told.push(changes), left.signal);
  left.abort();
  await listening;
  expect(told).toEqual([]);
  await clock.advance(60_000);
  expect(opened[0]!.isOpen).toBe(false);
});

test('keeps no timer when it is stopped', async () => {
  const view = shared();
  const { leave } = await reader(view);
  view.stop();
  leave();
  await settle();
  expect([opened[0]!.isOpen, clock.next]).toEqual([false, undefined]);
});
