/** What `plan` shows: the coming hours as a chart of characters, one line for each job. Pure functions. */
import { cut, largest, plain } from '../columns';
import type { EstimateError, Plan, PlannedJob } from '../reader/kinds';
import { isEndless } from '../resources/endless';
import { hostlistOf } from '../resources/hostlist';
import { rfc3339, spanText } from './durations';
import { counted, tableLines } from './output';
import type { Page } from './repeat';

export interface PlanOptions {
  /** `namespace science` or `all namespaces`. */
  readonly where: string;
  /** Whether a column has the namespace. */
  readonly namespaces: boolean;
  /** Instead of a chart without bars. */
  readonly empty: string;
  /** Hours of the chart. @default - until the last end of what waits, at most 24 */
  readonly hours?: number;
}

const STATES = {
  Starting: { glyph: '+', sign: '', meaning: '+ granted, its pods do not run yet' },
  Running: { glyph: '#', sign: '', meaning: '# running' },
  Reserved: { glyph: '=', sign: '~', meaning: '= reserved, starts at ~ or earlier' },
  Planned: { glyph: '-', sign: '?', meaning: '- planned, ? may change' },
} as const;
const GOES_ON = '>';

const MOST_HOURS = 24;
const HOUR = 3600;
const DAY = 24 * HOUR;
/** Seconds of one column. */
const STEPS = [
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1800,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  7 * DAY,
];
/** A shorter bar says nothing: columns to its right are left out before. */
const SHORTEST_BAR = 20;
const NARROWEST_BAR = 8;
const LONGEST_BAR = 96;
/** Columns that a name takes at most on a terminal, beside a third of it. */
const LONGEST_NAME = 28;
/** Columns that nodes get at least. */
const SHORTEST_NODES = 12;
const GAP = 2;

/** The chart with its legend. */
export function planLines(plan: Plan, options: PlanOptions, page: Page): string[] {
  const jobs = plan.jobs.toSorted(byStart);
  const chart = jobs.length === 0 ? undefined : new Chart(plan, jobs, options, page);
  const title = `plan of ${options.where} at ${rfc3339(plan.now)}`;
  const step = chart === undefined ? '' : `; a column is ${spanText(chart.step)}`;
  return [
    `${title}${step}`,
    ...(chart === undefined ? [options.empty] : chart.lines()),
    ...footer(plan, options.namespaces),
  ];
}

/** The same without bars, for readers of tables. */
export function planTable(plan: Plan, { where, namespaces, empty }: PlanOptions): string[] {
  const head = ['WORKLOAD', 'QUEUE', 'STATE', 'START', 'LIKELY', 'END', 'NODES'];
  const rows = plan.jobs
    .toSorted(byStart)
    .map((job) => [
      ...(namespaces ? [job.namespace] : []),
      nameOf(job),
      job.queue,
      job.state,
      startText(job),
      job.likelyStart === undefined ? '-' : rfc3339(job.likelyStart),
      endText(job),
      hostlistOf(job.nodes),
    ]);
  const title = `plan of ${where} at ${rfc3339(plan.now)}`;
  const table =
    rows.length === 0 ? [empty] : tableLines([namespaces ? ['NAMESPACE', ...head] : head, ...rows]);
  return [title, ...table, ...footer(plan, namespaces)];
}

export function nameOf({ kind, name }: Pick<PlannedJob, 'kind' | 'name'>): string {
  return `${kind.toLowerCase()}/${name}`;
}

function startText({ state, start }: PlannedJob): string {
  return `${STATES[state].sign}${rfc3339(start)}`;
}

function endText(job: PlannedJob): string {
  if (job.overdue === true) return 'overdue';
  return lastsOf(job) === undefined ? 'none' : rfc3339(job.end);
}

export const byStart = (a: PlannedJob, b: PlannedJob) =>
  Date.parse(a.start) - Date.parse(b.start) ||
  Date.parse(a.end) - Date.parse(b.end) ||
  nameOf(a).localeCompare(nameOf(b), 'en');

/** Seconds, in whole minutes from ten minutes on: a running job began some seconds after its grant. Undefined if it has no end. */
function lastsOf({ start, end }: PlannedJob): number | undefined {
  const span = { start: Date.parse(start) / 1000, end: Date.parse(end) / 1000 };
  if (isEndless(span)) return undefined;
  const seconds = span.end - span.start;
  return seconds < 600 ? seconds : Math.round(seconds / 60) * 60;
}

function footer({ unplanned, blocked = 0, estimateError }: Plan, namespaces: boolean): string[] {
  const behind = `${unplanned.toLocaleString('en')} more ${unplanned === 1 ? 'waits' : 'wait'} behind the plan`;
  const queue = `kubectl fluxqueue queue${namespaces ? ' -A' : ''}`;
  const never = `${blocked.toLocaleString('en')} more cannot start as things are: ${queue} says why`;
  return [
    ...(unplanned === 0 ? [] : [behind]),
    ...(blocked === 0 ? [] : [never]),
    errorSentence(estimateError),
  ];
}

function errorSentence(error: EstimateError | undefined): string {
  if (error === undefined) return 'no estimate to judge: no job that had one has started in the last 7 days';
  const { jobs, p50Seconds, p90Seconds } = error;
  return `estimates were off by ${spanText(p50Seconds)} (p50) and ${spanText(p90Seconds)} (p90) in ${counted(jobs, 'job')} of all namespaces in the last 7 days`;
}

