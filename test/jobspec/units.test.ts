import { podsOn } from '../../runtime/jobspec/capacity';
import { graphNodes } from '../../runtime/jobspec/graph-nodes';
import type { Quantities } from '../../runtime/jobspec/pod';
import { podRequests, type Requests } from '../../runtime/jobspec/requests';
import {
  DEFAULT_UNITS,
  nodeUnits,
  type UnitSettings,
  unitsOf,
  unitType,
  unmanagedUnits,
} from '../../runtime/jobspec/units';
import fc from '../fast-check';

const of = (quantities: Quantities): Requests =>
  podRequests({ containers: [{ resources: { requests: quantities } }] });

test('rounds requests up and allocatable resources down', () => {
  const quantities = {
    cpu: '2500m',
    memory: '1537Mi',
    'nvidia.com/gpu': '2',
    pods: '110',
    'ephemeral-storage': '9Gi',
  };
  expect(unitsOf(of(quantities))).toEqual({ core: 3, gpu: 2, memory: 2 });
  expect(nodeUnits(of(quantities))).toEqual({ core: 2, gpu: 2, memory: 1 });
});

test('charges a pod without requests one core unit and no memory', () => {
  expect(unitsOf(of({}))).toEqual({ core: 1 });
  expect(unitsOf(of({ memory: '1' }))).toEqual({ core: 1, memory: 1 });
  expect(nodeUnits(of({ cpu: '900m' }))).toEqual({});
});

test('a node that advertises a resource in bytes has no more units of it than the graph can hold', () => {
  for (const amount of ['800Gi', '3000000000', '9223372036854775807'])
    expect(nodeUnits(of({ cpu: 2, 'example.com/special-storage': amount }))).toEqual({
      core: 2,
      example_com_special_storage: 4_194_304,
    });
});

test('uses the configured sizes of units', () => {
  const settings = { cpuMillis: 100, memoryMiB: 256 };
  expect(unitsOf(of({ cpu: '101m', memory: '1Gi' }), settings)).toEqual({ core: 2, memory: 4 });
});

test('rounds the usage of pods outside the queue once per node', () => {
  const agents = Array.from({ length: 10 }, () => of({ cpu: '50m', memory: '100Mi' }));
  expect(unmanagedUnits(agents, of({ cpu: '4', memory: '8Gi' }))).toEqual({ core: 1, memory: 1 });
  expect(unmanagedUnits([of({})], of({ cpu: '4', memory: '8Gi' }))).toEqual({});
});

test.each<[string, Quantities, Quantities, object]>([
  [
    'what is left above the last unit',
    { cpu: '1930m', memory: '3900Mi' },
    { cpu: '300m', memory: '800Mi' },
    {},
  ],
  ['a little more than that', { cpu: '1930m' }, { cpu: '931m' }, { core: 1 }],
  ['anything of a whole number', { cpu: '2' }, { cpu: '1m' }, { core: 1 }],
  ['more than there is', { cpu: '2', memory: '2Gi' }, { cpu: '7', memory: '9Gi' }, { core: 2, memory: 2 }],
  ['what the node has none of', { cpu: '2' }, { 'nvidia.com/gpu': '1' }, {}],
  [
    'a gpu of one of two vendors',
    { 'nvidia.com/gpu': '2', 'amd.com/gpu': '1' },
    { 'amd.com/gpu': '1' },
    { gpu: 1 },
  ],
])('pods that are not ours take of their node %s', (_, allocatable, used, units) => {
  expect(unmanagedUnits([of(used)], of(allocatable))).toEqual(units);
});

test('what is left beside others always fits in the node, and no whole unit that would fit is lost', () => {
  const milli = fc.integer({ min: 1, max: 8_000 });
  fc.assert(
    fc.property(fc.array(milli, { maxLength: 5 }), fc.integer({ min: 1, max: 64_000 }), (others, node) => {
      const used = others.reduce((a, b) => a + b, 0);
      const cpu = (millis: number) => of({ cpu: `${millis}m` });
      const left = (nodeUnits(cpu(node)).core ?? 0) - (unmanagedUnits(others.map(cpu), cpu(node)).core ?? 0);
      expect(left).toBe(Math.max(0, Math.floor((node - used) / 1000)));
    }),
  );
});

test.each([
  ['cpu', 'core'],
  ['memory', 'memory'],
  ['nvidia.com/gpu', 'gpu'],
  ['amd.com/gpu', 'gpu'],
  ['nvidia.com/mig-1g.5gb', 'nvidia_com_mig_1g_5gb'],
  ['rdma/hca', 'rdma_hca'],
  ['pods', undefined],
  ['ephemeral-storage', undefined],
  ['hugepages-2Mi', undefined],
  ['kubernetes.io/batch', undefined],
  ['attachable-volumes.kubernetes.io/x', undefined],
])('counts %s as %s', (resource, type) => {
  expect(unitType(resource)).toBe(type);
});

test('pods whose units fit a node also fit its allocatable resources', () => {
  const milli = fc.integer({ min: 1, max: 64_000 });
  fc.assert(
    fc.property(fc.array(milli, { minLength: 1, maxLength: 20 }), milli, (pods, node) => {
      const charged = pods.reduce((total, cpu) => total + unitsOf(of({ cpu: `${cpu}m` })).core!, 0);
      const offered = nodeUnits(of({ cpu: `${node}m` })).core ?? 0;
      fc.pre(charged <= offered);
      expect(pods.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(node);
    }),
  );
});

describe('ten nodes of 3920m with agents of 250m', () => {
  const agents = of({ cpu: '250m', memory: '300Mi' });
  const node = (units: UnitSettings) => {
    const metadata = { name: 'n' };
    const status = { allocatable: { cpu: '3920m', memory: '15Gi' } };
    return graphNodes([{ metadata, status }], { units, agentsOn: () => agents })[0]!;
  };
  const podsOnTen = (requests: Quantities, units: UnitSettings) =>
    10 * podsOn(node(units).units, { perPod: unitsOf(of(requests), units), exclusive: false });
  const small = { cpuMillis: 100, memoryMiB: 128 };

  test.each<[string, Quantities, number, number]>([
    ['one core', { cpu: '1', memory: '1Gi' }, 30, 30],
    ['three cores', { cpu: '3', memory: '1Gi' }, 10, 10],
    ['100m and 128Mi', { cpu: '100m', memory: '128Mi' }, 360, 30],
    ['no requests', {}, 360, 30],
  ])('run pods of %s as kube-scheduler does, in units of 100m', (_, requests, inSmall, inLarge) => {
    expect(podsOnTen(requests, small)).toBe(inSmall);
    expect(podsOnTen(requests, DEFAULT_UNITS)).toBe(inLarge);
  });
});
