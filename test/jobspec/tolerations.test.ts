/** Taints are asked for when a node is considered: by Kubernetes' rule, with the taint of a node alone and with all of a graph. */
import { constraintOf, matches } from '../../runtime/jobspec/constraints';
import { matchingNodes } from '../../runtime/jobspec/matching-nodes';
import type { Toleration } from '../../runtime/jobspec/pod';
import { NO_TAINTS, taintsIn, withTaints } from '../../runtime/jobspec/resolve-taints';
import { repels, type Taint, taintIn, taintProperty } from '../../runtime/jobspec/tolerations';
import type { Constraint } from '../../runtime/jobspec/types';
import type { GraphNode } from '../../runtime/resources/types';
import fc from '../fast-check';

/** As `ToleratesTaint` of Kubernetes says it. */
function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(({ key = '', operator = 'Equal', value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (key !== '' && key !== taint.key) return false;
    return operator === 'Exists' || (operator === 'Equal' && key !== '' && value === (taint.value ?? ''));
  });
}

const keys = fc.constantFrom('gpu', 'example.com/spot', 'a.b/c-d_e.f');
const values = fc.constantFrom('', 'yes', 'no');
const effects = fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule');
const taint: fc.Arbitrary<Taint> = fc.record({
  key: keys,
  value: values,
  effect: effects.filter((effect) => repels({ effect })),
});
const toleration: fc.Arbitrary<Toleration> = fc.record(
  {
    key: fc.oneof(keys, fc.constant('')),
    operator: fc.constantFrom('Equal', 'Exists', 'Gt'),
    value: values,
    effect: fc.oneof(effects, fc.constant('')),
  },
  { requiredKeys: [] },
);
const tainted: fc.Arbitrary<readonly GraphNode[]> = fc
  .array(fc.array(taint, { maxLength: 3 }), { maxLength: 5 })
  .map((all) =>
    all.map((taints, i) => ({
      name: `n${i}`,
      units: {},
      properties: ['zone=a', ...taints.map(taintProperty)],
    })),
  );

const tolerationOf = (tolerations: readonly Toleration[]): Constraint =>
  constraintOf({ containers: [], tolerations }) ?? {};

test('a node matches a pod exactly if Kubernetes says so, by itself and resolved for its graph', () => {
  fc.assert(
    fc.property(tainted, fc.array(toleration, { maxLength: 4 }), (nodes, tolerations) => {
      const taintsOf = ({ properties = [] }: GraphNode) =>
        properties.map(taintIn).filter((text) => text !== undefined);
      const parsed = (text: string): Taint => {
        const [, key, value, effect] = /^(.*?)=(.*):(.*)$/.exec(text)!;
        return { key: key!, value: value!, effect: effect! };
      };
      const expected = nodes
        .filter((node) => taintsOf(node).every((text) => isTolerated(parsed(text), tolerations)))
        .map(({ name }) => name);
      const constraint = tolerationOf(tolerations);
      const plain = withTaints(constraint, taintsIn(nodes));
      const names = (chosen: readonly GraphNode[]) => chosen.map(({ name }) => name);
      expect(names(nodes.filter((node) => matches(constraint, node)))).toEqual(expected);
      expect(names(nodes.filter((node) => matches(plain, node)))).toEqual(expected);
      expect(names(matchingNodes(constraint, nodes))).toEqual(expected);
      expect(JSON.stringify(plain)).not.toContain('tolerates');
    }),
  );
});

test('is one constraint for tolerations in any order, without those that change nothing', () => {
  const [a, b]: Toleration[] = [
    { key: 'a', operator: 'Exists' },
    { key: 'b', value: 'x', effect: 'NoExecute' },
  ];
  const soft = { key: 'c', operator: 'Exists', effect: 'PreferNoSchedule' };
  expect(tolerationOf([a!, b!, soft])).toEqual({ tolerates: ['a', 'b=x:NoExecute'] });
  expect(tolerationOf([b!, a!, a!])).toEqual(tolerationOf([a!, b!]));
  expect(tolerationOf([])).toEqual({ tolerates: [] });
  expect(tolerationOf([a!, { operator: 'Exists' }])).toEqual({});
});

test('is resolved wherever it stands, once for each list of taints', () => {
  const gpu = taintProperty({ key: 'gpu', value: 'yes', effect: 'NoSchedule' });
  const repelled = { not: [{ properties: [gpu] }] };
  const zone = { properties: ['zone=a'] };
  const constraint: Constraint = {
    and: [zone, { or: [{ tolerates: [] }, { not: [{ tolerates: ['gpu'] }] }] }],
  };
  const plain = withTaints(constraint, [gpu]);
  expect(plain).toEqual({ and: expect.arrayContaining([zone, { or: [repelled, { not: [{}] }] }]) });
  const taints = [gpu];
  expect(withTaints(constraint, taints)).toBe(withTaints(constraint, taints));
  expect(withTaints({ and: [zone, { tolerates: [] }] }, NO_TAINTS)).toEqual(zone);
  expect(withTaints(zone, taints)).toBe(zone);
});
