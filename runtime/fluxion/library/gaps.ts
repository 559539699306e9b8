/** The free units of nodes over a span of time: once these gaps are allocated, no other job fits there. */
import { formatIdset, parseIdset } from '../../resources/idset';
import type { Allocation, GraphNode, UnitIds } from '../../resources/types';

/** Units that are free from `start` to `end`, in absolute seconds; `end` is exclusive. */
export type Gap = Pick<Allocation, 'start' | 'end' | 'nodes'>;

/** @param held all allocations on the nodes */
export function gapsOn(
  nodes: readonly GraphNode[],
  held: readonly Allocation[],
  from: number,
  until: number,
): Gap[] {
  const gaps = new Map<string, { start: number; end: number; free: Map<string, Record<string, number[]>> }>();
  for (const { name, units } of nodes)
    for (const [type, count] of Object.entries(units)) {
      const busy = busyOn(name, type, held);
      for (let unit = 0; unit < count; unit++)
        for (const [start, end] of between(busy(unit), from, until)) {
          const gap = gaps.get(`${start} ${end}`) ?? { start, end, free: new Map() };
          gaps.set(`${start} ${end}`, gap);
          const ofNode = gap.free.get(name) ?? {};
          gap.free.set(name, ofNode);
          ofNode[type] = [...(ofNode[type] ?? []), unit];
        }
    }
  return [...gaps.values()].map(({ start, end, free }) => ({
    start,
    end,
    nodes: [...free].map(([name, units]) => ({ name, units: idsets(units), exclusive: false })),
  }));
}

function idsets(units: Readonly<Record<string, readonly number[]>>): UnitIds {
  return Object.fromEntries(Object.entries(units).map(([type, ids]) => [type, formatIdset(ids)]));
}

type Span = readonly [start: number, end: number];

/** The spans in which a unit of this type is held, sorted by their start. */
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
