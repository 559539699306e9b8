import type { ClusterFacts } from '../../runtime/jobspec/constraints';
import { constraintOf, matches } from '../../runtime/jobspec/constraints';
import { type ClusterNode, graphNode } from '../../runtime/jobspec/graph-nodes';
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
  Toleration,
} from '../../runtime/jobspec/pod';
import { podRequests } from '../../runtime/jobspec/requests';
import type { Taint } from '../../runtime/jobspec/tolerations';
import type { GraphNode } from '../../runtime/resources/types';
import fc from '../fast-check';
import { clusterFacts } from './facts';

function node(name: string, labels: Record<string, string> = {}, taints: Taint[] = []): ClusterNode {
  return { metadata: { name, labels }, spec: { taints }, status: { allocatable: { cpu: '8' } } };
}

const gpuTaint: Taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' };
const NODES = [
  node('a1', { zone: 'a', size: '4', 'example.com/fast': '' }),
  node('a2', { zone: 'a', size: '16' }),
  node('b1', { zone: 'b', size: 'huge' }, [gpuTaint]),
  node('b2', { zone: 'b' }, [{ key: 'draining', effect: 'NoExecute' }]),
  node('c1', {}, [{ key: 'slow', effect: 'PreferNoSchedule' }]),
];
const FACTS = clusterFacts(NODES);

/** Names of the nodes that a pod may run on. */
function eligible(pod: Partial<PodSpec>, nodes = NODES, facts: ClusterFacts = FACTS): string {
  const spec = { containers: [{}], ...pod };
  const constraint = constraintOf(spec, podRequests(spec), facts) ?? {};
  return nodes
    .filter((n) => matches(constraint, graphNode(n, {})))
    .map(({ metadata }) => metadata.name)
    .join(' ');
}

const everywhere: Toleration[] = [{ operator: 'Exists' }];
const affinity = (...nodeSelectorTerms: NodeSelectorTerm[]): NonNullable<PodSpec['affinity']> => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const terms = (...matchExpressions: NodeSelectorRequirement[]): NodeSelectorTerm => ({ matchExpressions });

test.each<[string, Partial<PodSpec>, string]>([
  ['no selector and no toleration', {}, 'a1 a2 c1'],
  ['tolerates all', { tolerations: everywhere }, 'a1 a2 b1 b2 c1'],
  ['tolerates a key', { tolerations: [{ key: 'gpu', operator: 'Exists' }] }, 'a1 a2 b1 c1'],
  ['tolerates a value', { tolerations: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }, 'a1 a2 b1 c1'],
  ['tolerates another value', { tolerations: [{ key: 'gpu', value: 'no' }] }, 'a1 a2 c1'],
  [
    'tolerates another effect',
    { tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }] },
    'a1 a2 c1',
  ],
  ['tolerates an empty value by equality', { tolerations: [{ key: 'draining' }] }, 'a1 a2 b2 c1'],
  ['node selector', { nodeSelector: { zone: 'a', size: '16' } }, 'a2'],
  ['node selector with an empty value', { nodeSelector: { 'example.com/fast': '' } }, 'a1'],
  [
    'In',
    {
      affinity: affinity(terms({ key: 'zone', operator: 'In', values: ['b', 'c'] })),
      tolerations: everywhere,
    },
    'b1 b2',
  ],
  [
    'NotIn, absent labels too',
    { affinity: affinity(terms({ key: 'zone', operator: 'NotIn', values: ['a'] })), tolerations: everywhere },
    'b1 b2 c1',
  ],
  ['Exists', { affinity: affinity(terms({ key: 'size', operator: 'Exists' })) }, 'a1 a2'],
  [
    'Exists of a label that nobody has',
    { affinity: affinity(terms({ key: 'none', operator: 'Exists' })) },
    '',
  ],
  ['DoesNotExist', { affinity: affinity(terms({ key: 'zone', operator: 'DoesNotExist' })) }, 'c1'],
  [
    'Gt',
    { affinity: affinity(terms({ key: 'size', operator: 'Gt', values: ['4'] })), tolerations: everywhere },
    'a2',
  ],
  [
    'Lt',
    { affinity: affinity(terms({ key: 'size', operator: 'Lt', values: ['16'] })), tolerations: everywhere },
    'a1',
  ],
  [
    'a node by name',
    { affinity: affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a2'] }] }) },
    'a2',
  ],
  ['the nodeName of a template', { nodeName: 'a2' }, 'a2'],
  ['a nodeName and a selector that excludes it', { nodeName: 'a2', nodeSelector: { zone: 'c' } }, ''],
  ['a nodeName that does not exist', { nodeName: 'gone' }, ''],
  [
    'several nodes by name',
    {
      affinity: affinity(
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a2'] }] },
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['c1'] }] },
      ),
    },
    'a2 c1',
  ],
  [
    'not a node by name',
    { affinity: affinity({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['a2'] }] }) },
    'a1 c1',
  ],
  [
    'terms are alternatives',
    {
      affinity: affinity(
        terms({ key: 'size', operator: 'In', values: ['4'] }),
        terms({ key: 'zone', operator: 'DoesNotExist' }),
      ),
    },
    'a1 c1',
  ],
  [
    'parts of a term are not',
    {
      affinity: affinity(
        terms({ key: 'size', operator: 'Exists' }, { key: 'size', operator: 'NotIn', values: ['4'] }),
      ),
    },
    'a2',
  ],
  ['an empty term matches no node', { affinity: affinity({}) }, ''],
  [
    'selector and affinity together',
    {
      nodeSelector: { zone: 'a' },
      affinity: affinity(terms({ key: 'size', operator: 'Gt', values: ['8'] })),
    },
    'a2',
  ],
])('matches the right nodes: %s', (_, pod, expected) => {
  expect(eligible(pod)).toBe(expected);
});

