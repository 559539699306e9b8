/** Jobs on a node that has fewer units than they were granted, as after an agent started on it. */
import type { UnitCounts } from '../../runtime/resources/types';
import { create, desired, holder, holding, NOW, nodes, using } from './fluxion-sync-fixture';

/** A node among others, so that no rebuild is cheaper than to replace it. */
const OTHERS = ['m1', 'm2', 'm3', 'm4', 'm5'].map((name) => ({ name, units: { core: 4 } }));
const withN1 = (units: UnitCounts) => nodes({ name: 'n1', units }, ...OTHERS);
/** Jobs 1 to 10, each with the core of its number less one. */
const ofOneCore = () => Array.from({ length: 10 }, (_, i) => holder(i + 1, 'n1', `${i}`));
const reservation = (jobid: number, node: string) => {
  const units = { core: '0' };
  const allocation = { jobid, start: NOW + 99, end: NOW + 199, nodes: [{ name: node, units }] };
  return { uid: `r${jobid}`, jobid, allocation };
};
const always = () => true;

function shrinking() {
  const world = create();
  const heldOn = async (jobid: number) =>
    (await world.fluxion.state()).jobs.find((job) => job.jobid === jobid)?.nodes;
  return { ...world, heldOn };
}

test('a job gets back the units that it lost before another job gets them', async () => {
  const { graph, fluxion, causes, heldOn } = shrinking();
  const [a, b] = [
    holding(1, 'n1', { core: '0-3', gpu: '0-3' }),
    holding(2, 'n1', { core: '4-7', gpu: '4-7' }),
  ];
  await graph.sync(desired({ nodes: withN1({ core: 32, gpu: 8 }), holders: [a, b] }));
  const shrunk = withN1({ core: 32, gpu: 7 });
  await graph.sync(desired({ nodes: shrunk, holders: [a, b] }));
  expect(await heldOn(2)).toEqual([{ name: 'n1', units: { core: '4-7', gpu: '4-6' } }]);
  graph.cancelLater(1);
  const after = desired({ nodes: shrunk, holders: [b] });
  expect(await graph.sync(after)).toMatchObject({ freed: true });
  expect(await heldOn(2)).toEqual([{ name: 'n1', units: { core: '4-7', gpu: '0,4-6' } }]);
  expect((await fluxion.state()).nodes.find(({ name }) => name === 'n1')?.free.gpu).toBe(3);
  expect(await graph.verify(after, always)).toBeUndefined();
  expect(causes).toEqual(['start']);
});

test.each([
  ['', {}],
  [', of which pods outside the queue use some', { n1: { core: 1 } }],
])('jobs that moved to units of other jobs keep them as ends move on a node%s', async (_, usage) => {
  const { graph, causes, heldOn } = shrinking();
  const given = { nodes: withN1({ core: 8 }), unmanaged: using(usage) };
  let holders = ofOneCore();
  const end = (jobid: number) => {
    graph.cancelLater(jobid);
    holders = holders.filter((row) => row.jobid !== jobid);
  };
  const evict = (jobid: number, at: number) => {
    holders = holders.map((row) =>
      row.jobid === jobid ? { ...row, allocation: { ...row.allocation!, end: at } } : row,
    );
  };
  await graph.sync(desired({ nodes: withN1({ core: 10 }), holders }));
  await graph.sync(desired({ ...given, holders }));
  end(4);
  await graph.sync(desired({ ...given, holders }));
  evict(9, NOW + 50);
  await graph.sync(desired({ ...given, holders }));
  expect(await heldOn(9)).toEqual([{ name: 'n1', units: { core: '3' } }]);
  end(2);
  await graph.sync(desired({ ...given, holders }));
  evict(10, NOW + 55);
  await graph.sync(desired({ ...given, holders }));
  expect(await heldOn(9)).toEqual([{ name: 'n1', units: { core: '3' } }]);
  expect(await heldOn(10)).toEqual([{ name: 'n1', units: { core: '1' } }]);
  expect(await graph.verify(desired({ ...given, holders }), always)).toBeUndefined();
  expect(causes).toEqual(['start']);
});

