/** What runs, is reserved and is planned, as a Gantt chart of text. Pure functions. */
import { clockTime } from './clock-time';
import { colourOf } from './letters';
import type { Size } from './node-map';
import type { ShownJob, Snapshot } from './snapshot';
import { cut, type Line, line } from './styled';

/** Seconds for which a character may stand. */
const STEPS = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400] as const;
const HEADING = 'TIME  = ran  - walltime  ~ reserved  ? planned';
const NAME_WIDTH = 12;
/** Letter and name. */
const LABEL_WIDTH = NAME_WIDTH + 3;
/** Characters between two times on the axis. */
const TICK = 15;
const NOW = '|';

interface Bar {
  readonly job: ShownJob;
  readonly start: number;
  readonly end: number;
}

interface Axis {
  readonly from: number;
  /** Seconds per character. */
  readonly step: number;
  readonly width: number;
}

/** At most `height` lines: a heading, the times, and a bar for each job. */
export function timeline({ now, jobs }: Snapshot, { width, height }: Size): Line[] {
  const all = jobs.flatMap((job) => barOf(job, now));
  if (all.length === 0) return [];
  const bars = chosen(all, height - 2);
  const hidden = all.length - bars.length;
  const axis = axisFor(bars, now, width - LABEL_WIDTH);
  const more = hidden > 0 ? ` (${hidden} more)` : '';
  return [
    cut(line(`${HEADING}${more}`), width),
    line(times(axis)),
    ...bars.map((bar) => row(bar, axis, now)),
  ];
}

function barOf(job: ShownJob, now: number): Bar[] {
  const { phase, start, end } = job;
  if (phase === 'Finished' || end === undefined) return [];
  // A plan is to the second: what could start at once was planned up to a second ago.
  const from = start === undefined || start.kind === 'planned' ? Math.max(start?.at ?? now, now) : start.at;
  return [{ job, start: from, end: Math.max(end, now) }];
}

/** Half of the lines are for what is to come, if there is so much. Of what runs, the last to end decides about it. */
function chosen(bars: readonly Bar[], most: number): Bar[] {
  const byStart = bars.toSorted((a, b) => a.start - b.start);
  const of = (...kinds: readonly string[]) =>
    byStart.filter(({ job }) => kinds.includes(job.start?.kind ?? 'started'));
  const coming = [...of('promised'), ...of('planned')];
  const running = of('started');
  const forComing = Math.min(coming.length, Math.max(Math.floor(most / 2), most - running.length));
  const latest = running.toSorted((a, b) => b.end - a.end).slice(0, Math.max(0, most - forComing));
  return [...running.filter((bar) => latest.includes(bar)), ...coming.slice(0, forComing)];
}

function axisFor(bars: readonly Bar[], now: number, width: number): Axis {
  const first = Math.min(now, ...bars.map(({ start }) => start));
  const last = Math.max(now, ...bars.map(({ end }) => end));
  const step = STEPS.find((each) => (last - floored(first, each)) / each < width) ?? STEPS.at(-1)!;
  return { from: floored(first, step), step, width };
}

/** The axis moves in few large steps, so that a picture is like the one before it. */
function floored(time: number, step: number): number {
  const several = step * 5;
  return Math.floor(time / several) * several;
}

function times({ from, step, width }: Axis): string {
  const count = Math.floor((width - 8) / TICK) + 1;
  const ticks = Array.from({ length: count }, (_, i) => clockTime(from + i * TICK * step).padEnd(TICK));
  return `${' '.repeat(LABEL_WIDTH)}${ticks.join('')}`.trimEnd();
}

function row({ job, start, end }: Bar, axis: Axis, now: number): Line {
  const { from, step, width } = axis;
  const column = (time: number) => Math.floor((time - from) / step);
  const marks = Array.from({ length: width }, (_, i) => {
    if (i === column(now)) return NOW;
    if (i < column(start) || i > column(Math.max(start, end - step / 1000))) return ' ';
    return markOf(job, i < column(now));
  });
  const colour = job.letter === undefined ? undefined : colourOf(job.letter);
  return [
    { text: `${job.letter ?? ' '} `, colour },
    { text: `${cutName(job.name).padEnd(NAME_WIDTH)} ` },
    { text: marks.join('').trimEnd(), colour },
  ];
}

function markOf({ start }: ShownJob, isPast: boolean): string {
  if (start?.kind === 'promised') return '~';
  if (start?.kind === 'planned') return '?';
  return isPast ? '=' : '-';
}

function cutName(name: string): string {
  return name.length <= NAME_WIDTH ? name : `${name.slice(0, NAME_WIDTH - 1)}…`;
}
