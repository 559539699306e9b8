/**
 * What the engines say about each kind in each phase: the rows of the table in docs/gitops.md, and of its test. The statuses
 * are those that the runtime writes. `npm run generate:health` writes the table.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMITTED_LABEL, HOLD } from '../../constructs/api/labels';
import { fluxJobStatus } from '../../runtime/fluxjobs/status';
import { EMPTY } from '../../runtime/fluxsetups/queue-counts';
import { settingsOf } from '../../runtime/fluxsetups/queue-settings';
import { fluxSetupStatus } from '../../runtime/fluxsetups/status';
import { type Facts, statusOf } from '../../runtime/miniclusters/status';
import type { Progress } from '../../runtime/miniclusters/workload-status';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { KubeObject } from '../cluster/api';
import { fluxSetup } from '../fluxsetups/fluxsetup-objects';
import { cluster } from '../miniclusters/objects';
import { rowIn } from '../queue/rows';

export interface HealthRow {
  readonly kind: 'Job' | 'MiniCluster' | 'FluxSetup' | 'FluxJob';
  readonly state: string;
  readonly object: KubeObject;
  /** Flux CD as it is, and with the project's healthCheckExprs. */
  readonly flux: readonly [string, string];
  /** Argo CD as it is, and with the project's Lua. */
  readonly argo: readonly [string, string];
}

const NOW = 1_700_000_000;
const GENERATION = 3;
const UNOBSERVED = { observedGeneration: -1 };
const metadata = (more: object = {}) => ({
  name: 'hello',
  namespace: 'science',
  generation: GENERATION,
  ...more,
});

type Expected = Pick<HealthRow, 'flux' | 'argo'>;
const says = (...[flux, fluxOurs, argo, argoOurs]: readonly [string, string, string, string]): Expected => ({
  flux: [flux, fluxOurs],
  argo: [argo, argoOurs],
});
const NONE = 'none';
/** A kind of ours: kstatus reads its conditions, and Argo CD has no opinion. */
const ours = (flux: string, argo: string, fluxOurs = flux) => says(flux, fluxOurs, NONE, argo);

function job(
  state: string,
  spec: object,
  status: object,
  expected: Expected,
  labels: object = {},
): HealthRow {
  const object = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadata({ labels: { [ADMITTED_LABEL]: 'true', ...labels } }),
    spec: { parallelism: 1, completions: 1, ...spec },
    status,
  };
  return { kind: 'Job', state, object: object as unknown as KubeObject, ...expected };
}

const condition = (type: string, status = 'True') => ({ type, status, message: type });
const STARTED = { startTime: '2026-01-01T00:00:00Z', conditions: [condition('Suspended', 'False')] };

const JOBS: readonly HealthRow[] = [
  job('just created', { suspend: true }, {}, says('Current', 'InProgress', 'Progressing', 'Progressing')),
  job(
    'waits in its queue',
    { suspend: true },
    { conditions: [condition('Suspended')] },
    says('Current', 'InProgress', 'Suspended', 'Progressing'),
  ),
  job(
    'is held',
    { suspend: true },
    { conditions: [condition('Suspended')] },
    says('Current', 'Current', 'Suspended', 'Suspended'),
    { [HOLD]: 'true' },
  ),
  job(
    'is granted, its pods start',
    { suspend: false },
    { ...STARTED, active: 1, ready: 0 },
    says('InProgress', 'InProgress', 'Healthy', 'Progressing'),
  ),
  job(
    'runs',
    { suspend: false },
    { ...STARTED, active: 1, ready: 1 },
    says('InProgress', 'InProgress', 'Healthy', 'Progressing'),
  ),
  job(
    'is complete',
    { suspend: false },
    { ...STARTED, conditions: [...STARTED.conditions, condition('Complete')], succeeded: 1 },
    says('Current', 'Current', 'Healthy', 'Healthy'),
  ),
  job(
    'failed',
    { suspend: false },
    { ...STARTED, conditions: [...STARTED.conditions, condition('Failed')], failed: 1 },
    says('Failed', 'Failed', 'Degraded', 'Degraded'),
  ),
];

function miniCluster(state: string, facts: Partial<Facts> | 'new', expected: Expected): HealthRow {
  const { spec } = cluster();
  const whole = {
    cluster: cluster(),
    progress: progress(),
    row: undefined,
    wait: undefined,
    fluxJob: undefined,
  };
  const status =
    facts === 'new'
      ? UNOBSERVED
      : statusOf({ ...whole, selector: 'x', rejection: undefined, now: NOW, ...facts });
  const object = {
    apiVersion: 'flux-framework.org/v1alpha2',
    kind: 'MiniCluster',
    metadata: metadata(),
    spec,
    status,
  };
  return { kind: 'MiniCluster', state, object: object as unknown as KubeObject, ...expected };
}

function progress(over: Partial<Progress> = {}): Progress {
  return { desired: 4, pods: 4, scheduled: 4, ready: 0, suspended: false, ...over };
}
const SUSPENDED = progress({ suspended: true, pods: 0, scheduled: 0 });
const waits = (reason: string) =>
  ({ progress: SUSPENDED, row: { phase: 'Waiting', reason, message: 'why' } }) as Partial<Facts>;
const ended = (result: 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut'): Partial<Facts> => ({
  progress: progress({ end: { result, message: 'why', finishedAt: NOW } }),
});
const RUNS = { phase: 'Running', reason: null, message: null } as const;