test('pods outside the queue give up units to the jobs that were granted them, and get what is left', async () => {
  const { graph, free } = shrinking();
  const unmanaged = using({ n1: { core: 2 } });
  const holders = [holder(1, 'n1', '0'), holder(2, 'n1', '1-2'), holder(3, 'n1', '3-5')];
  await graph.sync(desired({ nodes: withN1({ core: 8 }), unmanaged, holders }));
  const shrunk = { nodes: withN1({ core: 5 }), unmanaged };
  await graph.sync(desired({ ...shrunk, holders }));
  expect(await free()).toMatchObject({ n1: 0 });
  graph.cancelLater(2);
  const left = [holders[0]!, holders[2]!];
  await graph.sync(desired({ ...shrunk, holders: left }));
  expect(await graph.verify(desired({ ...shrunk, holders: left }), always)).toBeUndefined();
  // Job 3 has three cores and job 1 one: of the two that pods outside the queue use, one is free.
  expect(await free()).toMatchObject({ n1: 0 });
  graph.cancelLater(3);
  await graph.sync(desired({ ...shrunk, holders: [holders[0]!] }));
  expect(await free()).toMatchObject({ n1: 2 });
});

test('reservations go only from the nodes on which a job gets units back', async () => {
  const { graph, fluxion } = shrinking();
  const holders = ofOneCore();
  await graph.sync(desired({ nodes: withN1({ core: 10 }), holders }));
  await graph.sync(desired({ nodes: withN1({ core: 8 }), holders }));
  const reservations = [reservation(21, 'n1'), reservation(22, 'm1')];
  await fluxion.replay(
    reservations.map(({ allocation }) => allocation),
    NOW,
  );
  const shrunk = { nodes: withN1({ core: 8 }), reservations };
  expect((await graph.sync(desired({ ...shrunk, holders }))).reservations).toEqual(reservations);
  graph.cancelLater(4);
  const result = await graph.sync(
    desired({ ...shrunk, holders: holders.filter(({ jobid }) => jobid !== 4) }),
  );
  expect(result.reservations).toEqual([reservations[1]]);
});

test('a job without any unit left is no difference, and gets the next units that become free', async () => {
  const { graph, causes, heldOn } = shrinking();
  const holders = ofOneCore();
  await graph.sync(desired({ nodes: withN1({ core: 10 }), holders }));
  const shrunk = { nodes: withN1({ core: 8 }) };
  await graph.sync(desired({ ...shrunk, holders }));
  expect(await heldOn(10)).toBeUndefined();
  expect(await graph.verify(desired({ ...shrunk, holders }), always)).toBeUndefined();
  expect((await graph.view({ holders, reservations: [] })).drift).toEqual({});
  // Its end may move, and it may end, as that of any other.
  await graph.sync(desired({ ...shrunk, holders, now: NOW + 60 }));
  graph.cancelLater(9);
  graph.cancelLater(1);
  await graph.sync(desired({ ...shrunk, holders: holders.slice(1).filter(({ jobid }) => jobid !== 9) }));
  expect(await heldOn(10)).toEqual([{ name: 'n1', units: { core: '0' } }]);
  expect(causes).toEqual(['start']);
});

test('a removed node takes its reservations with it', async () => {
  const { graph, fluxion } = shrinking();
  const all = withN1({ core: 4 });
  await graph.sync(desired({ nodes: all }));
  const reservations = [reservation(21, 'm1'), reservation(22, 'm2')];
  await fluxion.replay(
    reservations.map(({ allocation }) => allocation),
    NOW,
  );
  const less = desired({ nodes: new Map([...all].filter(([name]) => name !== 'm1')), reservations });
  const { reservations: kept } = await graph.sync(less);
  expect(kept).toEqual([reservations[1]]);
  expect(await graph.verify({ ...less, reservations: kept }, always)).toBeUndefined();
});

test('units that are taken are the concern of this sync: it rebuilds, and brings back nothing that ended', async () => {
  const { graph, fluxion, causes } = shrinking();
  const holders = [holder(1, 'n1', '0'), holder(2, 'n1', '1'), holder(3, 'n1', '2')];
  await graph.sync(desired({ nodes: withN1({ core: 4 }), holders }));
  // As if Fluxion had given the unit to another.
  await fluxion.cancel(1);
  const { allocation } = holder(99, 'n1', '0');
  await fluxion.replay([allocation!], NOW);
  graph.cancelLater(2);
  const replay = fluxion.replay.bind(fluxion);
  Object.assign(fluxion, {
    replay: (...given: Parameters<typeof replay>) => {
      graph.cancelLater(3);
      return replay(...given);
    },
  });
  // The end of job 1 moves, and the snapshot is from before the ends of the others.
  const moved = { nodes: withN1({ core: 4 }), now: NOW + 60 };
  expect(await graph.sync(desired({ ...moved, holders }))).toMatchObject({ freed: true });
  expect(causes).toEqual(['start', expect.stringContaining('FLUXQ_FLUXION_REPLAY')]);
  await graph.sync(desired({ ...moved, holders: [holders[0]!] }));
  expect((await fluxion.state()).jobs.map(({ jobid }) => jobid)).toEqual([1]);
});
