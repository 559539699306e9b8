/** Sets of nodes must be what a comparison of each node with the constraint finds. */
import * as fc from 'fast-check';
import { parseConstraint } from '../../runtime/fluxion/matcher/constraint';
import { matches } from '../../runtime/jobspec/constraints';
import { matchingNodes } from '../../runtime/jobspec/matching-nodes';
import type { Constraint } from '../../runtime/jobspec/types';
import { FEW_LITERALS, has, literalsOf, NodeIndex } from '../../runtime/resources/node-index';

const property = fc.constantFrom('a', 'b', 'b=1', 'c', 'none');
const name = fc.integer({ min: 0, max: 40 }).map((i) => `n${i}`);
const { constraint } = fc.letrec<{ constraint: Constraint }>((tie) => ({
  constraint: fc.oneof(
    { depthSize: 'small' },
    fc.constant({}),
    fc.array(fc.tuple(property, fc.boolean()), { maxLength: 3 }).map((all) => ({
      properties: all.map(([one, not]) => (not ? `^${one}` : one)),
    })),
    fc.array(name, { minLength: 1, maxLength: 3 }).map((hostlist) => ({ hostlist })),
    fc.array(tie('constraint'), { maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie('constraint'), { maxLength: 3 }).map((or) => ({ or })),
    fc.array(tie('constraint'), { minLength: 1, maxLength: 2 }).map((not) => ({ not })),
  ),
}));
const nodes = fc
  .array(fc.uniqueArray(property, { maxLength: 4 }), { maxLength: 40 })
  .map((all) => all.map((properties, i) => ({ name: `n${i}`, properties, units: {} })));

test('a set of nodes is what a comparison of each node finds, also after nodes have left', () => {
  fc.assert(
    fc.property(constraint, nodes, fc.nat(), (wanted, all, seed) => {
      const index = new NodeIndex();
      for (const [row, node] of all.entries()) index.add(row, node);
      index.matching(wanted);
      const left = all.filter((_, row) => (row * 7 + seed) % 3 > 0);
      for (const node of all) if (!left.includes(node)) index.remove(all.indexOf(node), node);
      const set = index.matching(wanted)!;
      const isMatch = parseConstraint(wanted);
      for (const [row, node] of all.entries()) {
        const candidate = { name: node.name, rank: row, properties: new Set(node.properties) };
        expect(has(set, row)).toBe(left.includes(node) && isMatch(candidate));
        expect(isMatch(candidate)).toBe(matches(wanted, node));
      }
    }),
    { numRuns: 300 },
  );
});

test('a long constraint chooses the same nodes of a list as a short one', () => {
  const all = Array.from({ length: 100 }, (_, i) => ({ name: `n${i}`, properties: [`size=${i % 10}`] }));
  const few = { properties: ['size=3'] };
  const many = { or: [few, ...Array.from({ length: 50 }, (_, i) => ({ properties: [`gone-${i}`] }))] };
  expect(literalsOf(many)).toBeGreaterThan(FEW_LITERALS);
  expect(matchingNodes(many, all)).toEqual(matchingNodes(few, all));
  expect(matchingNodes(many, all)).toHaveLength(10);
});

test('an operator that is not about nodes has no set', () => {
  expect(new NodeIndex().matching({ and: [{ ranks: ['0'] }] })).toBeUndefined();
});
