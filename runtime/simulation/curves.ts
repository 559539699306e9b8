/** Curves of a replay, for plots: few points, so that a page with all of them stays small. */
import type { SimulatedJob } from './statistics';

/** Points of one line. */
export interface Curve {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

export interface Curves {
  /** Share of the jobs, in percent, that waited at most x seconds. */
  readonly waits: Curve;
  /** Percent of the machine in use at x hours after the first submission. */
  readonly utilisation: Curve;
  /** Cores that waiting jobs request at x hours after the first submission. */
  readonly backlog: Curve;
  /** Mean wait in seconds of the jobs of a width of at most x cores, and more than half of it. */
  readonly widths: Curve;
  /** Share of the jobs with an estimate, in percent, whose first one was wrong by at most x seconds. */
  readonly errors: Curve;
}

const POINTS = 200;
const SECONDS_PER_HOUR = 3600;

export function curvesOf(jobs: readonly SimulatedJob[], processors: number): Curves {
  const running = jobs.map(({ startedAt, endedAt, ...job }) => ({
    from: startedAt,
    to: endedAt,
    cores: job.processors,
  }));
  const waiting = jobs.map(({ submittedAt, startedAt, ...job }) => ({
    from: submittedAt,
    to: startedAt,
    cores: job.processors,
  }));
  const period = {
    from: least(jobs.map(({ submittedAt }) => submittedAt)),
    to: most(jobs.map(({ endedAt }) => endedAt)),
  };
  const used = meanCores(running, period);
  return {
    waits: distribution(jobs.map(({ submittedAt, startedAt }) => startedAt - submittedAt)),
    utilisation: { x: used.x, y: used.y.map((cores) => (100 * cores) / processors) },
    backlog: meanCores(waiting, period),
    widths: widthsOf(jobs),
    errors: distribution(
      jobs.flatMap(({ startedAt, firstEstimate }) =>
        firstEstimate === undefined ? [] : [Math.abs(startedAt - firstEstimate)],
      ),
    ),
  };
}

/** The cumulative distribution: y percent of the values are at most x. */
function distribution(values: readonly number[]): Curve {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return { x: [], y: [] };
  const shares = Array.from({ length: POINTS + 1 }, (_, i) => i / POINTS);
  const points = shares.map((share) => ({
    x: sorted[Math.ceil(share * (sorted.length - 1))]!,
    y: 100 * share,
  }));
  // A plot needs growing x: of equal ones the highest share counts.
  const last = points.filter(({ x }, i) => points[i + 1]?.x !== x);
  return { x: last.map(({ x }) => x), y: last.map(({ y }) => y) };
}

interface Interval {
  readonly from: number;
  readonly to: number;
  readonly cores: number;
}

/** Mean number of cores in each of equal parts of the period. */
function meanCores(
  intervals: readonly Interval[],
  period: { readonly from: number; readonly to: number },
): Curve {
  const width = (period.to - period.from) / POINTS;
  if (!(width > 0)) return { x: [], y: [] };
  const coreSeconds = new Float64Array(POINTS);
  for (const { from, to, cores } of intervals) {
    const last = Math.min(POINTS - 1, Math.floor((to - period.from) / width));
    for (let i = Math.floor((from - period.from) / width); i <= last; i++) {
      const start = period.from + i * width;
      coreSeconds[i]! += cores * Math.max(0, Math.min(to, start + width) - Math.max(from, start));
    }
  }
  return {
    x: Array.from(coreSeconds, (_, i) => ((i + 0.5) * width) / SECONDS_PER_HOUR),
    y: Array.from(coreSeconds, (sum) => sum / width),
  };
}

function widthsOf(jobs: readonly SimulatedJob[]): Curve {
  const waits = new Map<number, number[]>();
  for (const { processors, submittedAt, startedAt } of jobs) {
    const width = 2 ** Math.ceil(Math.log2(processors));
    const of = waits.get(width);
    if (of === undefined) waits.set(width, [startedAt - submittedAt]);
    else of.push(startedAt - submittedAt);
  }
  const x = [...waits.keys()].sort((a, b) => a - b);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return { x, y: x.map((width) => mean(waits.get(width)!)) };
}

const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), -Infinity);
