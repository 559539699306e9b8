/** Results of bench:policies: one CSV line per run, and tables over the seeds. */
import { QUEUE_POLICIES, type QueuePolicy } from '../../constructs/api/policies';
import type { Statistics } from '../../runtime/simulation/statistics';

/** The measures that the table has. */
type Measures = Omit<Statistics, 'medianWait' | 'waitP90' | 'estimateErrorP50' | 'estimateErrorP90'>;

export interface PolicyRun extends Measures {
  readonly load: number;
  /** The walltime requested, as a multiple of the runtime. */
  readonly factor: number;
  readonly seed: number;
  readonly policy: QueuePolicy;
  /** CPU time of the replay. */
  readonly seconds: number;
  /** Mean wait of the reference for EASY. @default - another policy */
  readonly referenceWait: number | undefined;
}

const COLUMNS = [
  'jobs',
  'load',
  'factor',
  'seed',
  'policy',
  'meanWait',
  'maxWait',
  'meanBoundedSlowdown',
  'utilisation',
  'wideMeanWait',
  'wideMaxWait',
  'delayedReservations',
  'estimated',
  'meanEstimateError',
  'seconds',
  'referenceWait',
] as const satisfies readonly (keyof PolicyRun)[];

export const RUN_HEADER = COLUMNS.join(',');

export function runLine(run: PolicyRun): string {
  return COLUMNS.map((column) => cellOf(run[column])).join(',');
}

function cellOf(value: number | string | undefined): string {
  return typeof value === 'number' ? `${Number(value.toPrecision(6))}` : (value ?? '');
}

export function parseRuns(csv: string): readonly PolicyRun[] {
  return csv
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const cells = line.split(',');
      const entries = COLUMNS.map((column, i) => {
        const cell = cells[i]!;
        return [column, column === 'policy' ? cell : cell === '' ? undefined : Number(cell)] as const;
      });
      return Object.fromEntries(entries) as unknown as PolicyRun;
    });
}

/** One table per number of jobs; each row is one load, factor and policy, as the mean over the seeds. */
export function policyTables(runs: readonly PolicyRun[]): string {
  const byJobs = [...Map.groupBy(runs, ({ jobs }) => jobs)].sort(([a], [b]) => a - b);
  return byJobs.map(([jobs, ofJobs]) => tableOf(jobs, ofJobs)).join('\n\n');
}

const HEAD = [
  'load',
  'factor',
  'policy',
  'seeds',
  'mean wait',
  'of the reference',
  'slowdown',
  'wide mean',
  'wide max',
  'utilisation',
  'delayed',
  'promised',
  'estimate error',
];

function tableOf(jobs: number, runs: readonly PolicyRun[]): string {
  const cells = [...Map.groupBy(runs, ({ load, factor, policy }) => `${load} ${factor} ${policy}`).values()];
  cells.sort(([a], [b]) => a!.load - b!.load || a!.factor - b!.factor || rankOf(a!) - rankOf(b!));
  const lines = [HEAD, HEAD.map(() => '---'), ...cells.map(rowOf)].map((row) => `| ${row.join(' | ')} |`);
  return [`${jobs} jobs:`, '', ...lines].join('\n');
}

function rankOf({ policy }: PolicyRun): number {
  return QUEUE_POLICIES.indexOf(policy);
}

function rowOf(runs: readonly PolicyRun[]): readonly string[] {
  const { load, factor, policy } = runs[0]!;
  const mean = (measure: (run: PolicyRun) => number) =>
    runs.reduce((total, run) => total + measure(run), 0) / runs.length;
  const seconds = (measure: (run: PolicyRun) => number) => `${Math.round(mean(measure))} s`;
  return [
    `${load}`,
    `${factor}`,
    policy,
    `${runs.length}`,
    seconds((run) => run.meanWait),
    worstRatio(runs),
    mean((run) => run.meanBoundedSlowdown).toFixed(1),
    seconds((run) => run.wideMeanWait),
    seconds((run) => run.wideMaxWait),
    mean((run) => run.utilisation).toFixed(3),
    `${runs.reduce((total, run) => total + run.delayedReservations, 0)}`,
    `${Math.round(mean((run) => run.estimated) * 100)} %`,
    seconds((run) => run.meanEstimateError),
  ];
}

/** The mean wait in parts of the reference's, of the seed where it is worst. */
function worstRatio(runs: readonly PolicyRun[]): string {
  const ratios = runs
    .filter(({ referenceWait }) => referenceWait !== undefined)
    .map(({ meanWait, referenceWait }) => (referenceWait === 0 ? 1 : meanWait / referenceWait!));
  return ratios.length === 0 ? '' : `at most ${Math.max(...ratios).toFixed(3)}`;
}
