/**
 * Random cases for the comparison of the embedded matcher with flux-sched's library, within what docs/fluxion.md promises:
 * histories on graphs from nodes, in which time moves and nodes come and go, and requests on JGF graphs with sockets, in
 * which they do not.
 */
import type { MatchPolicy } from '../../../constructs/api/policies';
import type { JgfGraph } from '../../../runtime/fluxion/jgf/types';
import type { MatchOperation } from '../../../runtime/fluxion/types';
import type { Constraint, Jobspec, JobspecResource } from '../../../runtime/jobspec/types';
import type { GraphNode } from '../../../runtime/resources/types';
import fc from '../../fast-check';
import { type History, historiesOf } from '../library/histories';
import { jobspecOf, operations } from '../matcher/arbitraries';
import { socketGraph } from './socket-graph';

/**
 * `still`: also the policies whose choice depends on earlier grants, without what makes the library build a new graph.
 * `whole`: also racks and zones as a whole, to which no nodes are added.
 */
export const KINDS = ['flat', 'levels', 'whole', 'still', 'sockets'] as const;
export type Kind = (typeof KINDS)[number];

/** Requests on a graph in JGF. The time stays at 0, as in the recorded answers. */
export interface JgfCase {
  readonly policy: MatchPolicy;
  readonly graph: JgfGraph;
  readonly steps: readonly JgfStep[];
}

export type JgfStep =
  | { readonly kind: 'match'; readonly operation: MatchOperation; readonly jobspec: Jobspec }
  | { readonly kind: 'satisfiable'; readonly jobspec: Jobspec }
  | { readonly kind: 'cancel'; readonly nth: number }
  | { readonly kind: 'status'; readonly node: number; readonly up: boolean };

const WITHOUT_HISTORY: readonly MatchPolicy[] = [
  'locality',
  'lonode',
  'hinode',
  'low',
  'high',
  'lonodex',
  'hinodex',
];
const ALL: readonly MatchPolicy[] = [...WITHOUT_HISTORY, 'first', 'firstnodex'];

const range = (most: number): fc.Arbitrary<JobspecResource['count']> =>
  fc.oneof(
    fc.integer({ min: 1, max: most }),
    fc.record({
      min: fc.integer({ min: 1, max: 2 }),
      max: fc.integer({ min: 2, max: 6 }),
      operator: fc.constantFrom('+', '*'),
      operand: fc.integer({ min: 2, max: 3 }),
    }),
  );

const slot = (count: JobspecResource['count'], inside: readonly JobspecResource[]): JobspecResource => ({
  type: 'slot',
  count,
  label: 'task',
  with: inside,
});

const cores = fc.tuple(range(3), range(3)).map(([slots, count]) => slot(slots, [{ type: 'core', count }]));
const nodesOfSlots = fc
  .tuple(range(3), cores)
  .map(([count, inside]): JobspecResource => ({ type: 'node', count, with: [inside] }));
const slotsOfNodes = fc
  .tuple(range(2), fc.integer({ min: 1, max: 2 }))
  .map(([slots, count]) => slot(slots, [{ type: 'node', count }]));
const wholeLevel = (...types: readonly string[]) =>
  fc
    .tuple(fc.integer({ min: 1, max: 2 }), fc.constantFrom(...types))
    .map(([count, type]) => slot(1, [{ type, count }]));

/** Every level from the named one down to the slot is named. */
const inLevels = (inside: fc.Arbitrary<JobspecResource>) =>
  fc.tuple(fc.boolean(), range(2), range(2), inside).map(([zones, count, racks, node]): JobspecResource => {
    const rack = { type: 'rack', count: racks, with: [node] };
    return zones ? { type: 'zone', count, with: [rack] } : rack;
  });

