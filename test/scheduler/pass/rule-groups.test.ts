/** What kube-scheduler checks over groups of nodes, and amounts: one row per way in which a plan could be wrong. */
import {
  apart,
  type Case,
  HOST,
  labels,
  nodes,
  other,
  place,
  placeByZone,
  spread,
  together,
  two,
  ZONE,
  zones,
} from './rules';
import { granted, reserved, Simulation } from './simulation';

describe('topology spread', () => {
  const three = zones({ a: 2, b: 2, c: 2 });
  const small = zones({ a: 2, b: 2 }, 1);
  test.each<[string, Case, Record<string, number> | string]>([
    [
      'divides a gang over the zones',
      { nodes: three, job: { pods: 6, pod: spread() } },
      { a: 2, b: 2, c: 2 },
    ],
    ['to within maxSkew', { nodes: three, job: { pods: 7, pod: spread() } }, { a: 3, b: 2, c: 2 }],
    [
      'counts pods that are there',
      { nodes: three, job: { pods: 3, pod: spread() }, others: [other('a0', {}, 2), other('b0')] },
      { b: 1, c: 2 },
    ],
    [
      'not those of other namespaces',
      { nodes: three, job: { pods: 3, pod: spread() }, others: [other('a0', { namespace: 'x' }, 2)] },
      { a: 1, b: 1, c: 1 },
    ],
    [
      'a full zone limits the others',
      { nodes: zones({ a: 2, b: 1 }, 1), job: { pods: 3, pod: spread() } },
      { a: 2, b: 1 },
    ],
    [
      'to what maxSkew allows',
      { nodes: zones({ a: 3, b: 1 }, 1), job: { pods: 4, pod: spread() } },
      'Unsatisfiable',
    ],
    [
      'a larger maxSkew',
      { nodes: zones({ a: 3, b: 1 }, 1), job: { pods: 4, pod: spread(ZONE, 2) } },
      { a: 3, b: 1 },
    ],
    ['over nodes', { nodes: three, job: { pods: 6, pod: spread(HOST) } }, { a: 2, b: 2, c: 2 }],
    [
      'over nodes and zones',
      {
        nodes: zones({ a: 4, b: 1 }),
        job: {
          pods: 4,
          pod: {
            topologySpreadConstraints: [
              ...spread(HOST, 2).topologySpreadConstraints!,
              ...spread().topologySpreadConstraints!,
            ],
          },
        },
      },
      { a: 2, b: 2 },
    ],
    [
      'with anti-affinity',
      { nodes: three, job: { pods: 6, pod: { ...apart(), ...spread() } } },
      { a: 2, b: 2, c: 2 },
    ],
    [
      'zones that the selector leaves out do not count',
      { nodes: three, job: { pods: 2, pod: { ...spread(), nodeSelector: { zone: 'a' } } } },
      { a: 2 },
    ],
    [
      'unless the policy counts them',
      {
        nodes: three,
        job: {
          pods: 2,
          pod: { ...spread(ZONE, 1, { nodeAffinityPolicy: 'Ignore' }), nodeSelector: { zone: 'a' } },
        },
      },
      'Unsatisfiable',
    ],
    [
      'too few zones for minDomains: each counts as empty',
      { nodes: small, job: { pods: 3, pod: spread(ZONE, 1, { minDomains: 3 }) } },
      'Unsatisfiable',
    ],
    [
      'a pod that is not counted goes where the spread holds',
      { nodes: three, job: { pods: 2, labels: {}, pod: spread() }, others: [other('a0', {}, 2)] },
      { b: 2 },
    ],
    [
      'nodes without the label are no place',
      { nodes: [{ name: 'x', units: { core: 4 } }], job: { pod: spread() } },
      'Unsatisfiable',
    ],
    [
      'a zone whose nodes are down still counts',
      {
        nodes: [...zones({ a: 1 }), ...zones({ b: 1 }).map((node) => ({ ...node, up: false }))],
        job: { pods: 2, pod: spread() },
      },
      'Busy',
    ],
    ['nodes of any label', { nodes: three, job: { pods: 3, pod: spread('zone', 1) } }, { a: 1, b: 1, c: 1 }],
  ])('%s', async (_, given, expected) => {
    expect(await placeByZone(given)).toEqual(expected);
  });
});

test('pods that come later do not balance a spread', async () => {
  const sim = await Simulation.of(zones({ a: 1, b: 1 }));
  const inB = { nodeSelector: { zone: 'b' } };
  sim.submit('holder', { pods: 4, walltime: 10, pod: inB });
  sim.submit('later', { pods: 2, labels, pod: inB });
  sim.submit('spread', { pods: 2, walltime: 50, labels, pod: spread() });
  const { grants, reservations } = await sim.pass();
  expect([granted({ grants }), reserved({ reservations })]).toEqual([['holder'], ['later']]);
});

