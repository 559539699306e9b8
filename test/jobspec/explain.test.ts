import { busyText, downText, unsatisfiableText } from '../../runtime/jobspec/explain';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import type { PodSpec, Quantities } from '../../runtime/jobspec/pod';
import type { GraphNode, UnitCounts } from '../../runtime/resources/types';

function ask(pods: number, requests: Quantities, over: { exclusive?: boolean; pod?: Partial<PodSpec> } = {}) {
  const pod = { containers: [{ resources: { requests } }], ...over.pod };
  return jobspecOf({ pod, pods, walltime: 60, exclusive: over.exclusive ?? false });
}

function nodes(count: number, units: UnitCounts, properties: string[] = []): GraphNode[] {
  return Array.from({ length: count }, (_, i) => ({ name: `${properties.join()}n${i}`, units, properties }));
}

const GPU = nodes(3, { core: 8, gpu: 8 }, ['resource:nvidia.com/gpu']);
const CLUSTER = [...GPU, ...nodes(10, { core: 4, memory: 16 }, ['zone=a'])];

test.each([
  [
    ask(5, { cpu: '1', 'nvidia.com/gpu': '8' }),
    'asks for 5 nodes with 1 core and 8 nvidia.com/gpu, the cluster has 3',
  ],
  [
    ask(9, { cpu: '1', 'nvidia.com/gpu': '4' }),
    'asks for 9 pods with 1 core and 4 nvidia.com/gpu each, the cluster has room for 6',
  ],
  [ask(1, { cpu: '16' }), 'asks for 1 node with 16 cores, the cluster has none; the largest has 8 cores'],
  [ask(14, {}, { exclusive: true }), 'asks for 14 nodes, the cluster has 13'],
  [ask(1, { 'amd.com/gpu': '1' }), 'asks for 1 amd.com/gpu, no node of the cluster has any'],
  [
    ask(5, { 'amd.com/gpu': '4' }, { pod: { nodeSelector: { zone: 'a' } } }),
    'asks for 4 amd.com/gpu, no node of the cluster has any',
  ],
  [ask(2, { 'example.com/fpga': '3' }), 'asks for 3 example.com/fpga, no node of the cluster has any'],
  [
    ask(11, { cpu: '4', memory: '2Gi' }, { pod: { nodeSelector: { zone: 'a' } } }),
    'asks for 11 nodes with 4 cores and 2 GiB of memory, the cluster has 10',
  ],
  [
    ask(2, { cpu: '3' }, { pod: { nodeSelector: { zone: 'b' } } }),
    'asks for 2 nodes with 3 cores, its node selector, affinity and tolerations leave none: of 13 nodes that are large enough, 13 lack label zone=b',
  ],
  [
    ask(1, { cpu: '1' }, { pod: { nodeName: 'no-such-node', nodeSelector: { zone: 'b' } } }),
    'asks for node no-such-node, which does not exist',
  ],
])('explains why a jobspec can never start: case %#', (jobspec, text) => {
  expect(unsatisfiableText(jobspec, CLUSTER)).toBe(text);
});

test('says how large the largest node is, of what is too much for it', () => {
  const both = [...GPU, ...nodes(1, { core: 64, gpu: 16, memory: 8 }, ['resource:amd.com/gpu'])];
  const text = (requests: Quantities) => unsatisfiableText(ask(1, requests), both);
  expect(text({ cpu: '8', 'nvidia.com/gpu': '9' })).toMatch(/none; the largest has 8 nvidia.com\/gpu$/);
  expect(text({ cpu: '80', memory: '9Gi' })).toMatch(/none; the largest has 64 cores and 8 GiB of memory$/);
  expect(text({ cpu: '16', 'nvidia.com/gpu': '8' })).toMatch(/none; no node has all of it at once$/);
});

test('counts only nodes with the GPU that the workload names', () => {
  const both = [...GPU, ...nodes(4, { core: 8, gpu: 8 }, ['resource:amd.com/gpu'])];
  expect(unsatisfiableText(ask(5, { cpu: '1', 'nvidia.com/gpu': '8' }), both)).toBe(
    'asks for 5 nodes with 1 core and 8 nvidia.com/gpu, the cluster has 3',
  );
  expect(busyText(ask(1, { 'amd.com/gpu': '1' }))).toBe(
    'needs 1 pod with 1 amd.com/gpu; not free now for its walltime',
  );
});

test.each([
  [30, 'not free now for its walltime'],
  [600, 'not free now for its walltime and its grace period of 600 s'],
])('says that a grace period of %i s is planned as well', (terminationGracePeriodSeconds, text) => {
  const pod = { terminationGracePeriodSeconds, containers: [{ resources: { requests: { cpu: '1' } } }] };
  expect(busyText(jobspecOf({ pod, pods: 1, walltime: 60 }))).toBe(`needs 1 pod with 1 core; ${text}`);
});

test('returns nothing for a jobspec that fits', () => {
  expect(unsatisfiableText(ask(6, { cpu: '1', 'nvidia.com/gpu': '4' }), CLUSTER)).toBeUndefined();
  expect(unsatisfiableText(ask(13, {}, { exclusive: true }), CLUSTER)).toBeUndefined();
});

test('names what a waiting workload needs in Kubernetes quantities', () => {
  expect(busyText(ask(4, { cpu: '2', memory: '1536Mi' }))).toBe(
    'needs 4 pods with 2 cores and 1536 MiB of memory each; not free now for its walltime',
  );
  const half = { cpuMillis: 500, memoryMiB: 256 };
  const jobspec = jobspecOf({
    pod: { containers: [{ resources: { requests: { cpu: '300m', memory: '300Mi' } } }] },
    pods: 1,
    walltime: 60,
    units: half,
  });
  expect(busyText(jobspec, half)).toBe(
    'needs 1 pod with 300m of cpu and 300 MiB of memory; not free now for its walltime',
  );
  expect(downText(ask(2, {}, { exclusive: true }))).toBe(
    'needs 2 whole nodes; that needs nodes that are down or cordoned',
  );
});

test('quotes the amounts that the user wrote, whatever the units', () => {
  const units = { cpuMillis: 1000, memoryMiB: 1024 };
  const text = (requests: Quantities) => {
    const pod = { containers: [{ resources: { requests } }] };
    return busyText(jobspecOf({ pod, pods: 1, walltime: 60, units }), units);
  };
  expect(text({ cpu: '4500m', memory: '100Mi' })).toContain('with 4500m of cpu and 100 MiB of memory;');
  expect(text({ cpu: '0.5', memory: '100M' })).toContain('with 500m of cpu and 100M of memory;');
  expect(text({ memory: '2Gi' })).toContain('needs 1 pod with 2 GiB of memory;');
  expect(text({ cpu: '3', 'example.com/fpga': '2' })).toContain('with 3 cores and 2 example.com/fpga;');
});

test('counts in units if an earlier release stored the jobspec', () => {
  const { attributes, ...rest } = ask(2, { cpu: '300m', memory: '300Mi' });
  const stored = { ...rest, attributes: { system: attributes.system } };
  expect(busyText(stored, { cpuMillis: 500, memoryMiB: 256 })).toBe(
    'needs 2 pods with 500m of cpu and 256 MiB of memory each; not free now for its walltime',
  );
});
