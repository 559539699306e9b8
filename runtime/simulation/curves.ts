/** Curves of a replay, for plots: few points, so that a page with all of them stays small. */
import { errorOf, mean, periodOf, type SimulatedJob, waitOf, withEstimate } from './statistics';

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
  const period = periodOf(jobs);
  const used = meanCores(running, period);
  return {
    waits: distribution(jobs.map(waitOf)),
    utilisation: { x: used.x, y: used.y.map((cores) => (100 * cores) / processors) },
    backlog: meanCores(waiting, period),
    widths: widthsOf(jobs),
    errors: distribution(withEstimate(jobs).map(errorOf)),
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
  const classes = Map.groupBy(jobs, ({ processors }) => 2 ** Math.ceil(Math.log2(processors)));
  const x = [...classes.keys()].sort((a, b) => a - b);
  return { x, y: x.map((width) => mean(classes.get(width)!, waitOf)) };
}