describe('affinity', () => {
  const pairs = zones({ a: 2, b: 2 });
  test.each<[string, Case, Record<string, number> | string]>([
    ['to itself: one node', { nodes: pairs, job: { pods: 4, pod: together() } }, { a: 4 }],
    ['to itself, too large for a node', { nodes: pairs, job: { pods: 5, pod: together() } }, 'Unsatisfiable'],
    ['to itself: one zone', { nodes: pairs, job: { pods: 8, pod: together(ZONE) } }, { a: 8 }],
    [
      'the zone that has room',
      { nodes: zones({ a: 1, b: 3 }), job: { pods: 6, pod: together(ZONE) } },
      { b: 6 },
    ],
    [
      'the zone of pods that run already',
      { nodes: pairs, job: { pods: 2, pod: together(ZONE) }, others: [other('b0')] },
      { b: 2 },
    ],
    [
      'all zones of such pods',
      {
        nodes: zones({ a: 1, b: 1, c: 1 }),
        job: { pods: 8, pod: together(ZONE) },
        others: [other('b0'), other('c0')],
      },
      { b: 4, c: 4 },
    ],
    ['to others only, which do not run', { nodes: pairs, job: { labels: {}, pod: together() } }, 'Busy'],
    [
      'to others only, which run',
      { nodes: pairs, job: { labels: {}, pod: together() }, others: [other('b1')] },
      { b: 1 },
    ],
    [
      'nodes without the label are no place',
      { nodes: [{ name: 'x', units: { core: 4 } }], job: { pod: together() } },
      'Unsatisfiable',
    ],
    [
      'one zone, a node each',
      {
        nodes: zones({ a: 1, b: 2 }),
        job: { pods: 2, pod: { affinity: { ...together(ZONE).affinity, ...apart().affinity } } },
      },
      { b: 2 },
    ],
  ])('%s', async (_, given, expected) => {
    expect(await placeByZone(given)).toEqual(expected);
  });
});

describe('amounts of a node that are not units', () => {
  const storage = (quantity: string) => ({
    containers: [{ resources: { requests: { cpu: 1, 'ephemeral-storage': quantity } } }],
  });
  const user = (amount: number) =>
    other('a0', { labels: {}, rules: { amounts: { 'ephemeral-storage': amount } } });
  const disk = { 'ephemeral-storage': 10 * 2 ** 30 };
  test.each<[string, Case, Record<string, number> | string]>([
    ['divide a gang', { nodes, amounts: disk, job: { ...two, pod: storage('6Gi') } }, { a0: 1, a1: 1 }],
    ['that fits a node', { nodes, amounts: disk, job: { ...two, pod: storage('5Gi') } }, { a0: 2 }],
    [
      'are used by others',
      { nodes, amounts: disk, job: { ...two, pod: storage('5Gi') }, others: [user(6 * 2 ** 30)] },
      { a1: 2 },
    ],
    [
      'may be missing on every node',
      { nodes, amounts: disk, job: { pod: storage('11Gi') } },
      'Unsatisfiable',
    ],
    [
      'nodes that do not have the resource',
      { nodes, job: { pod: { containers: [{ resources: { requests: { 'hugepages-2Mi': '2Mi' } } }] } } },
      'Unsatisfiable',
    ],
    ['the number of pods of a node', { nodes, amounts: { pods: 2 }, job: { pods: 4 } }, { a0: 2, a1: 2 }],
    [
      'others count among them',
      { nodes, amounts: { pods: 2 }, job: { pods: 2 }, others: [other('a0')] },
      { a0: 1, a1: 1 },
    ],
    ['too few of them', { nodes, amounts: { pods: 2 }, job: { pods: 5 } }, 'Unsatisfiable'],
  ])('%s', async (_, given, expected) => {
    expect(await place(given)).toEqual(expected);
  });

  test('a node that is full of pods keeps no workload from another node', async () => {
    const sim = await Simulation.of(nodes);
    for (const { name } of nodes) sim.amounts.set(name, { pods: 2 });
    for (const uid of ['1', '2', '3', '4', '5']) sim.submit(uid, { walltime: 10 });
    expect(granted(await sim.pass())).toEqual(['1', '2', '3', '4']);
    expect(reserved(await sim.pass())).toEqual(['5']);
    await sim.run();
    expect(sim.startOf('5')).toBe(1010);
  });
});
