/** Random graphs, requests and operations for the property tests. */

import { MATCH_POLICIES, type MatchPolicy } from '../../../constructs/api/policies';
import type { MatchOperation } from '../../../runtime/fluxion/types';
import type { Constraint, Jobspec, JobspecResource } from '../../../runtime/jobspec/types';
import type { GraphNode } from '../../../runtime/resources/types';
import fc from '../../fast-check';

export const policies: fc.Arbitrary<MatchPolicy> = fc.constantFrom(...MATCH_POLICIES);

/** 1 to 24 small and unequal nodes in one of three topologies. */
export const graphs: fc.Arbitrary<GraphNode[]> = fc
  .record({
    levels: fc.constantFrom('none', 'rack', 'both'),
    nodes: fc.array(
      fc.record({
        core: fc.integer({ min: 1, max: 6 }),
        memory: fc.integer({ min: 0, max: 4 }),
        gpu: fc.integer({ min: 0, max: 2 }),
        place: fc.nat({ max: 2 }),
        tainted: fc.boolean(),
      }),
      { minLength: 1, maxLength: 24 },
    ),
  })
  .map(({ levels, nodes }) =>
    nodes.map(({ place, tainted, ...units }, i) => ({
      name: `n${i}`,
      units,
      properties: tainted ? ['taint:x'] : [],
      ...(levels === 'both' ? { zone: `z${place % 2}` } : {}),
      ...(levels === 'none' ? {} : { rack: `r${place}` }),
    })),
  );

const units = fc.record({
  core: fc.integer({ min: 1, max: 4 }),
  memory: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  gpu: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
});

const slots: fc.Arbitrary<JobspecResource> = fc
  .record({ count: fc.integer({ min: 1, max: 5 }), units })
  .map(({ count, units: { core, memory, gpu } }) => ({
    type: 'slot',
    count,
    label: 'task',
    with: [
      { type: 'core', count: core },
      ...(memory === undefined ? [] : [{ type: 'memory', count: memory }]),
      ...(gpu === undefined ? [] : [{ type: 'gpu', count: gpu }]),
    ],
  }));

const nodesOfSlots: fc.Arbitrary<JobspecResource> = fc
  .record({ count: fc.integer({ min: 1, max: 6 }), slot: slots, exclusive: fc.boolean() })
  .map(({ count, slot, exclusive }) => ({
    type: 'node',
    count,
    ...(exclusive ? { exclusive } : {}),
    with: [slot],
  }));

const slotsOfNodes: fc.Arbitrary<JobspecResource> = fc
  .record({ slots: fc.integer({ min: 1, max: 3 }), nodes: fc.integer({ min: 1, max: 3 }) })
  .map(({ slots: count, nodes }) => ({
    type: 'slot',
    count,
    label: 'task',
    with: [{ type: 'node', count: nodes }],
  }));

/** Whole racks or zones, or some of the nodes in each of them. */
const levels: fc.Arbitrary<JobspecResource> = fc
  .record({
    type: fc.constantFrom('rack', 'zone'),
    count: fc.integer({ min: 1, max: 3 }),
    inside: fc.option(fc.oneof(nodesOfSlots, slotsOfNodes)),
  })
  .map(({ type, count, inside }) =>
    inside === null
      ? { type: 'slot', count: 1, label: 'task', with: [{ type, count }] }
      : { type, count, with: [inside] },
  );

const ranges: fc.Arbitrary<JobspecResource> = slots.map((slot) => ({
  ...slot,
  count: { min: 1, max: 7, operator: '+', operand: 2 },
}));

/** Units without a slot, anywhere in the graph or on some nodes. */
const bareUnits: fc.Arbitrary<JobspecResource> = fc
  .record({ count: fc.integer({ min: 1, max: 9 }), nodes: fc.option(fc.integer({ min: 1, max: 3 })) })
  .map(({ count, nodes }) => {
    const core: JobspecResource = { type: 'core', count, exclusive: true };
    return nodes === null ? core : { type: 'node', count: nodes, with: [core] };
  });

const constraints: fc.Arbitrary<Constraint | undefined> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Constraint>(
      { not: [{ properties: ['taint:x'] }] },
      { properties: ['taint:x'] },
      { hostlist: ['n[0-3,7]'] },
      { and: [{ not: [{ properties: ['taint:x'] }] }, { hostlist: ['n2', 'n5'] }] },
    ),
  },
);

export const jobspecs: fc.Arbitrary<Jobspec> = fc
  .record({
    resource: fc.oneof(slots, nodesOfSlots, slotsOfNodes, ranges, bareUnits, levels),
    duration: fc.constantFrom(10, 25, 60, 100),
    constraint: constraints,
  })
  .map(({ resource, duration, constraint }) => jobspecOf(resource, duration, constraint));

export function jobspecOf(resource: JobspecResource, duration = 60, constraints?: Constraint): Jobspec {
  return {
    version: 1,
    resources: [resource],
    tasks: [{ command: ['x'], slot: 'task', count: { per_slot: 1 } }],
    attributes: { system: { duration, ...(constraints === undefined ? {} : { constraints }) } },
  };
}

export type Step =
  | { readonly do: 'match'; readonly jobspec: Jobspec; readonly operation: MatchOperation }
  /** The n-th job with an allocation, modulo their number. */
  | { readonly do: 'cancel'; readonly nth: number }
  | { readonly do: 'partial'; readonly nth: number; readonly node: number }
  | { readonly do: 'status'; readonly node: number; readonly up: boolean }
  | { readonly do: 'wait'; readonly seconds: number };

/** All operations; reservations are the most frequent. */
export const operations: fc.Arbitrary<MatchOperation> = fc.constantFrom(
  'allocate',
  'allocate_with_satisfiability',
  'allocate_orelse_reserve',
  'allocate_orelse_reserve',
  'without_allocating',
  'without_allocating_future',
);

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ do: fc.constant('match'), jobspec: jobspecs, operation: operations }),
    fc.record({ do: fc.constant('match'), jobspec: jobspecs, operation: operations }),
    fc.record({ do: fc.constant('match'), jobspec: jobspecs, operation: operations }),
    fc.record({ do: fc.constant('cancel'), nth: fc.nat() }),
    fc.record({ do: fc.constant('partial'), nth: fc.nat(), node: fc.nat({ max: 23 }) }),
    fc.record({ do: fc.constant('status'), node: fc.nat({ max: 23 }), up: fc.boolean() }),
    fc.record({ do: fc.constant('wait'), seconds: fc.integer({ min: 1, max: 80 }) }),
  ),
  { minLength: 1, maxLength: 30 },
);
