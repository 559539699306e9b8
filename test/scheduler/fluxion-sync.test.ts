import { FluxqError } from '../../runtime/errors';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { FluxionSync } from '../../runtime/scheduler/fluxion-sync';
import { create, desired, holder, N0, N1, NOW, nodes, using } from './fluxion-sync-fixture';

const jobspec = jobspecOf({ pod: { containers: [{}] }, pods: 1, walltime: 60 });

test('replays the allocations of rows, and rebuilds only when it is stale', async () => {
  const { graph, causes, free } = create();
  expect(graph.isStale).toBe(true);
  const holders = [holder(1, 'n0', '0-1')];
  await graph.sync(desired({ holders }));
  expect(await free()).toEqual({ n0: 0, n1: 2 });
  await graph.sync(desired({ holders }));
  graph.invalidate('an answer was lost');
  graph.invalidate('a later cause');
  await graph.sync(desired({ holders }));
  expect(causes).toEqual(['start', 'an answer was lost']);
});

test('starts on the graph that the standby kept, and from nothing once it is in doubt', async () => {
  const warm: unknown[] = [];
  const inner = embeddedFluxion();
  const { graph } = create({
    init: (request) => {
      warm.push(request.warm);
      return warm.length === 1 ? Promise.reject(new Error('no answer')) : inner.init(request);
    },
    replay: (...replayed) => inner.replay(...replayed),
  });
  await expect(graph.sync(desired())).rejects.toThrow('no answer');
  await graph.sync(desired());
  expect(warm).toEqual([true, false]);
});

test('leaves out the later of two rows that hold the same unit', async () => {
  const { graph, fluxion } = create();
  await graph.sync(desired({ holders: [holder(1, 'n0', '0'), holder(2, 'n0', '0'), holder(3, 'n1', '1')] }));
  expect((await fluxion.state()).jobs.map(({ jobid }) => jobid).sort()).toEqual([1, 3]);
});

test('frees jobs and nodes of jobs with the next sync, and reports that units became free', async () => {
  const { graph, free } = create();
  await graph.sync(desired({ holders: [holder(1, 'n0', '0'), holder(2, 'n1', '0')] }));
  expect(await graph.sync(desired())).toMatchObject({ freed: false });
  graph.cancelLater(1);
  graph.shrinkLater(2, ['n1']);
  expect(await graph.sync(desired())).toMatchObject({ freed: true });
  expect(await free()).toEqual({ n0: 2, n1: 2 });
});

test('rebuilds when a node comes back under the job that holds it', async () => {
  const { graph, causes, free } = create();
  const holders = [holder(1, 'n1', '0')];
  await graph.sync(desired({ nodes: nodes(N0), holders }));
  await graph.sync(desired({ holders }));
  expect(causes).toEqual(['start', 'nodes changed']);
  expect(await free()).toEqual({ n0: 2, n1: 1 });
});

test('gives a node that shrinks or grows its units under its jobs, without a rebuild', async () => {
  const { graph, causes, fluxion, free } = create();
  const others = ['n2', 'n3', 'n4', 'n5', 'n6'].map((name) => ({ name, units: { core: 2 } }));
  const withN0 = (core: number) => nodes({ name: 'n0', units: { core } }, N1, ...others);
  const holders = [holder(1, 'n0', '0'), holder(2, 'n0', '6-7'), holder(3, 'n1', '0')];
  const allocation = {
    jobid: 9,
    start: NOW + 99,
    end: NOW + 199,
    nodes: [{ name: 'n0', units: { core: '0' } }],
  };
  await graph.sync(desired({ nodes: withN0(8), holders }));
  await fluxion.replay([allocation], NOW);
  const reservations = [{ uid: 'r', jobid: 9, allocation }];
  const shrunk = { nodes: withN0(7), holders };
  // Job 2 has lost its last core, but needs two: it holds another one.
  expect(await graph.sync(desired({ ...shrunk, reservations }))).toEqual({ freed: false, reservations: [] });
  expect(await free()).toMatchObject({ n0: 4, n1: 1, n2: 2 });
  expect(await graph.verify(desired(shrunk), () => true)).toBeUndefined();
  const grown = { nodes: withN0(9), holders };
  expect(await graph.sync(desired(grown))).toMatchObject({ freed: true });
  expect(await free()).toMatchObject({ n0: 6 });
  expect(await graph.verify(desired(grown), () => true)).toBeUndefined();
  expect(causes).toEqual(['start']);
});

test('follows nodes without a rebuild', async () => {
  const { graph, fluxion, causes } = create();
  await graph.sync(desired({ nodes: nodes(N0) }));
  await graph.sync(desired({ nodes: nodes({ ...N0, up: false }, N1) }));
  expect((await fluxion.state()).nodes.map(({ name, up }) => [name, up])).toEqual([
    ['n0', false],
    ['n1', true],
  ]);
  await graph.sync(desired({ nodes: nodes(N1) }));
  expect((await fluxion.state()).nodes.map(({ name }) => name)).toEqual(['n1']);
  expect(causes).toEqual(['start']);
});