test('a gpu of one vendor does not match a gpu of another', () => {
  const nodes = ['nvidia.com/gpu', 'amd.com/gpu'].map((resource) => ({
    metadata: { name: resource },
    status: { allocatable: { cpu: '8', [resource]: '2' } },
  }));
  const pod = { containers: [{ resources: { limits: { 'amd.com/gpu': '1' } } }] };
  expect(eligible(pod, nodes, clusterFacts(nodes))).toBe('amd.com/gpu');
});

test('ignores temporary taints of Kubernetes', () => {
  const sick = node('sick', {}, [{ key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' }]);
  expect(eligible({}, [sick])).toBe('sick');
});

test('leaves comparisons of a label with too many values to kube-scheduler', () => {
  const labels = new Map([['host', new Set(Array.from({ length: 257 }, (_, i) => `${i}`))]]);
  for (const operator of ['Gt', 'Lt']) {
    const compared = affinity(terms({ key: 'host', operator, values: ['1'] } as NodeSelectorRequirement));
    const pod = { containers: [], affinity: compared, tolerations: everywhere };
    expect(constraintOf(pod, new Map(), { labels })).toBeUndefined();
  }
});

test('asks for a label by its key alone, however many values it has', () => {
  const labels = new Map([['host', new Set(Array.from({ length: 5000 }, (_, i) => `h${i}`))]]);
  const asks = (operator: string) =>
    constraintOf(
      { containers: [], affinity: affinity(terms({ key: 'host', operator })), tolerations: everywhere },
      new Map(),
      { labels },
    );
  expect(asks('Exists')).toEqual({ properties: ['host'] });
  expect(asks('DoesNotExist')).toEqual({ not: [{ properties: ['host'] }] });
});

test('makes the same constraint in whatever order a pod writes it', () => {
  const written = (keys: string[], values: string[]): PodSpec => ({
    containers: [],
    nodeSelector: Object.fromEntries(keys.map((key) => [key, 'x'])),
    affinity: affinity(terms({ key: 'zone', operator: 'In', values })),
  });
  expect(constraintOf(written(['k1', 'k2', 'k3'], ['a', 'b']))).toEqual(
    constraintOf(written(['k3', 'k1', 'k2'], ['b', 'a', 'b'])),
  );
});

test('agrees with a direct implementation of affinity on random nodes', () => {
  const key = fc.constantFrom('k1', 'k2');
  const value = fc.constantFrom('1', '2', '3', 'x');
  const requirement = fc.record({
    key,
    operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
    values: fc.array(value, { minLength: 1, maxLength: 2 }),
  });
  const labels = fc.dictionary(key, value);
  fc.assert(
    fc.property(
      fc.array(fc.array(requirement, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      fc.array(labels, { minLength: 1, maxLength: 5 }),
      (alternatives, nodeLabels) => {
        const nodes = nodeLabels.map((l, i) => node(`n${i}`, l));
        const expected = nodes.filter(({ metadata }) =>
          alternatives.some((all) => all.every((r) => holds(r, metadata.labels?.[r.key]))),
        );
        const pod = { affinity: affinity(...alternatives.map((all) => terms(...all))) };
        expect(eligible(pod, nodes, clusterFacts(nodes))).toBe(
          expected.map((n) => n.metadata.name).join(' '),
        );
      },
    ),
  );
});

function holds({ operator, values = [] }: NodeSelectorRequirement, label: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return label !== undefined && values.includes(label);
    case 'NotIn':
      return label === undefined || !values.includes(label);
    case 'Exists':
      return label !== undefined;
    case 'DoesNotExist':
      return label === undefined;
    case 'Gt':
      return Number(label) > Number(values[0]);
    default:
      return Number(label) < Number(values[0]);
  }
}

test('matches every operator of RFC 31', () => {
  const one: GraphNode = { name: 'xn0', units: {}, properties: ['x'] };
  const yes = { properties: ['x'] };
  const no = { properties: ['y'] };
  const cases = [
    [{}, true],
    [yes, true],
    [{ properties: ['x', 'y'] }, false],
    [{ properties: ['^y'] }, true],
    [{ properties: ['^x'] }, false],
    [{ hostlist: ['xn0'] }, true],
    [{ hostlist: ['n0'] }, false],
    [{ and: [yes, no] }, false],
    [{ or: [no, yes] }, true],
    [{ not: [no] }, true],
    [{ not: [{}] }, false],
    [{ ranks: ['0'] }, false],
  ] as const;
  expect(cases.map(([constraint]) => matches(constraint, one))).toEqual(
    cases.map(([, expected]) => expected),
  );
});

describe('a node name that no node can have', () => {
  const none = { not: [{}] };
  const tolerations: Toleration[] = [{ operator: 'Exists' }];
  const hostile = `a${'[0-999999]'.repeat(100)}`;
  const fields = (operator: 'In' | 'NotIn', ...values: string[]) => ({
    containers: [],
    tolerations,
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator, values }] }],
        },
      },
    },
  });

  test('is none, and no list of names', () => {
    for (const name of [hostile, 'n[0-3]', 'n1,n2', '', 'N1']) {
      expect(constraintOf(fields('In', name))).toEqual(none);
      expect(constraintOf(fields('In', name, 'n7'))).toEqual({ hostlist: ['n7'] });
      expect(constraintOf(fields('NotIn', name))).toBeUndefined();
    }
  });

  test('leaves no node as the node of a template', () => {
    expect(constraintOf({ containers: [], tolerations, nodeName: hostile })).toEqual(none);
    expect(constraintOf({ containers: [], tolerations, nodeName: 'n7' })).toEqual({ hostlist: ['n7'] });
  });
});
