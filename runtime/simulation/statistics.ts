/** What a replay comes to, in the measures of the scheduling literature. */

export interface SimulatedJob {
  readonly submittedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly processors: number;
  /** It started later than it had once been told. */
  readonly delayed: boolean;
}

export interface Statistics {
  readonly jobs: number;
  readonly meanWait: number;
  readonly maxWait: number;
  /** Mean of max(1, (wait + runtime) / max(runtime, 10 s)). */
  readonly meanBoundedSlowdown: number;
  /** Part of the machine in use from the first submission to the last end. */
  readonly utilisation: number;
  /** Of jobs that ask for a quarter of the machine and more. */
  readonly wideMeanWait: number;
  readonly wideMaxWait: number;
  readonly delayedReservations: number;
}

const BOUND = 10;

export function statisticsOf(jobs: readonly SimulatedJob[], processors: number): Statistics {
  const wide = jobs.filter((job) => job.processors * 4 >= processors);
  const busy = sum(jobs, (job) => job.processors * runtimeOf(job));
  const from = jobs.reduce((least, { submittedAt }) => Math.min(least, submittedAt), Infinity);
  const to = jobs.reduce((most, { endedAt }) => Math.max(most, endedAt), -Infinity);
  return {
    jobs: jobs.length,
    meanWait: mean(jobs, waitOf),
    maxWait: most(jobs, waitOf),
    meanBoundedSlowdown: mean(jobs, slowdownOf),
    utilisation: jobs.length === 0 ? 0 : busy / (processors * (to - from)),
    wideMeanWait: mean(wide, waitOf),
    wideMaxWait: most(wide, waitOf),
    delayedReservations: jobs.filter(({ delayed }) => delayed).length,
  };
}

type Measure = (job: SimulatedJob) => number;

const waitOf: Measure = ({ submittedAt, startedAt }) => startedAt - submittedAt;
const runtimeOf: Measure = ({ startedAt, endedAt }) => endedAt - startedAt;

function slowdownOf(job: SimulatedJob): number {
  const runtime = runtimeOf(job);
  return Math.max(1, (waitOf(job) + runtime) / Math.max(runtime, BOUND));
}

function sum(jobs: readonly SimulatedJob[], measure: Measure): number {
  return jobs.reduce((total, job) => total + measure(job), 0);
}

function mean(jobs: readonly SimulatedJob[], measure: Measure): number {
  return jobs.length === 0 ? 0 : sum(jobs, measure) / jobs.length;
}

function most(jobs: readonly SimulatedJob[], measure: Measure): number {
  return jobs.reduce((largest, job) => Math.max(largest, measure(job)), 0);
}
