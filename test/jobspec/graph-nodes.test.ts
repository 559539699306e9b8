import { type ClusterNode, graphNodes } from '../../runtime/jobspec/graph-nodes';
import type { Taint } from '../../runtime/jobspec/tolerations';
import { clusterFacts } from './facts';

const READY = [{ type: 'Ready', status: 'True' }];

function node(
  name: string,
  over: { spec?: ClusterNode['spec']; status?: ClusterNode['status'] } = {},
): ClusterNode {
  return {
    metadata: { name, labels: { 'topology.kubernetes.io/zone': 'a', rack: 'r1' } },
    spec: over.spec ?? {},
    status: { allocatable: { cpu: '3900m', memory: '15Gi', pods: '110' }, conditions: READY, ...over.status },
  };
}

test('converts units, labels, taints and gpu vendor of a node, sorted', () => {
  const spec = {
    taints: [
      { key: 'gpu', value: 'yes', effect: 'NoSchedule' },
      { key: 'soft', effect: 'PreferNoSchedule' },
    ],
  };
  const status = { allocatable: { cpu: '8', memory: '16Gi', 'nvidia.com/gpu': '2', 'amd.com/gpu': '0' } };
  expect(graphNodes([node('n2', { spec, status }), node('n1')])).toEqual([
    {
      name: 'n1',
      units: { core: 3, memory: 15 },
      properties: ['rack', 'rack=r1', 'topology.kubernetes.io/zone', 'topology.kubernetes.io/zone=a'],
      up: true,
    },
    {
      name: 'n2',
      units: { core: 8, gpu: 2, memory: 16 },
      properties: [
        'rack',
        'rack=r1',
        'resource:nvidia.com/gpu',
        'taint:gpu=yes:NoSchedule',
        'topology.kubernetes.io/zone',
        'topology.kubernetes.io/zone=a',
      ],
      up: true,
    },
  ]);
});

test('adds zones and racks if their labels are configured', () => {
  const [first] = graphNodes([node('n1')], { zoneLabel: 'topology.kubernetes.io/zone', rackLabel: 'rack' });
  expect(first).toMatchObject({ zone: 'a', rack: 'r1' });
  const [bare] = graphNodes([{ metadata: { name: 'n2' } }], { zoneLabel: 'zone', rackLabel: 'rack' });
  expect(bare).toEqual({ name: 'n2', units: {}, properties: [], up: false });
});

test.each<[string, Parameters<typeof node>[1], boolean]>([
  ['ready', {}, true],
  ['not ready', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, false],
  ['unknown', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }, false],
  ['no condition yet', { status: { conditions: [] } }, false],
  ['cordoned', { spec: { unschedulable: true } }, false],
  ['under disk pressure', { spec: { taints: [taint('node.kubernetes.io/disk-pressure')] } }, false],
  ['not initialised', { spec: { taints: [taint('node.cloudprovider.kubernetes.io/uninitialized')] } }, false],
  ['tainted by its owner', { spec: { taints: [taint('gpu')] } }, true],
  ['a control plane', { spec: { taints: [taint('node-role.kubernetes.io/control-plane')] } }, true],
])('marks a node as up or down: %s', (_, over, up) => {
  expect(graphNodes([node('n', over)])[0]!.up).toBe(up);
});

function taint(key: string): Taint {
  return { key, effect: 'NoSchedule' };
}

test('collects each label value once', () => {
  const facts = clusterFacts([node('n1'), node('n2'), node('n3')]);
  expect([...facts.labels].map(([key, values]) => [key, [...values]])).toEqual([
    ['topology.kubernetes.io/zone', ['a']],
    ['rack', ['r1']],
  ]);
});

test('names the node of a malformed quantity', () => {
  expect(() => graphNodes([node('n1', { status: { allocatable: { cpu: 'many' } } })])).toThrow(
    expect.objectContaining({ code: 'FLUXQ_QUANTITY', field: 'Node n1: status.allocatable["cpu"]' }),
  );
});
