/** Results of a replay in the measures of the scheduling literature. Times are in seconds. */

export interface SimulatedJob {
  readonly submittedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly processors: number;
  /** Whether it started later than it was estimated once. */
  readonly delayed: boolean;
  /** The first start that was promised to it. @default - none was */
  readonly firstEstimate?: number | undefined;
}

export interface Statistics {
  readonly jobs: number;
  readonly meanWait: number;
  readonly medianWait: number;
  /** 90 % of the jobs waited at most this long. */
  readonly waitP90: number;
  readonly maxWait: number;
  /** The mean of max(1, (wait + runtime) / max(runtime, 10 s)). */
  readonly meanBoundedSlowdown: number;
  /** Fraction of the machine in use from the first submission to the last end. */
  readonly utilisation: number;
  /** Mean wait of jobs that request at least a quarter of the machine. */
  readonly wideMeanWait: number;
  readonly wideMaxWait: number;
  /** Number of jobs that started later than they were estimated once. */
  readonly delayedReservations: number;
  /** Fraction of the jobs that had an estimate. */
  readonly estimated: number;
  /** Mean time between the first estimate of a job and its start, over the jobs that had one. */
  readonly meanEstimateError: number;
  /** Half of these errors, and 90 % of them, are at most this large. */
  readonly estimateErrorP50: number;
  readonly estimateErrorP90: number;
}

const BOUND = 10;

export function statisticsOf(jobs: readonly SimulatedJob[], processors: number): Statistics {
  const wide = jobs.filter((job) => job.processors * 4 >= processors);
  const estimated = withEstimate(jobs);
  const busy = sum(jobs, (job) => job.processors * runtimeOf(job));
  const { from, to } = periodOf(jobs);
  return {
    jobs: jobs.length,
    meanWait: mean(jobs, waitOf),
    medianWait: quantile(jobs, waitOf, 0.5),
    waitP90: quantile(jobs, waitOf, 0.9),
    maxWait: most(jobs, waitOf),
    meanBoundedSlowdown: mean(jobs, slowdownOf),
    utilisation: jobs.length === 0 ? 0 : busy / (processors * (to - from)),
    wideMeanWait: mean(wide, waitOf),
    wideMaxWait: most(wide, waitOf),
    delayedReservations: jobs.filter(({ delayed }) => delayed).length,
    estimated: jobs.length === 0 ? 0 : estimated.length / jobs.length,
    meanEstimateError: mean(estimated, errorOf),
    estimateErrorP50: quantile(estimated, errorOf, 0.5),
    estimateErrorP90: quantile(estimated, errorOf, 0.9),
  };
}

/** From the first submission to the last end; empty without jobs. */
export function periodOf(jobs: readonly SimulatedJob[]): { readonly from: number; readonly to: number } {
  return {
    from: jobs.reduce((least, { submittedAt }) => Math.min(least, submittedAt), Infinity),
    to: jobs.reduce((most, { endedAt }) => Math.max(most, endedAt), -Infinity),
  };
}

/** Those that were promised a start. */
export function withEstimate(jobs: readonly SimulatedJob[]): readonly SimulatedJob[] {
  return jobs.filter(({ firstEstimate }) => firstEstimate !== undefined);
}

type Measure = (job: SimulatedJob) => number;

export const waitOf: Measure = ({ submittedAt, startedAt }) => startedAt - submittedAt;
export const errorOf: Measure = ({ startedAt, firstEstimate }) => Math.abs(startedAt - firstEstimate!);
const runtimeOf: Measure = ({ startedAt, endedAt }) => endedAt - startedAt;

function slowdownOf(job: SimulatedJob): number {
  const runtime = runtimeOf(job);
  return Math.max(1, (waitOf(job) + runtime) / Math.max(runtime, BOUND));
}

function sum(jobs: readonly SimulatedJob[], measure: Measure): number {
  return jobs.reduce((total, job) => total + measure(job), 0);
}

export function mean(jobs: readonly SimulatedJob[], measure: Measure): number {
  return jobs.length === 0 ? 0 : sum(jobs, measure) / jobs.length;
}

function most(jobs: readonly SimulatedJob[], measure: Measure): number {
  return jobs.reduce((largest, job) => Math.max(largest, measure(job)), 0);
}

/** The least value that this share of all values does not exceed. */
export function quantile(jobs: readonly SimulatedJob[], measure: Measure, share: number): number {
  const sorted = jobs.map(measure).sort((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
}
