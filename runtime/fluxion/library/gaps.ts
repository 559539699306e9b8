/** What is free on nodes over a span of time: what has to be taken for nothing else to fit there. */
import { formatIdset, parseIdset } from '../idset';
import type { AllocatedNode, Allocation, GraphNode } from '../types';

/** Units that are free from start to end, absolute seconds, end exclusive. */
export type Gap = Pick<Allocation, 'start' | 'end' | 'nodes'>;

/** @param held what is on the nodes, by whomever */
export function gapsOn(
  nodes: readonly GraphNode[],
  held: readonly Allocation[],
  from: number,
  until: number,
): Gap[] {
  const gaps = new Map<string, { start: number; end: number; nodes: AllocatedNode[] }>();
  for (const node of nodes)
    for (const { start, end, units } of gapsOnNode(node, held, from, until)) {
      const gap = gaps.get(`${start} ${end}`) ?? { start, end, nodes: [] };
      gaps.set(`${start} ${end}`, gap);
      gap.nodes.push({ name: node.name, units, exclusive: false });
    }
  return [...gaps.values()];
}

type Span = readonly [start: number, end: number];

function gapsOnNode({ name, units }: GraphNode, held: readonly Allocation[], from: number, until: number) {
  const gaps = new Map<string, { start: number; end: number; units: Record<string, number[]> }>();
  for (const [type, count] of Object.entries(units)) {
    const busy = busyOn(name, type, held);
    for (let unit = 0; unit < count; unit++)
      for (const [start, end] of between(busy(unit), from, until)) {
        const gap = gaps.get(`${start} ${end}`) ?? { start, end, units: {} };
        gaps.set(`${start} ${end}`, gap);
        gap.units[type] = [...(gap.units[type] ?? []), unit];
      }
  }
  return [...gaps.values()].map(({ start, end, units }) => ({
    start,
    end,
    units: Object.fromEntries(Object.entries(units).map(([type, ids]) => [type, formatIdset(ids)])),
  }));
}

/** When each unit of a type is held, by start. */
function busyOn(name: string, type: string, held: readonly Allocation[]): (unit: number) => readonly Span[] {
  const spans = held
    .flatMap(({ start, end, nodes }) =>
      nodes
        .filter((node) => node.name === name)
        .map(({ exclusive, units }) => ({
          span: [start, end] as const,
          holds: exclusive ? undefined : new Set(parseIdset(units[type] ?? '')),
        })),
    )
    .sort((a, b) => a.span[0] - b.span[0]);
  return (unit) => spans.filter(({ holds }) => holds?.has(unit) ?? true).map(({ span }) => span);
}

function between(busy: readonly Span[], from: number, until: number): Span[] {
  const free: Span[] = [];
  let at = from;
  for (const [start, end] of busy) {
    if (start > at) free.push([at, Math.min(start, until)]);
    at = Math.max(at, end);
  }
  if (at < until) free.push([at, until]);
  return free.filter(([start, end]) => start < end);
}