/** Cells to the right of a bar, by their titles. */
const RIGHT = ['START', 'LASTS', 'NODES'] as const;
type Right = (typeof RIGHT)[number];

class Chart {
  /** Seconds of one column. */
  readonly step: number;
  private readonly now: number;
  private readonly width: number;
  private readonly left: readonly (readonly string[])[];
  private readonly right: readonly Right[];

  constructor(
    plan: Plan,
    private readonly jobs: readonly PlannedJob[],
    options: PlanOptions,
    private readonly page: Page,
  ) {
    this.now = Date.parse(plan.now) / 1000;
    const head = options.namespaces ? ['NAMESPACE', 'WORKLOAD'] : ['WORKLOAD'];
    const names = jobs.map((job) => [...(options.namespaces ? [job.namespace] : []), nameOf(job)]);
    this.left = [head, ...names].map((cells) =>
      cells.map((cell) => this.cut(plain(cell), Math.min(LONGEST_NAME, Math.floor(page.columns / 3)))),
    );
    const { right, width } = this.layout();
    this.right = right;
    this.width = width;
    this.step = stepOf(this.horizon(options) / width);
  }

  lines(): string[] {
    const rows = this.jobs.map((job, i) => [
      ...this.left[i + 1]!,
      this.bar(job).padEnd(this.width),
      ...this.right.map((title) => rightCell(job, title)),
    ]);
    const head = [...this.left[0]!, this.axis(), ...this.right];
    const states = Object.entries(STATES).filter(([state]) => this.jobs.some((job) => job.state === state));
    const goesOn = rows.some((cells) => cells[this.left[0]!.length]!.endsWith(GOES_ON));
    const legend = [...states.map(([, { meaning }]) => meaning), ...(goesOn ? [`${GOES_ON} goes on`] : [])];
    return [
      ...tableLines([head, ...rows]).map((line) => this.cut(line, this.page.columns)),
      legend.join('   '),
    ];
  }

  /** A terminal loses what does not fit, a pipe takes it. */
  private cut(text: string, most: number): string {
    return this.page.isTerminal ? cut(text, most) : text;
  }

  /** As many cells to the right of the bars as leave room for bars; a pipe has room for all. */
  private layout(): { readonly right: readonly Right[]; readonly width: number } {
    const left = this.left[0]!.map((_, i) => largest(this.left.map((cells) => cells[i]!.length)) + GAP);
    const room = this.page.columns - left.reduce((sum, width) => sum + width, 0);
    for (let count: number = RIGHT.length; ; count--) {
      const right = RIGHT.slice(0, count);
      const width = room - right.reduce((sum, title) => sum + this.rightWidth(title) + GAP, 0);
      const least = count === 0 ? NARROWEST_BAR : SHORTEST_BAR;
      if (width >= SHORTEST_BAR || count === 0 || !this.page.isTerminal)
        return { right, width: Math.min(LONGEST_BAR, Math.max(least, width)) };
    }
  }

  private rightWidth(title: Right): number {
    const longest = largest([title.length, ...this.jobs.map((job) => rightCell(job, title).length)]);
    return title === 'NODES' ? Math.min(SHORTEST_NODES, longest) : longest;
  }

  /** Seconds that the chart should show: what runs longer than all that waits would squeeze the rest. */
  private horizon({ hours }: PlanOptions): number {
    if (hours !== undefined) return hours * HOUR;
    const waiting = this.jobs.filter(({ state }) => state !== 'Running' && state !== 'Starting');
    const shown = waiting.length > 0 ? waiting : this.jobs;
    const ends = shown.map(({ end }) => Date.parse(end) / 1000 - this.now);
    return Math.min(MOST_HOURS * HOUR, largest(ends));
  }

  private bar({ state, start, end }: PlannedJob): string {
    const from = Math.max(0, this.columnOf(start));
    const to = Math.max(from + 1, this.columnOf(end));
    const { glyph } = STATES[state];
    if (from >= this.width) return GOES_ON.padStart(this.width);
    const bar = ' '.repeat(from) + glyph.repeat(Math.min(to, this.width) - from);
    return to > this.width ? `${bar.slice(0, -1)}${GOES_ON}` : bar;
  }

  /** A bar ends where the next one begins. */
  private columnOf(time: string): number {
    return Math.round((Date.parse(time) / 1000 - this.now) / this.step);
  }

  /** `now   +30m   +1h`, each word above the column of its time. */
  private axis(): string {
    const words = 8;
    const every = stepOf(this.step * words);
    let axis = 'now';
    for (let at = every; at / this.step < this.width; at += every) {
      const column = Math.floor(at / this.step);
      const word = `+${spanText(at)}`;
      if (column > axis.length && column + word.length <= this.width) axis = axis.padEnd(column) + word;
    }
    return axis.padEnd(this.width);
  }
}

/** The next longer step. */
function stepOf(seconds: number): number {
  return STEPS.find((step) => step >= seconds) ?? Math.ceil(seconds / DAY) * DAY;
}

function rightCell(job: PlannedJob, title: Right): string {
  if (title === 'START') return startText(job);
  if (title === 'NODES') return hostlistOf(job.nodes);
  if (job.overdue === true) return 'overdue';
  const lasts = lastsOf(job);
  return lasts === undefined ? 'endless' : spanText(lasts);
}
