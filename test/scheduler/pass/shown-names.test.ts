/** What the users of one namespace read names no workload and no queue of another. */
import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import { shownNames, shownQueue } from '../../../runtime/scheduler/pass/shown-names';
import type { JobOptions } from './job-options';
import { PREEMPTS } from './settings';
import { nodesOf, Simulation } from './simulation';

const SECRET = 'merger-with-acme';
const OTHERS: JobOptions = { namespace: 'beta' };

test('services of another namespace that have to leave are counted, and those of its own are named', async () => {
  const sim = await Simulation.of(nodesOf(3, 2));
  for (const [name, options] of [
    ['web', {}],
    [SECRET, OTHERS],
  ] as const)
    sim.submit(name, { kind: 'Pod', walltime: ENDLESS_SECONDS, cpu: 2, ...options });
  await sim.pass();
  sim.submit('wide', { pods: 3, cpu: 2 });
  sim.submit('theirs', { pods: 3, cpu: 2, ...OTHERS });
  await sim.pass();
  const start = 'needs 3 pods with 2 cores each; it can start only when services leave their nodes';
  expect(sim.row('wide').message).toBe(`${start} (science/web, 1 of another namespace)`);
  expect(sim.row('theirs').message).toBe(`${start} (beta/${SECRET}, 1 of another namespace)`);
});

test('an overrun of another namespace has no name', async () => {
  const sim = await Simulation.of(nodesOf(1, 2), { policy: 'conservative' });
  sim.submit(SECRET, { cpu: 2, walltime: 100, runs: 86_400, ...OTHERS });
  await sim.pass();
  sim.submit('wide', { cpu: 2 });
  sim.now = 1_101;
  await sim.pass();
  expect(sim.row('wide').message).toBe(
    'nodes are reserved for it behind a workload of another namespace, which should have ended by now',
  );
});

test('a preemptor of another namespace has no name', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.queue('default', PREEMPTS);
  sim.submit('low', { cpu: 2, preemptible: true });
  await sim.pass();
  sim.submit(SECRET, { cpu: 2, priority: 10, ...OTHERS });
  expect((await sim.pass()).evictions).toMatchObject([
    { uid: 'low', message: 'preempted by a workload of another namespace, which has a higher priority' },
  ]);
});

test('a lender of quota in another namespace has no name', async () => {
  const cohort = 'lab';
  const sim = await Simulation.of(nodesOf(4, 1));
  sim.queue('science/a', { cohort, quota: { cores: 1 } });
  sim.queue(`beta/${SECRET}`, { cohort, quota: { cores: 3 }, reclaim: true });
  for (let i = 0; i < 4; i++) sim.submit(`a${i}`, { queue: 'science/a', walltime: 1000 });
  await sim.pass();
  sim.submit('b', { queue: `beta/${SECRET}`, ...OTHERS });
  const { evictions } = await sim.pass();
  expect(evictions.map(({ message }) => message)).toEqual([
    'returns quota that it borrowed from a queue of another namespace to a workload of another namespace',
  ]);
});

test('a name is shown to its own namespace only', () => {
  const all = ['beta', 'science', 'beta', 'scien'].map((namespace) => ({ namespace, name: 'x' }));
  expect(shownNames({ namespace: 'science' }, all)).toEqual(['science/x', '3 of other namespaces']);
  expect(shownNames({ namespace: 'beta' }, all)).toEqual(['beta/x', 'beta/x', '2 of other namespaces']);
  expect(shownQueue({ namespace: 'sci' }, 'science/a')).toBe('a queue of another namespace');
  expect(shownQueue({ namespace: 'science' }, 'science/a')).toBe('queue science/a');
  expect(shownQueue({ namespace: 'science' }, 'default')).toBe('queue default');
});
