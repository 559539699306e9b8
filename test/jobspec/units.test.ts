import fc from 'fast-check';
import type { Quantities } from '../../runtime/jobspec/pod';
import { podRequests, type Requests } from '../../runtime/jobspec/requests';
import { nodeUnits, unitsOf, unitType, unmanagedUnits } from '../../runtime/jobspec/units';

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

test('uses the configured sizes of units', () => {
  const settings = { cpuMillis: 100, memoryMiB: 256 };
  expect(unitsOf(of({ cpu: '101m', memory: '1Gi' }), settings)).toEqual({ core: 2, memory: 4 });
});

test('rounds the usage of pods outside the queue once per node', () => {
  const agents = Array.from({ length: 10 }, () => of({ cpu: '50m', memory: '100Mi' }));
  expect(unmanagedUnits(agents)).toEqual({ core: 1, memory: 1 });
  expect(unmanagedUnits([of({})])).toEqual({});
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
