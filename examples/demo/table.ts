/** The table of workloads: what waits in the order of the queue, what has nodes, what has ended. Pure functions. */
import { columns } from '../../runtime/columns';
import { formatHostlist } from '../../runtime/resources/hostlist';
import { clockTime } from './clock-time';
import { colourOf } from './letters';
import type { Size } from './node-map';
import type { ShownJob, Snapshot } from './snapshot';
import { cut, type Line, line } from './styled';

const HEAD = ['', 'NAME', 'PHASE', 'POS', 'NODES', 'START', 'WHY'] as const;
const LONGEST_HOSTLIST = 14;
/** As in the column START of FluxJobs. */
const PREFIXES = { started: '', promised: '~', planned: '?' } as const;

/** At most `height` lines, the first one is the heading. */
export function table({ jobs }: Snapshot, { width, height }: Size): Line[] {
  const shown = jobs.slice(0, Math.max(0, height - 1));
  const all = shown.map(cells);
  const isUsed = (_: string, i: number) => i === 0 || all.length === 0 || all.some((row) => row[i] !== '');
  const [head = '', ...rows] = columns([HEAD, ...all].map((row) => row.filter(isUsed)));
  return [cut(line(head), width), ...rows.map((row, i) => cut(styled(row, shown[i]!), width))];
}

/** The letter as the node map and the timeline show it. */
function styled(row: string, { letter }: ShownJob): Line {
  if (letter === undefined) return line(row);
  return [{ text: row.slice(0, 1), colour: colourOf(letter) }, { text: row.slice(1) }];
}

function cells({ letter = ' ', name, phase, position, nodes, start, why }: ShownJob): string[] {
  return [
    letter,
    name,
    phase,
    position === undefined ? '' : String(position),
    shortened(formatHostlist(nodes.map((node) => node.name))),
    start === undefined ? '' : `${PREFIXES[start.kind]}${clockTime(start.at)}`,
    why,
  ];
}

function shortened(hostlist: string): string {
  return hostlist.length <= LONGEST_HOSTLIST ? hostlist : `${hostlist.slice(0, LONGEST_HOSTLIST - 1)}…`;
}
