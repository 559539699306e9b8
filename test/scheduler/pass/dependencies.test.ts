import type { Result } from '../../../runtime/queue/workload';
import { NEVER_MET, unmet } from '../../../runtime/scheduler/pass/dependencies';
import { nodesOf, Simulation } from './simulation';

const outcomes: Record<string, Result | 'active'> = {
  good: 'Succeeded',
  bad: 'Failed',
  late: 'TimedOut',
  gone: 'Cancelled',
  now: 'active',
};
const ask = (...after: readonly ['afterok' | 'afterany' | 'afternotok', string][]) =>
  unmet(
    after.map(([type, name]) => ({ type, name })),
    'science',
    (namespace, name) => (namespace === 'science' ? outcomes[name] : undefined),
  );

test('met', () => {
  expect(ask(['afterok', 'good'], ['afterany', 'bad'], ['afterany', 'good'], ['afternotok', 'late'])).toBe(
    undefined,
  );
  expect(ask()).toBe(undefined);
});

test('not yet met, in words', () => {
  expect(ask(['afterok', 'now'])).toBe('waits for now to succeed');
  expect(ask(['afterany', 'now'])).toBe('waits for now to end');
  expect(ask(['afternotok', 'now'])).toBe('waits for now to fail');
  expect(ask(['afterok', 'other'])).toBe('waits for other, which is not there yet');
});

test('what can never be met is said before what is pending', () => {
  expect(ask(['afterok', 'now'], ['afterok', 'bad'])).toBe(
    `${NEVER_MET}waits for bad to succeed, which has failed`,
  );
  expect(ask(['afterok', 'gone'])).toContain('which was cancelled');
  expect(ask(['afterok', 'late'])).toContain('which ran out of its walltime');
  expect(ask(['afternotok', 'good'])).toContain('which has succeeded');
});

test('a pass starts it when they are over, and it blocks nobody until then', async () => {
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