const MINICLUSTERS: readonly HealthRow[] = [
  miniCluster('just created', 'new', ours('InProgress', 'Progressing')),
  miniCluster('Requested', { progress: undefined }, ours('InProgress', 'Progressing')),
  miniCluster('Waiting (Busy)', waits('Busy'), ours('InProgress', 'Progressing')),
  miniCluster('Waiting (Held)', waits('Held'), ours('InProgress', 'Suspended')),
  miniCluster('Waiting (Unsatisfiable)', waits('Unsatisfiable'), ours('Failed', 'Degraded')),
  miniCluster('Ready', { row: { ...RUNS, phase: 'Ready' } }, ours('InProgress', 'Progressing')),
  miniCluster('Running', { row: RUNS, progress: progress({ ready: 4 }) }, ours('Current', 'Healthy')),
  miniCluster('Finished (Succeeded)', ended('Succeeded'), ours('Current', 'Healthy')),
  miniCluster('Finished (Failed)', ended('Failed'), ours('Failed', 'Degraded')),
  miniCluster('Finished (Cancelled)', ended('Cancelled'), ours('Failed', 'Degraded')),
  miniCluster('Finished (TimedOut)', ended('TimedOut'), ours('Failed', 'Degraded')),
  miniCluster(
    'a change of it is refused',
    { row: RUNS, progress: progress({ ready: 4 }), rejection: { reason: 'Immutable', message: 'why' } },
    ours('Failed', 'Degraded'),
  ),
];

function setup(state: string, problem: string | undefined | 'new', expected: Expected): HealthRow {
  const spec = { policy: 'easy' };
  const made = {
    queue: 'science/hello',
    counts: EMPTY,
    finished: 0,
    previous: {},
    generation: GENERATION,
    now: NOW,
  };
  const settings = problem === undefined ? settingsOf(fluxSetup('hello', {})) : undefined;
  const status = problem === 'new' ? UNOBSERVED : fluxSetupStatus({ ...made, settings, problem });
  const object = {
    apiVersion: 'flux-framework.org/v1alpha1',
    kind: 'FluxSetup',
    metadata: metadata(),
    spec,
    status,
  };
  return { kind: 'FluxSetup', state, object: object as unknown as KubeObject, ...expected };
}

const FLUXSETUPS: readonly HealthRow[] = [
  setup('just created', 'new', ours('InProgress', 'Progressing')),
  setup('serves', undefined, ours('Current', 'Healthy')),
  setup('is invalid', 'why', ours('Failed', 'Degraded')),
];

function fluxJob(
  state: string,
  phase: WorkloadRow['phase'],
  over: Partial<WorkloadRow>,
  expected: Expected,
): HealthRow {
  const row = rowIn(phase, over);
  const context = { position: undefined, wait: undefined, previous: {}, generation: GENERATION, now: NOW };
  const status = fluxJobStatus(row, context);
  const apiVersion = 'jobs.converged-computing.org/v1alpha1';
  const object = { apiVersion, kind: 'FluxJob', metadata: metadata(), spec: {}, status };
  return { kind: 'FluxJob', state, object: object as unknown as KubeObject, ...expected };
}

const FLUXJOBS: readonly HealthRow[] = [
  fluxJob('Waiting (Busy)', 'Waiting', {}, ours('InProgress', 'Progressing')),
  fluxJob('Waiting (Held)', 'Waiting', { reason: 'Held' }, ours('InProgress', 'Suspended')),
  fluxJob('Waiting (Unsatisfiable)', 'Waiting', { reason: 'Unsatisfiable' }, ours('Failed', 'Degraded')),
  fluxJob('Ready', 'Ready', {}, ours('InProgress', 'Progressing')),
  fluxJob('Running', 'Running', {}, ours('Current', 'Healthy')),
  fluxJob('Finished (Succeeded)', 'Finished', {}, ours('Current', 'Healthy')),
  fluxJob('Finished (Failed)', 'Finished', { result: 'Failed' }, ours('Failed', 'Degraded')),
  // Not Ready, and nothing changes it any more: a FluxJob is not in Git, and goes with its workload.
  fluxJob(
    'Finished (Cancelled)',
    'Finished',
    { result: 'Cancelled' },
    ours('InProgress', 'Degraded', 'Failed'),
  ),
];

export const HEALTH_ROWS: readonly HealthRow[] = [...JOBS, ...MINICLUSTERS, ...FLUXSETUPS, ...FLUXJOBS];

const FILE = join(__dirname, '../../docs/gitops.md');
const [START, END] = ['<!-- health:start -->\n', '<!-- health:end -->\n'];

/** The part of docs/gitops.md between its marks. */
export function healthTable(): string {
  const rows = HEALTH_ROWS.map(
    ({ kind, state, flux, argo }) => `| ${[kind, state, ...flux, ...argo].join(' | ')} |\n`,
  );
  return `
| kind | state | Flux CD | Flux CD with the checks | Argo CD | Argo CD with the checks |
| --- | --- | --- | --- | --- | --- |
${rows.join('')}
`;
}

export function writtenHealthTable(): string {
  return readFileSync(FILE, 'utf8').split(START)[1]?.split(END)[0] ?? '';
}

if (require.main === module) {
  const text = readFileSync(FILE, 'utf8');
  const [before, rest = ''] = text.split(START);
  writeFileSync(FILE, `${before}${START}${healthTable()}${END}${rest.split(END)[1] ?? ''}`);
}