test('holds units that pods outside the queue use, and more once workloads have freed them', async () => {
  const { graph, free } = create();
  const holders = [holder(1, 'n0', '0-1')];
  const unmanaged = using({ n0: { core: 1 }, n1: { core: 1 } });
  await graph.sync(desired({ holders, unmanaged }));
  expect(await free()).toEqual({ n0: 0, n1: 1 });
  graph.cancelLater(1);
  await graph.sync(desired({ unmanaged }));
  expect(await free()).toEqual({ n0: 1, n1: 1 });
  expect(await graph.sync(desired({ unmanaged: using({ n0: { core: 1 } }) }))).toMatchObject({ freed: true });
  expect(await free()).toEqual({ n0: 1, n1: 2 });
});

test('cancels a reservation on a node that pods outside the queue begin to use', async () => {
  const { graph, fluxion, free } = create();
  await graph.sync(desired());
  const allocation = {
    jobid: 7,
    start: NOW + 10,
    end: NOW + 70,
    nodes: [{ name: 'n0', units: { core: '0-1' } }],
  };
  const elsewhere = {
    jobid: 8,
    start: NOW + 10,
    end: NOW + 70,
    nodes: [{ name: 'n1', units: { core: '0-1' } }],
  };
  await fluxion.replay([allocation, elsewhere], NOW);
  const reservations = [
    { uid: 'a', jobid: 7, allocation },
    { uid: 'b', jobid: 8, allocation: elsewhere },
  ];
  const result = await graph.sync(desired({ reservations, unmanaged: using({ n0: { core: 1 } }) }));
  expect(result.reservations.map(({ jobid }) => jobid)).toEqual([8]);
  expect(await free()).toMatchObject({ n0: 1 });
});

describe('the planned end of an allocation', () => {
  const endOf = async (fluxion: Fluxion, of = 1) =>
    (await fluxion.state()).jobs.find(({ jobid }) => jobid === of)?.end;
  const reservation = (jobid: number, start: number, node: string) => {
    const allocation = { jobid, start, end: start + 60, nodes: [{ name: node, units: { core: '0-1' } }] };
    return { uid: `r${jobid}`, jobid, allocation };
  };

  test('moves in Fluxion when a prediction is reached, and cancels the reservations in its way', async () => {
    const { graph, fluxion, causes } = create();
    const holders = [holder(1, 'n0', '0')];
    await graph.sync(desired({ holders }));
    const reservations = [reservation(7, NOW + 60, 'n0'), reservation(8, NOW + 60, 'n1')];
    await fluxion.replay(
      reservations.map(({ allocation }) => allocation),
      NOW,
    );
    const at = (now: number) => graph.sync(desired({ now, holders, reservations }));
    expect(await at(NOW + 59)).toEqual({ freed: false, reservations });
    expect(await endOf(fluxion)).toBe(NOW + 60);
    expect(await at(NOW + 60)).toEqual({ freed: true, reservations: [reservations[1]] });
    expect(await endOf(fluxion)).toBe(NOW + 105);
    expect(await graph.sync(desired({ now: NOW + 104, holders }))).toMatchObject({ freed: false });
    expect(await graph.sync(desired({ now: NOW + 105, holders }))).toMatchObject({ freed: true });
    expect([await endOf(fluxion), causes]).toEqual([NOW + 150, ['start']]);
  });

  test('keeps a reservation that begins after the predicted end', async () => {
    const { graph, fluxion } = create();
    const holders = [holder(1, 'n0', '0')];
    await graph.sync(desired({ holders }));
    const reservations = [reservation(7, NOW + 105, 'n0')];
    await fluxion.replay(
      reservations.map(({ allocation }) => allocation),
      NOW,
    );
    expect(await graph.sync(desired({ now: NOW + 60, holders, reservations }))).toEqual({
      freed: true,
      reservations,
    });
  });

  test('is the same after a rebuild, and is not moved twice', async () => {
    const { graph, fluxion } = create();
    const holders = [holder(1, 'n0', '0')];
    await graph.sync(desired({ now: NOW + 300, holders }));
    expect(await endOf(fluxion)).toBe(NOW + 60 + 360);
    const before = (await fluxion.state()).jobs;
    expect(await graph.sync(desired({ now: NOW + 301, holders }))).toMatchObject({ freed: false });
    expect((await fluxion.state()).jobs).toEqual(before);
  });

  test('moves forward when an eviction is requested', async () => {
    const { graph, fluxion } = create();
    const granted = holder(1, 'n0', '0');
    await graph.sync(desired({ holders: [granted] }));
    const evicted = {
      ...granted,
      evictionReason: 'for b',
      allocation: { ...granted.allocation!, end: NOW + 50 },
    };
    expect(await graph.sync(desired({ holders: [evicted] }))).toMatchObject({ freed: true });
    expect(await endOf(fluxion)).toBe(NOW + 50);
    await graph.sync(desired({ now: NOW + 50, holders: [evicted] }));
    expect(await endOf(fluxion)).toBe(NOW + 95);
  });

  test('does not bring back a job that ends while the sync frees another one', async () => {
    const { graph, fluxion } = create();
    const holders = [holder(1, 'n0', '0'), holder(2, 'n1', '0')];
    await graph.sync(desired({ holders }));
    const cancel = fluxion.cancel.bind(fluxion);
    Object.assign(fluxion, {
      cancel: (jobid: number) => {
        if (jobid === 1) graph.cancelLater(2);
        return cancel(jobid);
      },
    });
    graph.cancelLater(1);
    await graph.sync(desired({ now: NOW + 60, holders: [holders[1]!] }));
    await graph.sync(desired({ now: NOW + 61 }));
    expect((await fluxion.state()).jobs).toEqual([]);
  });

  test('moves on the nodes that still exist, up or down', async () => {
    const { graph, fluxion, free } = create();
    const wide = holder(1, 'n0', '0');
    const allocation = {
      ...wide.allocation!,
      nodes: ['n0', 'n1'].map((name) => ({ name, units: { core: '0' } })),
    };
    const holders = [{ ...wide, allocation }];
    await graph.sync(desired({ holders }));
    await graph.sync(desired({ nodes: nodes({ ...N1, up: false }), holders }));
    await graph.sync(desired({ now: NOW + 60, nodes: nodes({ ...N1, up: false }), holders }));
    expect([await endOf(fluxion), await free()]).toEqual([NOW + 105, { n1: 1 }]);
    await graph.sync(desired({ now: NOW + 105, nodes: nodes(N1), holders }));
    expect([await endOf(fluxion), await free()]).toEqual([NOW + 150, { n1: 1 }]);
  });
});

