/** What a pass spends on one workload: bounded for hostile ones, and enough for honest ones. */
import type { PlacementRules, SpreadRule } from '../../../runtime/jobspec/types';
import { planGang } from '../../../runtime/scheduler/pass/gang-plan';
import { WorkBudget } from '../../../runtime/scheduler/pass/work-budget';
import { apart, HOST, labels, other, spread, together, web, ZONE, zones } from './rules';
import { granted, Simulation } from './simulation';

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const traits = { namespace: 'science', labels };
const rule = (topologyKey: string): SpreadRule => ({
  topologyKey,
  namespaces: ['science'],
  selector: web,
  self: true,
  maxSkew: 1,
});
const gangNodes = (count: number) =>
  times(count, (i) => ({
    name: `n${i}`,
    properties: [`${HOST}=n${i}`, `${ZONE}=z${i % 10}`],
    room: 8,
  }));
const plan = (pods: number, nodes: number, rules: PlacementRules, others = 0) =>
  planGang(
    { start: 0, pods, traits, rules },
    gangNodes(nodes),
    times(others, (i) => other(`n${i % nodes}`)),
  );

test.each<[string, number, number, PlacementRules]>([
  ['spread over nodes', 5000, 10_000, { spread: [rule(HOST)] }],
  ['spread over nodes that take several of them', 20_000, 5000, { spread: [rule(HOST)] }],
  ['spread over zones', 20_000, 10_000, { spread: [rule(ZONE)] }],
  ['apart from each other', 5000, 10_000, { apart: [{ topologyKey: HOST, selector: web, self: true }] }],
  ['together in a zone', 5000, 10_000, { together: [{ topologyKey: ZONE, selector: web, self: true }] }],
])('%s, an honest gang is within the budget', (_, pods, nodes, rules) => {
  // Pods of others would close their nodes to pods that have to be apart from them.
  const { complete, pods: chosen } = plan(pods, nodes, rules, rules.apart === undefined ? 10_000 : 0);
  expect(complete).toBe(true);
  const counts = [...chosen.values()];
  if (rules.spread?.[0]?.topologyKey === HOST)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(2);
});

test.each<[string, PlacementRules]>([
  [
    'fifty spread constraints',
    { spread: times(50, (i) => ({ ...rule(i % 2 === 0 ? HOST : ZONE), maxSkew: 1 + i })) },
  ],
  [
    'affinity to itself on one node, and spread',
    { together: [{ topologyKey: HOST, selector: web, self: true }], spread: [rule(ZONE)] },
  ],
  [
    'fifty terms of anti-affinity',
    { apart: times(50, () => ({ topologyKey: HOST, selector: web, self: true })) },
  ],
])('%s cost more than one workload may, on whatever machine', (_, rules) => {
  expect(() => plan(100_000, 10_000, rules, rules.together === undefined ? 50_000 : 0)).toThrow(
    /^FLUXQ_TOO_COSTLY: spec.template.spec/,
  );
});

test('a budget counts what several plans have spent', () => {
  const search = new WorkBudget(10);
  const one = new WorkBudget(8);
  one.spend(6);
  search.charge(one);
  expect(search.isSpent).toBe(false);
  search.charge(one);
  expect(search.isSpent).toBe(true);
  expect(() => one.spend(3)).toThrow('FLUXQ_TOO_COSTLY');
});

test('a workload that costs too much waits as Invalid, and the others start', async () => {
  const sim = await Simulation.of(zones({ a: 1500, b: 1500 }));
  const costly = { ...together(HOST), ...spread(ZONE), ...spread(HOST) };
  sim.submit('costly', {
    pods: 6000,
    labels,
    pod: {
      ...costly,
      affinity: {
        ...apart(ZONE, { labelSelector: { matchLabels: { app: 'x' } } }).affinity,
        ...together(HOST).affinity,
      },
    },
  });
  sim.submit('next');
  const result = await sim.pass();
  expect(granted(result)).toEqual(['next']);
  expect(sim.row('costly')).toMatchObject({
    reason: 'Invalid',
    message: expect.stringContaining('takes too long to place'),
  });
  expect((await sim.pass()).matches).toBe(0);
});

/** A pod has to be on one node with seven others, and 9,000 pods outside the queue are counted for each node that is tried. */
async function costlyBesideLoad(): Promise<Simulation> {
  const all = zones({ a: 150, b: 150 }, 8);
  const sim = await Simulation.of(all);
  for (const { name } of all) sim.others.push(...times(30, () => other(name, { labels: { app: 'x' } })));
  sim.submit('load', { cpu: 5, pods: all.length, walltime: 10_000 });
  await sim.pass();
  for (const uid of ['gang', 'equal'])
    sim.submit(uid, { pods: 8, labels, walltime: 100, pod: { ...together(), ...spread(ZONE, 8) } });
  await sim.pass();
  return sim;
}

test('a workload that costs too much only beside the pods of now is tried again', async () => {
  const sim = await costlyBesideLoad();
  expect(sim.row('gang')).toMatchObject({
    reason: 'Busy',
    message: expect.stringContaining('takes too long to place beside the pods that are on the nodes now'),
  });
  await sim.finish('load');
  sim.now += 60;
  expect(granted(await sim.pass())).toEqual(['gang']);
});

test('a gang that costs too much to place only with the nodes that are down costs no other its start', async () => {
  const all = zones({ a: 1500, b: 1500 }, 8);
  const sim = await Simulation.of(all.map((node, i) => (i < 400 ? node : { ...node, up: false })));
  // No node has so many.
  sim.submit('gang', { pods: 9, labels, pod: { ...together(HOST), ...spread(ZONE, 9) } });
  sim.submit('next');
  expect(granted(await sim.pass())).toEqual(['next']);
  const message = expect.stringContaining('needs nodes that are down or cordoned');
  expect(sim.row('gang')).toMatchObject({ reason: 'Busy', message });
});

test('it is tried less and less often, and once for all that ask for the same', async () => {
  const sim = await costlyBesideLoad();
  const tries: number[] = [];
  for (let i = 0; i < 4; i++) {
    const { nextAt, matches } = await sim.pass({ freed: true });
    expect(matches).toBe(0);
    sim.now = nextAt!;
    tries.push(sim.now - 1_000);
    expect((await sim.pass()).matches).toBe(1);
  }
  expect(tries).toEqual([60, 180, 420, 900]);
});

test('a pass rests between its workloads', async () => {
  const sim = await Simulation.of(zones({ a: 4 }));
  for (const uid of ['a', 'b', 'c']) sim.submit(uid);
  let rests = 0;
  const rest = async () => {
    rests += 1;
  };
  expect(granted(await sim.pass({ rest }))).toEqual(['a', 'b', 'c']);
  expect(rests).toBe(3);
});
