import type { Ended } from '../../../runtime/queue/workload';
import { NEVER_MET, unmet } from '../../../runtime/scheduler/pass/dependencies';
import { nodesOf, Simulation } from './simulation';

const outcomes: Record<string, Ended | 'active'> = {
  good: 'Succeeded',
  bad: 'Failed',
  late: 'TimedOut',
  gone: 'Cancelled',
  now: 'active',
  left: 'HandedBack',
};
const ask = (...after: readonly ['afterok' | 'afterany' | 'afternotok', string][]) =>
  unmet(
    after.map(([type, name]) => ({ type, name })),
    'science',
    (namespace, name) => (namespace === 'science' ? outcomes[name] : undefined),
  );

test('returns nothing if all dependencies are met', () => {
  expect(ask(['afterok', 'good'], ['afterany', 'bad'], ['afterany', 'good'], ['afternotok', 'late'])).toBe(
    undefined,
  );
  expect(ask()).toBe(undefined);
});

test('names the first dependency that is not met yet', () => {
  expect(ask(['afterok', 'now'])).toBe('waits for now to succeed');
  expect(ask(['afterany', 'now'])).toBe('waits for now to end');
  expect(ask(['afternotok', 'now'])).toBe('waits for now to fail');
  expect(ask(['afterok', 'other'])).toBe('waits for other, which does not exist yet');
});

test('says after a while that a name never existed, once, and starts when it has come after all', async () => {
  const sim = await Simulation.of(nodesOf(2, 1));
  sim.submit('second', { after: [{ type: 'afterok', name: 'frist' }] });
  const waits = async (seconds: number) => {
    sim.now += seconds;
    return (await sim.pass()).waits.map(({ message }) => message);
  };
  expect(await waits(0)).toEqual(['waits for frist, which does not exist yet']);
  expect(await waits(299)).toEqual([]);
  const never =
    'waits for frist, which has never existed in this namespace; correct fluxqueue/after if the name is wrong';
  expect(await waits(1)).toEqual([never]);
  expect(await waits(10_000)).toEqual([]);
  await sim.pass({ outcomeOf: () => 'Succeeded' });
  expect(sim.startOf('second')).toBe(sim.now);
});

test('names a dependency that can never be met before a pending one', () => {
  expect(ask(['afterok', 'now'], ['afterok', 'bad'])).toBe(
    `${NEVER_MET}waits for bad to succeed, which has failed`,
  );
  expect(ask(['afterok', 'gone'])).toContain('which was cancelled');
  expect(ask(['afterok', 'late'])).toContain('which exceeded its walltime');
  expect(ask(['afternotok', 'good'])).toContain('which has succeeded');
  for (const type of ['afterok', 'afterany', 'afternotok'] as const)
    expect(ask([type, 'left'])).toContain(
      'which left the queue with its namespace, so its end is not known here',
    );
});

test('a pass starts the workload when its dependencies have ended, and it blocks nothing until then', async () => {
  const sim = await Simulation.of(nodesOf(2, 1), { policy: 'fcfs' });
  sim.submit('second', { after: [{ type: 'afterok', name: 'first' }] });
  sim.submit('first');
  const outcomeOf = (_: string, name: string) => sim.row(name)?.result ?? ('active' as const);
  await sim.pass({ outcomeOf });
  expect(sim.started.map(({ uid }) => uid)).toEqual(['first']);
  expect(sim.row('second')).toMatchObject({
    reason: 'DependencyPending',
    message: 'waits for first to succeed',
  });
  await sim.finish('first');
  await sim.pass({ outcomeOf });
  expect(sim.startOf('second')).toBe(sim.now);
});

test.each(['active', 'Failed', 'Cancelled', undefined] as const)(
  'a workload that has run does not wait again for a dependency that is %s now',
  async (outcome) => {
    const sim = await Simulation.of(nodesOf(1, 1));
    sim.submit('train', { after: [{ type: 'afterok', name: 'prep' }] });
    expect(await sim.pass({ outcomeOf: () => 'Succeeded' })).toMatchObject({ grants: [{ uid: 'train' }] });
    await sim.requeue('train');
    const again = await sim.pass({ outcomeOf: () => outcome });
    expect(again).toMatchObject({ grants: [{ uid: 'train' }], waits: [] });
  },
);