test('a difference makes it stale, unless the row has changed since', async () => {
  const { graph, fluxion } = create();
  const holders = [holder(1, 'n0', '0')];
  await graph.sync(desired({ holders }));
  expect(await graph.verify(desired({ holders }), () => true)).toBeUndefined();
  await fluxion.cancel(1);
  expect(await graph.verify(desired({ holders }), () => false)).toBeUndefined();
  expect(graph.isStale).toBe(false);
  expect(await graph.verify(desired({ holders }), () => true)).toBe(
    'job 1 should hold n0 (core 0) but holds nothing',
  );
  expect(() => graph.matcher).toThrow(/FLUXQ_FLUXION_IN_DOUBT/);
});

test('is stale after an error and recovers with the next sync', async () => {
  const { graph } = create({
    addNodes: async () => {
      throw new FluxqError('FLUXQ_FLUXION_IN_DOUBT', 'no answer', { retryable: true });
    },
  });
  await graph.sync(desired({ nodes: nodes(N0) }));
  await expect(graph.sync(desired())).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
  expect(graph.isStale).toBe(true);
  await graph.sync(desired());
  const answer = await graph.matcher.match({ jobid: 9, jobspec, operation: 'allocate', now: NOW });
  expect(answer.status).toBe('OK');
});

describe('the view of Fluxion', () => {
  const view = (graph: FluxionSync, holders: readonly WorkloadRow[]) =>
    graph.view({ holders, reservations: [] });

  test('says on which nodes Fluxion differs from the rows, and changes nothing', async () => {
    const { graph, fluxion } = create();
    const holders = [holder(1, 'n0', '0'), holder(2, 'n1', '0')];
    await graph.sync(desired({ holders }));
    expect((await view(graph, holders)).drift).toEqual({});
    await fluxion.cancel(2);
    const seen = await view(graph, holders);
    expect(seen.drift).toEqual({ n1: ['job 2 should hold n1 (core 0) but holds nothing'] });
    expect(seen.nodes.map(({ name, free }) => [name, free.core])).toEqual([
      ['n0', 1],
      ['n1', 2],
    ]);
    expect(graph.isStale).toBe(false);
  });

  test('what the next pass frees is no difference', async () => {
    const { graph } = create();
    const wide = holder(1, 'n0', '0');
    await graph.sync(desired({ holders: [wide, holder(2, 'n1', '0')] }));
    graph.cancelLater(2);
    graph.shrinkLater(1, ['n0']);
    expect((await view(graph, [])).drift).toEqual({});
  });

  test('says that Fluxion is stale, or why it does not answer', async () => {
    const { graph, fluxion } = create();
    await graph.sync(desired());
    expect((await view(graph, [])).stale).toBeUndefined();
    graph.invalidate('the rows were reloaded');
    expect(await view(graph, [holder(1, 'n0', '0')])).toMatchObject({
      stale: 'the rows were reloaded',
      drift: {},
    });
    fluxion.state = () => Promise.reject(new Error('gone'));
    expect(await view(graph, [])).toMatchObject({ stale: 'gone', nodes: [] });
  });
});
