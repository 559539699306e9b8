/** Services and pods outside the queue have no end: nothing is planned behind them, and what needs them gone blocks nobody. */
import { QUEUE_POLICIES } from '../../../constructs/api/policies';
import type { QueueSettings } from '../../../runtime/queue/settings';
import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import type { JobOptions } from './job-options';
import { PREEMPTS } from './settings';
import { granted, nodesOf, reserved, Simulation } from './simulation';

const SERVICE: JobOptions = { kind: 'Pod', walltime: ENDLESS_SECONDS };

/** Three nodes of two cores; `web` is a service on n0, `batch` runs on n1 until 1100. */
async function withService(policy: (typeof QUEUE_POLICIES)[number]): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(3, 2), { policy });
  sim.submit('web', { ...SERVICE, cpu: 1 });
  sim.submit('batch', { cpu: 2, walltime: 100 });
  await sim.pass();
  return sim;
}

describe.each(QUEUE_POLICIES)('%s: a workload that can start only when a service leaves', (policy) => {
  test('says which, reserves nothing and blocks nobody', async () => {
    const sim = await withService(policy);
    sim.submit('wide', { pods: 3, cpu: 2 });
    sim.submit('small', { cpu: 2, walltime: 500 });
    const result = await sim.pass();
    expect([granted(result), reserved(result)]).toEqual([['small'], []]);
    expect(sim.row('wide')).toMatchObject({
      reason: 'Busy',
      message:
        'needs 3 pods with 2 cores each; it can start only when services leave their nodes (science/web)',
      estimatedStart: null,
    });
    sim.now += 1;
    expect(await sim.pass()).toMatchObject({ waits: [], matches: 0 });
  });

  test('starts or is planned once the service has left', async () => {
    const sim = await withService(policy);
    sim.submit('wide', { pods: 3, cpu: 2 });
    await sim.pass();
    await sim.finish('web');
    await sim.pass();
    expect(sim.row('wide').estimatedStart).toBe(1100);
    sim.now = 1100;
    await sim.finish('batch');
    expect(granted(await sim.pass())).toEqual(['wide']);
  });

  test('takes no reservation from those behind it', async () => {
    const sim = await withService(policy);
    sim.submit('wide', { pods: 3, cpu: 2 });
    sim.submit('next', { pods: 2, cpu: 2 });
    sim.submit('long', { cpu: 2, walltime: 1_000 });
    const result = await sim.pass();
    expect(reserved(result)).toEqual(
      { fcfs: ['next'], easy: ['next'], hybrid: ['next', 'long'], conservative: ['next', 'long'] }[policy],
    );
    expect(granted(result)).toEqual([]);
  });
});

test.each(QUEUE_POLICIES)('%s: what pods outside the queue block is passed over as well', async (policy) => {
  const sim = await Simulation.of(nodesOf(2, 2), { policy });
  const unmanaged = new Map([['n0', { core: 1 }]]);
  await sim.occupy('n0', '0');
  sim.submit('wide', { pods: 2, cpu: 2 });
  sim.submit('small', { cpu: 2 });
  expect(granted(await sim.pass({ unmanaged }))).toEqual(['small']);
  expect(sim.row('wide')).toMatchObject({
    reason: 'Busy',
    message: 'needs 2 pods with 2 cores each; it can start only when pods outside the queue end (on n0)',
  });
});

test('names services and pods outside the queue if both have to leave', async () => {
  const sim = await Simulation.of(nodesOf(2, 2));
  const unmanaged = new Map([['n0', { core: 1 }]]);
  await sim.occupy('n0', '0');
  sim.submit('web', { ...SERVICE, cpu: 2 });
  await sim.pass({ unmanaged });
  sim.submit('wide', { pods: 2, cpu: 2 });
  await sim.pass({ unmanaged });
  expect(sim.row('wide').message).toBe(
    'needs 2 pods with 2 cores each; it can start only when services leave their nodes (science/web) and pods outside the queue end (on n0)',
  );
});

test('names the three oldest services whose nodes it could use', async () => {
  const sim = await Simulation.of(nodesOf(6, 2));
  for (let i = 0; i < 5; i++) {
    sim.submit(`web-${i}`, { ...SERVICE, cpu: 2 });
    await sim.pass();
    sim.now += 1;
  }
  sim.submit('elsewhere', { pods: 4, cpu: 2, pod: { nodeSelector: { zone: 'a' } } });
  const nodes = sim.nodes.map((node, i) => ({ ...node, properties: i < 2 ? [] : ['zone=a'] }));
  await sim.fluxion.init({ nodes, policy: 'lonode', now: sim.now });
  await sim.fluxion.replay(
    sim.running().map(({ allocation }) => allocation),
    sim.now,
  );
  sim.submit('wide', { pods: 6, cpu: 2 });
  await sim.pass({ nodes });
  expect(sim.row('elsewhere').message).toContain('(science/web-2, science/web-3, science/web-4)');
  expect(sim.row('wide').message).toContain('(science/web-0, science/web-1, science/web-2 and others)');
});

