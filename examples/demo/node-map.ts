/** The cores of all nodes as text: a letter for each core that a workload has. Pure functions. */
import { parseIdset } from '../../runtime/resources/idset';
import { colourOf, MANY } from './letters';
import type { ShownNode, Snapshot } from './snapshot';
import { cut, type Line, line } from './styled';

/** Characters for the cores of one node, the most legible first. */
const CELL_WIDTHS = [16, 8, 4, 2, 1] as const;
const LONGEST_NAME = 10;
const GAP = 2;
const FREE = '.';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** At most `height` lines, the first one is the heading. */
export function nodeMap({ nodes, jobs }: Snapshot, { width, height }: Size): Line[] {
  const most = Math.max(1, ...nodes.map(({ cores }) => cores));
  const label = Math.min(LONGEST_NAME, Math.max(...nodes.map(({ name }) => name.length)));
  const grid = gridFor(nodes.length, most, label, { width, height: height - 1 });
  const holders = holdersOf(jobs);
  const shown = nodes.slice(0, grid.shown);
  const cells = shown.map((node) => [
    { text: `${shortName(node.name).padEnd(label)} ` },
    ...cellOf(node, holders.get(node.name), grid),
  ]);
  const rows = Array.from({ length: Math.ceil(cells.length / grid.columns) }, (_, i) =>
    cells
      .slice(i * grid.columns, (i + 1) * grid.columns)
      .flatMap((cell, j) => (j === 0 ? cell : [{ text: ' '.repeat(GAP) }, ...cell])),
  );
  const hidden = nodes.length - shown.length;
  const more = hidden > 0 ? [line(`and ${hidden} more`)] : [];
  return [cut(line(headingOf(nodes, grid.scale)), width), ...rows, ...more];
}

interface Grid {
  readonly columns: number;
  /** Characters for the cores of a node. */
  readonly cell: number;
  /** Cores for which one character stands. */
  readonly scale: number;
  /** Number of nodes that have room. */
  readonly shown: number;
}

function gridFor(count: number, cores: number, label: number, { width, height }: Size): Grid {
  const grids = CELL_WIDTHS.map((most): Grid => {
    const scale = Math.ceil(cores / most);
    const cell = Math.ceil(cores / scale);
    const columns = Math.max(1, Math.floor((width + GAP) / (label + 1 + cell + GAP)));
    const isWhole = Math.ceil(count / columns) <= height;
    return { columns, cell, scale, shown: isWhole ? count : columns * Math.max(1, height - 1) };
  });
  return grids.find(({ shown }) => shown === count) ?? grids.at(-1)!;
}

function headingOf(nodes: readonly ShownNode[], scale: number): string {
  const what = scale === 1 ? 'a core' : `${scale} cores`;
  return `${nodes.length} NODES  each letter is a job on ${what}, ${FREE} is free`;
}

/** The ends of long names differ. */
function shortName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `…${name.slice(1 - LONGEST_NAME)}`;
}

type Holders = ReadonlyMap<number, string>;

/** Node -> core -> letter. */
function holdersOf(jobs: Snapshot['jobs']): ReadonlyMap<string, Holders> {
  const holders = new Map<string, Map<number, string>>();
  for (const { nodes, letter = MANY } of jobs)
    for (const { name, units } of nodes) {
      const cores = holders.get(name) ?? new Map<number, string>();
      holders.set(name, cores);
      for (const id of parseIdset(units.core ?? '')) cores.set(id, letter);
    }
  return holders;
}

function cellOf({ cores }: ShownNode, holders: Holders = new Map(), { cell, scale }: Grid): Line {
  return Array.from({ length: cell }, (_, i) => {
    if (i * scale >= cores) return { text: ' ' };
    const letters = Array.from({ length: scale }, (_, j) => holders.get(i * scale + j)).filter(
      (letter) => letter !== undefined,
    );
    const letter = mostFrequent(letters);
    return letter === undefined ? { text: FREE } : { text: letter, colour: colourOf(letter) };
  });
}

function mostFrequent(letters: readonly string[]): string | undefined {
  const counts = Map.groupBy(letters, (letter) => letter);
  return [...counts].sort(([, a], [, b]) => b.length - a.length)[0]?.[0];
}
