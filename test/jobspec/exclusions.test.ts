/** Which parts of a constraint exclude how many nodes, in words. */
import { areExcludedAlike, exclusionsText } from '../../runtime/jobspec/exclusions';
import type { Constraint } from '../../runtime/jobspec/types';
import type { GraphNode } from '../../runtime/resources/types';

const node = (name: string, ...properties: string[]): GraphNode => ({ name, units: { core: 4 }, properties });
const NODES = [
  node('a', 'disk', 'disk=ssd', 'zone=x'),
  node('b', 'disk', 'disk=hdd', 'zone=x', 'taint:spot=true:NoSchedule'),
  node('c', 'zone=y', 'taint:gpu=:NoExecute', 'resource:nvidia.com/gpu'),
];
const has = (name: string): Constraint => ({ properties: [name] });
const not = (part: Constraint): Constraint => ({ not: [part] });

test.each<[string, Constraint]>([
  ['2 lack label disk=ssd', has('disk=ssd')],
  ['1 lacks label disk', has('disk')],
  ['1 lacks label disk=hdd or disk=ssd', { or: [has('disk=hdd'), has('disk=ssd')] }],
  ['3 lack label a=1 or a=2 or a=3 or 2 more', { or: [1, 2, 3, 4, 5].map((n) => has(`a=${n}`)) }],
  ['2 have label zone=x', not(has('zone=x'))],
  ['1 has taint gpu:NoExecute', not(has('taint:gpu=:NoExecute'))],
  ['2 lack nvidia.com/gpu', has('resource:nvidia.com/gpu')],
  ['2 are not c', { hostlist: ['c'] }],
  ['3 are excluded by its node affinity or volumes', not({})],
  [
    '2 are excluded by its node affinity or volumes',
    { or: [{ and: [has('disk'), has('zone=y')] }, has('zone=y')] },
  ],
  [
    '2 lack label disk=ssd, 1 lacks label zone=x and 1 has taint spot=true:NoSchedule',
    {
      and: [
        has('zone=x'),
        not(has('taint:spot=true:NoSchedule')),
        { and: [has('disk=ssd')] },
        not(has('none')),
      ],
    },
  ],
  [
    '3 lack label a, 3 lack label b, 3 lack label c and others are excluded by other terms',
    { and: ['a', 'b', 'c', 'd'].map(has) },
  ],
])('of 3 nodes, %s', (text, constraint) => {
  expect(exclusionsText(constraint, NODES)).toBe(`: of 3 nodes that are large enough, ${text}`);
});

test('says nothing of a constraint with very many parts, and cuts long labels', () => {
  const many = { and: Array.from({ length: 33 }, (_, i) => has(`a=${i}`)) };
  expect(exclusionsText(many, NODES)).toBe('');
  const [only] = NODES;
  const text = exclusionsText(has(`a=${'x'.repeat(300)}`), [only!]);
  expect(text).toMatch(/^: of 1 node that is large enough, 1 lacks label a=x+…$/);
  expect(text.length).toBeLessThan(160);
});

test('tells whether a change of a node changes what is said', () => {
  const constraint = { and: [has('disk=ssd'), has('zone=x')] };
  const [a, b, c] = NODES as [GraphNode, GraphNode, GraphNode];
  // Neither matches, for different reasons.
  expect(areExcludedAlike(constraint, b, c)).toBe(false);
  expect(areExcludedAlike(constraint, b, { ...b, properties: ['zone=x'] })).toBe(true);
  expect(areExcludedAlike(has('zone=x'), a, b)).toBe(true);
});
