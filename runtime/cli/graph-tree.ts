/** What `graph` shows: the resource graph of Fluxion as an indented tree. Pure functions. */
import { cut } from '../columns';
import type { ResourceGraph } from '../reader/kinds';
import { hostlistOf } from '../resources/hostlist';
import type { UnitCounts } from '../resources/types';
import { addUnits } from '../resources/unit-counts';
import { groupBy } from './group-by';
import { byName } from './node-names';
import { counted, tableLines } from './output';
import { type UnitType, unitTypes } from './unit-amounts';

export interface GraphTreeOptions {
  /** Each node has a line; else equal nodes share one. */
  readonly all: boolean;
  /** With the properties that constraints can name. */
  readonly wide: boolean;
}

type GraphNode = ResourceGraph['nodes'][number];

/** Nodes that are equal in all that is shown. */
interface Leaf {
  readonly nodes: readonly GraphNode[];
}

export function graphLines({ nodes, unitSizes }: ResourceGraph, options: GraphTreeOptions): string[] {
  if (nodes.length === 0) return ['the graph of Fluxion has no nodes'];
  const sorted = nodes.toSorted(byName);
  const types = unitTypes(
    sorted.map(({ total }) => total),
    unitSizes,
  );
  const down = sorted.filter((node) => !node.up).length;
  const state = down === 0 ? 'all up' : `${down.toLocaleString('en')} down`;
  const sums = down === 0 ? '' : '; sums leave out what is free on nodes that are down';
  const head = ['RESOURCE', 'NODES', 'UP', ...types.map(({ name }) => name.toUpperCase())];
  return [
    `the graph of Fluxion has ${counted(sorted.length, 'node')}, ${state}; ${types.map(({ name }) => name).join(', ')} are free/total${sums}`,
    ...tableLines([
      options.wide ? [...head, 'PROPERTIES'] : head,
      sumRow('cluster', sorted, types, options),
      ...levelRows(sorted, LEVELS, 1, types, options),
    ]),
  ];
}

/** A longer one would push the numbers off the screen. */
const LONGEST_HOSTLIST = 48;

/** Between cluster and node, those that nodes have. */
const LEVELS = ['zone', 'rack'] as const;

function levelRows(
  nodes: readonly GraphNode[],
  [level, ...below]: readonly (typeof LEVELS)[number][],
  depth: number,
  types: readonly UnitType[],
  options: GraphTreeOptions,
): string[][] {
  if (level === undefined) return leaves(nodes, options).map((leaf) => leafRow(leaf, depth, types, options));
  const named = groupBy(nodes, (node) => node[level]);
  return [...named]
    .toSorted(([a], [b]) => byName({ name: a ?? '' }, { name: b ?? '' }))
    .flatMap(([name, inside]) =>
      name === undefined
        ? levelRows(inside, below, depth, types, options)
        : [
            sumRow(`${indent(depth)}${level} ${name}`, inside, types, options),
            ...levelRows(inside, below, depth + 1, types, options),
          ],
    );
}

const indent = (depth: number) => '  '.repeat(depth);

function leaves(nodes: readonly GraphNode[], { all }: GraphTreeOptions): Leaf[] {
  if (all) return nodes.map((node) => ({ nodes: [node] }));
  const equal = groupBy(nodes, ({ up, total, free }) => JSON.stringify([up, counts(total), counts(free)]));
  return [...equal.values()].map((group) => ({ nodes: group }));
}

/** The same text for the same counts. */
function counts(units: UnitCounts): readonly (readonly [string, number])[] {
  return Object.entries(units).sort(([a], [b]) => (a < b ? -1 : 1));
}

function sumRow(
  name: string,
  nodes: readonly GraphNode[],
  types: readonly UnitType[],
  { wide }: GraphTreeOptions,
): string[] {
  const free = addUnits(nodes.filter((node) => node.up).map((node) => node.free));
  const total = addUnits(nodes.map((node) => node.total));
  const up = nodes.filter((node) => node.up).length;
  const cells = [name, `${nodes.length}`, `${up}`, ...types.map((type) => shareText(type, free, total))];
  return wide ? [...cells, ''] : cells;
}

function leafRow(
  { nodes }: Leaf,
  depth: number,
  types: readonly UnitType[],
  { wide }: GraphTreeOptions,
): string[] {
  const [{ up, free, total }] = nodes as readonly [GraphNode];
  const each = nodes.length > 1 ? ' each' : '';
  const shares = types.map((type) => {
    const share = shareText(type, free, total);
    return share === '-' ? share : `${share}${each}`;
  });
  const hosts = hostlistOf(nodes.map((node) => node.name));
  const name = `${indent(depth)}${cut(hosts, LONGEST_HOSTLIST)}`;
  const cells = [name, `${nodes.length}`, up ? `${nodes.length}` : '0', ...shares];
  return wide ? [...cells, sharedProperties(nodes).join(',')] : cells;
}

function shareText({ type, amount }: UnitType, free: UnitCounts, total: UnitCounts): string {
  return total[type] === undefined ? '-' : `${amount(free[type] ?? 0)}/${amount(total[type])}`;
}

/** Properties that all of the nodes have. */
function sharedProperties(nodes: readonly GraphNode[]): string[] {
  const [first, ...others] = nodes.map(({ properties }) => new Set(properties));
  return [...(first ?? [])].filter((property) => others.every((other) => other.has(property))).sort();
}