const constraint = fc.constantFrom<(Constraint | undefined)[]>(
  undefined,
  undefined,
  { properties: ['ssd'] },
  { properties: ['^ssd'] },
);
const jobspec = (resource: fc.Arbitrary<JobspecResource>): fc.Arbitrary<Jobspec> =>
  fc
    .tuple(resource, fc.integer({ min: 1, max: 60 }), constraint)
    .map(([one, seconds, constraints]) => jobspecOf(one, seconds, constraints));

type Placed = Omit<GraphNode, 'name'>;
const units = fc.record({ core: fc.integer({ min: 1, max: 5 }), memory: fc.integer({ min: 1, max: 3 }) });
const properties = fc.subarray(['ssd', 'zone=a']);
const flatNode: fc.Arbitrary<Placed> = fc.record({ units, properties });
const placedNode: fc.Arbitrary<Placed> = fc
  .tuple(units, properties, fc.nat(1), fc.nat(1))
  .map(([of, has, zone, rack]) => ({ units: of, properties: has, zone: `z${zone}`, rack: `r${rack}` }));

const ON_NODES = [cores, nodesOfSlots, slotsOfNodes];

/** The history of this kind with this seed. */
export function historyOf(kind: Exclude<Kind, 'sockets'>, seed: number): History {
  const named = [...ON_NODES, inLevels(nodesOfSlots), inLevels(slotsOfNodes)];
  const still = kind === 'still';
  const hasWhole = still || kind === 'whole';
  const arbitrary =
    kind === 'flat'
      ? historiesOf({ policies: WITHOUT_HISTORY, node: flatNode, jobspec: jobspec(fc.oneof(...ON_NODES)) })
      : historiesOf({
          policies: still ? ALL : WITHOUT_HISTORY,
          node: placedNode,
          jobspec: jobspec(fc.oneof(...named, ...(hasWhole ? [wholeLevel('rack', 'zone')] : []))),
          still,
          grows: kind === 'levels',
        });
  return fc.sample(arbitrary, { seed, numRuns: 1 })[0]!;
}

export function jgfCaseOf(seed: number): JgfCase {
  const shape = fc.record({
    racks: fc.integer({ min: 1, max: 3 }),
    nodes: fc.integer({ min: 1, max: 3 }),
    sockets: fc.integer({ min: 1, max: 2 }),
    cores: fc.integer({ min: 1, max: 4 }),
    gpus: fc.nat(2),
    memory: fc.integer({ min: 1, max: 4 }),
  });
  const socket = fc
    .tuple(range(2), cores)
    .map(([count, inside]): JobspecResource => ({ type: 'socket', count, with: [inside] }));
  const inNodes = (inside: fc.Arbitrary<JobspecResource>) =>
    fc.tuple(range(2), inside, fc.boolean()).map(
      ([count, one, exclusive]): JobspecResource => ({
        type: 'node',
        count,
        ...(exclusive ? { exclusive } : {}),
        with: [one],
      }),
    );
  const inRacks = (inside: fc.Arbitrary<JobspecResource>) =>
    fc.tuple(range(2), inside).map(([count, one]): JobspecResource => ({ type: 'rack', count, with: [one] }));
  const wanted = jobspec(
    fc.oneof(
      cores,
      socket,
      inNodes(socket),
      inRacks(inNodes(socket)),
      slotsOfNodes,
      inRacks(slotsOfNodes),
      wholeLevel('rack', 'socket', 'gpu'),
    ),
  );
  const step: fc.Arbitrary<JgfStep> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('match' as const), operation: operations, jobspec: wanted }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('satisfiable' as const), jobspec: wanted }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), nth: fc.nat(50) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('status' as const), node: fc.nat(8), up: fc.boolean() }),
    },
  );
  const arbitrary = fc.record({
    policy: fc.constantFrom(...ALL),
    graph: shape.map(socketGraph),
    steps: fc.array(step, { minLength: 5, maxLength: 25 }),
  });
  return fc.sample(arbitrary, { seed, numRuns: 1 })[0]!;
}