test('an exclusive workload needs nodes without any service', async () => {
  const sim = await Simulation.of(nodesOf(2, 8));
  sim.submit('web', { ...SERVICE, cpu: 1 });
  await sim.pass();
  sim.submit('whole', { pods: 2, cpu: 1, exclusive: true });
  sim.submit('shared', { pods: 2, cpu: 4 });
  expect(granted(await sim.pass())).toEqual(['shared']);
  expect(sim.row('whole').message).toBe(
    'needs 2 whole nodes with 1 core each; it can start only when services leave their nodes (science/web)',
  );
});

test('a service is not backfilled onto reserved units, and gets its turn', async () => {
  const sim = await Simulation.of(nodesOf(2, 2));
  sim.submit('batch', { cpu: 2, walltime: 100 });
  await sim.pass();
  sim.submit('wide', { pods: 2, cpu: 2, walltime: 50 });
  sim.submit('web', { ...SERVICE, cpu: 1 });
  sim.submit('short', { cpu: 1, walltime: 100 });
  expect(granted(await sim.pass())).toEqual(['short']);
  sim.now = 1100;
  await sim.finish('batch');
  await sim.finish('short');
  expect(granted(await sim.pass())).toEqual(['wide']);
  sim.now = 1150;
  await sim.finish('wide');
  expect(granted(await sim.pass())).toEqual(['web']);
});

test('nothing is planned behind the reservation of a service either', async () => {
  const sim = await Simulation.of(nodesOf(2, 2), { policy: 'conservative' });
  sim.submit('batch', { pods: 2, cpu: 2, walltime: 100 });
  await sim.pass();
  sim.submit('web', { ...SERVICE, cpu: 2 });
  sim.submit('wide', { pods: 2, cpu: 2 });
  sim.submit('small', { cpu: 2 });
  const result = await sim.pass();
  expect(reserved(result)).toEqual(['web', 'small']);
  expect(sim.row('wide')).toMatchObject({ reason: 'Busy', estimatedStart: null });
  expect(sim.row('wide').message).toContain('whose end is not known');
  const { jobs } = await sim.fluxion.state();
  expect(jobs.map(({ jobid }) => jobid).sort()).toEqual([1, 2, 4]);
  sim.now += 1;
  expect(await sim.pass()).toMatchObject({ waits: [], matches: 0 });
});

test('a queue keeps no quota for a workload whose quota services hold', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', { quota: { cores: 4 } });
  sim.submit('web', { ...SERVICE, cpu: 3 });
  await sim.pass();
  sim.submit('large', { cpu: 2 });
  sim.submit('small', { cpu: 1, walltime: 1_000 });
  expect(granted(await sim.pass())).toEqual(['small']);
  expect(sim.row('large')).toMatchObject({ reason: 'QuotaExceeded' });
});

test('a preemptible workload without an end in sight may still be preempted', async () => {
  const sim = await Simulation.of(nodesOf(1, 2));
  sim.queue('default', PREEMPTS);
  sim.submit('forever', { cpu: 2, walltime: ENDLESS_SECONDS, preemptible: true });
  await sim.pass();
  sim.submit('urgent', { cpu: 2, priority: 1 });
  expect((await sim.pass()).evictions.map(({ uid }) => uid)).toEqual(['forever']);
});

test('nobody is preempted for a workload that needs a service gone', async () => {
  const sim = await withService('easy');
  sim.queue('default', PREEMPTS);
  sim.submit('low', { cpu: 2, preemptible: true });
  await sim.pass();
  sim.submit('urgent', { pods: 3, cpu: 2, priority: 1 });
  expect((await sim.pass()).evictions).toEqual([]);
});

test('a thousand shapes that services block cost a bounded count per pass', async () => {
  const sim = await Simulation.of(nodesOf(20, 100));
  for (let i = 0; i < 20; i++) sim.submit(`web-${i}`, { ...SERVICE, cpu: 100 });
  await sim.pass();
  for (let i = 0; i < 1_000; i++) sim.submit(`w-${i}`, { cpu: 1 + (i % 100), pods: 1 + Math.floor(i / 100) });
  const first = await sim.pass();
  expect(first.waits).toHaveLength(1_000);
  expect(first.matches).toBeLessThanOrEqual(5);
  expect(await sim.pass()).toMatchObject({ matches: 0 });
});

test('says which services hold the quota that has no known start', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 4 }, reclaim: true });
  sim.queue('guest', { cohort: 'lab', quota: { cores: 2 } });
  for (let i = 0; i < 5; i++) sim.submit(`web${i}`, { ...SERVICE, queue: 'guest', cpu: 1 });
  await sim.pass();
  sim.submit('mine', { queue: 'owner', cpu: 4, walltime: 100 });
  await sim.pass();
  expect(sim.row('mine')).toMatchObject({
    reason: 'QuotaExceeded',
    message:
      'needs 4 cores, more than is left of the quota of cohort lab (6 cores in all); ' +
      'services hold part of it and have no end (science/web0, science/web1, science/web2 and others)',
    estimatedStart: null,
  });
});

