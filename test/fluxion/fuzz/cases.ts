/**
 * Random cases for the comparison of the embedded matcher with flux-sched's library, within what docs/fluxion.md promises:
 * histories on graphs from nodes, in which time moves, nodes come and go and Fluxion restarts, and requests on JGF graphs,
 * in which they do not.
 */
import type { MatchPolicy } from '../../../constructs/api/policies';
import type { GraphNode } from '../../../runtime/resources/types';
import fc from '../../fast-check';
import { type History, type HistoryOptions, historiesOf } from '../library/histories';
import { bare, inside, jobspecs, shared, slotsOf, slotsOfWhole } from './requests';

/**
 * `levels`: any mix of zones and racks. `many`: so many nodes that equal scores are not in the order of the nodes.
 * `whole`: also racks and zones as a whole, to which no nodes are added. `still`: also the policies whose choice depends on
 * earlier grants, without what makes the library build a new graph. `sockets`: JGF.
 */
export const KINDS = ['flat', 'levels', 'many', 'whole', 'still', 'sockets'] as const;
export type Kind = (typeof KINDS)[number];

const WITHOUT_HISTORY: readonly MatchPolicy[] = [
  'locality',
  'lonode',
  'hinode',
  'low',
  'high',
  'lonodex',
  'hinodex',
];
export const ALL: readonly MatchPolicy[] = [...WITHOUT_HISTORY, 'first', 'firstnodex'];

const DEVICES = ['memory', 'gpu', 'example.com/fpga', 'ssd'];

type Placed = Omit<GraphNode, 'name'>;

/** The types are in any order, and a node may have none of a type. */
const units = fc
  .tuple(
    fc.integer({ min: 1, max: 6 }),
    fc.shuffledSubarray(DEVICES),
    fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
  )
  .map(([core, types, counts]) =>
    Object.fromEntries([['core', core], ...types.map((type, i) => [type, counts[i]!])]),
  );
const properties = fc.subarray(['ssd', 'zone=a']);
const flat: fc.Arbitrary<Placed> = fc.record({ units, properties });
const zone = fc.nat(2).map((n) => `z${n}`);
const rack = fc.nat(2).map((n) => `r${n}`);
const placed: fc.Arbitrary<Placed> = fc.record({ units, properties, zone, rack });
const anywhere: fc.Arbitrary<Placed> = fc.oneof(
  { weight: 3, arbitrary: placed },
  { weight: 1, arbitrary: fc.record({ units, properties, zone }) },
  { weight: 1, arbitrary: fc.record({ units, properties, rack }) },
  { weight: 1, arbitrary: flat },
);

function onNodes(nodes: number) {
  return [
    slotsOf(DEVICES, 4),
    inside('node', nodes, slotsOf(DEVICES, 4)),
    inside('node', nodes, bare('core', 3)),
    slotsOfWhole('node'),
    bare('node', nodes),
    bare('core', 9),
  ];
}

function inLevels(nodes: number) {
  const below = [inside('node', nodes, slotsOf(DEVICES, 3)), slotsOfWhole('node')];
  const racks = below.map((one) => shared('rack', 2, one));
  return [...onNodes(nodes), ...racks, ...[...below, ...racks].map((one) => shared('zone', 2, one))];
}

const wholeLevels = ['rack', 'zone'].flatMap((type) => [slotsOfWhole(type), bare(type, 2)]);

const OPTIONS: Readonly<Record<Exclude<Kind, 'sockets'>, HistoryOptions>> = {
  flat: { policies: WITHOUT_HISTORY, node: flat, jobspec: jobspecs(fc.oneof(...onNodes(3))), restarts: true },
  levels: {
    policies: WITHOUT_HISTORY,
    node: anywhere,
    // With a node below the cluster itself, a request for nodes means only such nodes from then on.
    added: placed,
    nodes: 8,
    jobspec: jobspecs(fc.oneof(...inLevels(3))),
    restarts: true,
  },
  many: {
    policies: WITHOUT_HISTORY,
    node: fc.oneof(placed, flat),
    added: placed,
    nodes: 50,
    jobspec: jobspecs(fc.oneof(...inLevels(12))),
    restarts: true,
  },
  whole: {
    policies: WITHOUT_HISTORY,
    node: anywhere,
    nodes: 8,
    jobspec: jobspecs(fc.oneof(...inLevels(3), ...wholeLevels)),
    added: 'none',
    restarts: true,
  },
  still: {
    policies: ALL,
    node: anywhere,
    nodes: 24,
    jobspec: jobspecs(fc.oneof(...inLevels(3), ...wholeLevels)),
    still: true,
  },
};

/** The history of this kind with this seed. */
export function historyOf(kind: Exclude<Kind, 'sockets'>, seed: number): History {
  return fc.sample(historiesOf(OPTIONS[kind]), { seed, numRuns: 1 })[0]!;
}
