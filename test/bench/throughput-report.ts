/** What bench:throughput reports of its trials. */
import { print, round } from './jobs';
import { median, quantile } from './statistics';

export interface Trial {
  readonly jobsPerSecond: number;
  /** CPU milliseconds of all processes per Job, until the last Job was complete and until its FluxJob was final. */
  readonly cpuMs: { readonly atLastJob: number; readonly untilWritten: number };
  /** CPU milliseconds of the apiserver per Job by kind of request, if it is profiled. */
  readonly apiserverMs?: Readonly<Record<string, number>>;
  /** With the queue only. */
  readonly own?: OwnCost;
}

export interface OwnCost {
  readonly writesPerJob: number;
  readonly eventsPerJob: number;
  /** CPU milliseconds of our processes per Job. */
  readonly cpuMs: number;
  readonly rssMiB: number;
  /** Seconds from the end of each Job to its final FluxJob; undefined: it has none. */
  readonly lags: readonly Lag[];
  /** Seconds from the moment at which the create of each Job was sent: until its answer, until a watch delivered it, until its release. */
  readonly creates: readonly number[];
  readonly deliveries: readonly number[];
  readonly releases: readonly number[];
}

type Lag = number | undefined;

export function perJobOfEach(seconds: ReadonlyMap<string, number>, count: number): Record<string, number> {
  return Object.fromEntries([...seconds].map(([name, each]) => [name, perJob(each, count)]));
}

/** Milliseconds. */
export function perJob(seconds: number, count: number): number {
  return round((seconds * 1000) / count);
}

/** JSON has null for the lags if no Job has a FluxJob. */
export function lagsOf(lags: readonly Lag[]) {
  const known = lags.filter((lag) => lag !== undefined);
  return {
    fluxJobsPerJob: round(known.length / lags.length),
    lagP50Seconds: round(median(known)),
    lagP99Seconds: round(quantile(known, 0.99)),
    lagMaxSeconds: round(quantile(known, 1)),
  };
}

/** An apiserver without free CPU is slow to answer and to tell its watches: that is a part of the time to the release. */
export function startsOf(own: readonly Pick<OwnCost, 'creates' | 'deliveries' | 'releases'>[]) {
  const ms = (of: (cost: (typeof own)[number]) => readonly number[], q: number) =>
    Math.round(quantile(own.flatMap(of), q) * 1000);
  return {
    createP50Ms: ms(({ creates }) => creates, 0.5),
    deliveryP50Ms: ms(({ deliveries }) => deliveries, 0.5),
    /** From the delivery: the part of the queue. */
    ownReleaseP50Ms: ms(({ deliveries, releases }) => releases.map((at, i) => at - deliveries[i]!), 0.5),
    releaseP50Ms: ms(({ releases }) => releases, 0.5),
    releaseP99Ms: ms(({ releases }) => releases, 0.99),
  };
}

/** Medians of the trials, which are pairs: one without and one with the queue. */
export function figuresOf(plain: readonly Trial[], queued: readonly Trial[]) {
  const own = queued.map((trial) => trial.own!);
  const ratio = (of: (trial: Trial) => number) =>
    round(median(queued.map((trial, i) => of(trial) / of(plain[i]!))));
  return {
    plainJobsPerSecond: round(median(plain.map((trial) => trial.jobsPerSecond))),
    queueJobsPerSecond: round(median(queued.map((trial) => trial.jobsPerSecond))),
    ratio: ratio(({ jobsPerSecond }) => jobsPerSecond),
    cpuRatioAtLastJob: ratio(({ cpuMs }) => cpuMs.atLastJob),
    cpuRatio: ratio(({ cpuMs }) => cpuMs.untilWritten),
    plainCpuMsPerJob: round(median(plain.map(({ cpuMs }) => cpuMs.untilWritten))),
    cpuMsPerJob: round(median(queued.map(({ cpuMs }) => cpuMs.untilWritten))),
    writesPerJob: round(median(own.map(({ writesPerJob }) => writesPerJob))),
    eventsPerJob: round(median(own.map(({ eventsPerJob }) => eventsPerJob))),
    ownCpuMsPerJob: round(median(own.map(({ cpuMs }) => cpuMs))),
    ...lagsOf(own.flatMap(({ lags }) => lags)),
    ...startsOf(own),
    rssMiB: round(median(own.map((cost) => cost.rssMiB))),
  };
}

/** Prints the CPU milliseconds of the apiserver per Job by kind of request, medians of the trials. */
export function printApiserver(plain: readonly Trial[], queued: readonly Trial[]): void {
  const medianOf = (trials: readonly Trial[], kind: string) =>
    median(trials.map(({ apiserverMs }) => apiserverMs?.[kind] ?? 0)).toFixed(2);
  for (const kind of Object.keys(queued[0]?.apiserverMs ?? {}))
    print(`  ${kind.padEnd(42)} plain ${medianOf(plain, kind)} queue ${medianOf(queued, kind)}`);
}

const TOP = 10;

/** Prints the functions that take most CPU, in milliseconds per Job. */
export function printFunctions(milliseconds: Readonly<Record<string, number>>): void {
  const top = Object.entries(milliseconds).sort(([, a], [, b]) => b - a);
  for (const [name, ms] of top.slice(0, TOP)) print(`  ${name.padEnd(42)} ${ms.toFixed(2)}`);
}