const evictedBy = (result: { evictions: readonly { uid: string }[] }) =>
  result.evictions.map(({ uid }) => uid);

test.each(QUEUE_POLICIES)(
  '%s: it may also be preempted once another workload was refused behind it',
  async (policy) => {
    const sim = await Simulation.of(nodesOf(1, 8));
    sim.queue('default', { ...PREEMPTS, policy });
    sim.submit('forever', { kind: 'RayCluster', cpu: 8, walltime: ENDLESS_SECONDS, preemptible: true });
    await sim.pass();
    sim.submit('equal', { cpu: 4 });
    await sim.pass();
    expect(sim.row('equal').message).toContain('whose end is not known');
    sim.submit('urgent', { cpu: 4, priority: 1 });
    expect(evictedBy(await sim.pass())).toEqual(['forever']);
    expect(sim.row('urgent').reason).toBe('Reserved');
    await sim.requeue('forever');
    expect(granted(await sim.pass())).toContain('urgent');
  },
);

test('asks once for those that would preempt it in vain', async () => {
  const sim = await Simulation.of(nodesOf(2, 8));
  sim.queue('default', PREEMPTS);
  sim.submit('web', { ...SERVICE, cpu: 8 });
  sim.submit('forever', { kind: 'RayCluster', cpu: 8, walltime: ENDLESS_SECONDS, preemptible: true });
  sim.submit('wide', { cpu: 4 });
  await sim.pass();
  for (let i = 0; i < 20; i++) sim.submit(`urgent${i}`, { cpu: 8, pods: 2, priority: 1 });
  expect(evictedBy(await sim.pass())).toEqual([]);
  sim.now += 1;
  expect(await sim.pass()).toMatchObject({ waits: [], matches: 0 });
});

test('a workload that would run behind the reservation of a service keeps no shorter one waiting', async () => {
  const sim = await Simulation.of(nodesOf(1, 8), { policy: 'conservative' });
  sim.submit('batch', { cpu: 4, walltime: 3_600 });
  await sim.pass();
  sim.submit('web', { ...SERVICE, cpu: 8 });
  sim.submit('long', { cpu: 4, walltime: 36_000 });
  await sim.pass();
  expect(sim.row('long').message).toContain('whose end is not known');
  sim.submit('short', { cpu: 4, walltime: 1_800 });
  expect(granted(await sim.pass())).toEqual(['short']);
});

/** Two nodes, both borrowed or held by workloads of `guest` that have no end; `owner` has quota for one of them. */
async function withLentNodes(owner: Partial<QueueSettings>): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(2, 8));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 8 }, ...owner });
  sim.queue('guest', { ...PREEMPTS, cohort: 'lab', quota: { cores: 8 } });
  for (const uid of ['ray0', 'ray1']) {
    sim.submit(uid, { queue: 'guest', kind: 'RayCluster', cpu: 8, walltime: ENDLESS_SECONDS });
    await sim.pass();
  }
  return sim;
}

describe.each<[string, Partial<QueueSettings>]>([
  ['returns borrowed quota', { reclaim: true }],
  ['gives quota to a queue with a smaller share', { fairSharing: 'LessThanInitialShare' }],
])('a workload without an end that can be suspended %s', (_, owner) => {
  test('where it holds all nodes', async () => {
    const sim = await withLentNodes(owner);
    sim.submit('mine', { queue: 'owner', cpu: 8, walltime: 100 });
    expect(evictedBy(await sim.pass())).toEqual(['ray1']);
    await sim.requeue('ray1');
    expect(granted(await sim.pass())).toEqual(['mine']);
  });

  test('also once another workload was refused behind it', async () => {
    const sim = await withLentNodes(owner);
    sim.submit('other', { cpu: 4, walltime: 100 });
    await sim.pass();
    sim.submit('mine', { queue: 'owner', cpu: 8, walltime: 100 });
    expect(evictedBy(await sim.pass())).toEqual(['ray1']);
  });

  test('but not to one that needs a service gone', async () => {
    const sim = await withLentNodes(owner);
    await sim.finish('ray0');
    sim.submit('web', { ...SERVICE, queue: 'guest', cpu: 8 });
    await sim.pass();
    sim.submit('mine', { queue: 'owner', cpu: 4, pods: 2, exclusive: true, walltime: 100 });
    expect(evictedBy(await sim.pass())).toEqual([]);
    expect(sim.row('mine')).toMatchObject({ reason: 'Busy' });
    expect(sim.row('mine').message).toContain('science/web)');
  });
});
