/** What `queue` shows: FluxJobs in the order of their lines. Pure functions. */
import { FluxqError } from '../errors';
import { inLine, nameOf, scheduled, submittedAt } from '../fluxjobs/reading';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import { toldEnd } from '../resources/told-end';
import { ageOf, durationText } from './durations';
import type { Picture, PictureRow } from './picture';
import { isMeant, type MeantWorkload } from './workload-names';

export interface Filter {
  /** Whether what has ended is shown too. */
  readonly all: boolean;
  /** @default - all queues */
  readonly queue?: string;
  /** @default - all workloads */
  readonly names?: readonly MeantWorkload[];
  /** uids of the workloads that a selector chose. @default - all workloads */
  readonly uids?: ReadonlySet<string>;
}

export interface QueueTableOptions extends Filter {
  /** Whether a column has the namespace. */
  readonly namespaces: boolean;
  /** Milliseconds. */
  readonly now: number;
  /** Instead of a table without rows. */
  readonly empty: string;
  /** The users of workloads by uid, for the columns of `-o wide`. @default - without these columns */
  readonly users?: ReadonlyMap<string, string>;
}

const HEAD = ['QUEUE', 'POS', 'WORKLOAD', 'PHASE', 'NODES', 'START', 'AGE', 'REASON'];
const AGE = HEAD.indexOf('AGE');
const WIDE = ['USER', 'PRIORITY', 'PODS', 'WALLTIME', 'LEFT'];

/** The FluxJobs that are asked for, in the order of their lines; those that have ended, too. */
export function chosen(fluxJobs: readonly FluxJobObject[], { queue, names, uids }: Filter): FluxJobObject[] {
  return inLine(
    fluxJobs.filter(
      (fluxJob) =>
        (queue === undefined || fluxJob.spec.queue === queue) &&
        (names === undefined || names.some((name) => isMeant(name, fluxJob))) &&
        (uids === undefined || uids.has(fluxJob.spec.workload.uid)),
    ),
  );
}

/**
 * @param namespace undefined: all namespaces
 * @throws FluxqError FLUXQ_WORKLOAD_UNKNOWN for a name that nothing has
 */
export function requireNames(
  fluxJobs: readonly FluxJobObject[],
  names: readonly MeantWorkload[],
  namespace?: string,
): void {
  const missing = names.find((name) => !fluxJobs.some((fluxJob) => isMeant(name, fluxJob)));
  if (missing === undefined) return;
  throw new FluxqError('FLUXQ_WORKLOAD_UNKNOWN', 'no FluxJob is about it', {
    field: 'workload',
    value: missing.text,
    remedy: `kubectl fluxqueue queue --all ${namespace === undefined ? '-A' : `-n ${namespace}`} lists what there is`,
  });
}

export function isShown({ status }: FluxJobObject, { all, names }: Filter): boolean {
  return all || names !== undefined || status?.phase !== 'Finished';
}

export function queuePicture(fluxJobs: readonly FluxJobObject[], options: QueueTableOptions): Picture {
  const head = options.users === undefined ? HEAD : [...HEAD, ...WIDE];
  return {
    head: options.namespaces ? ['NAMESPACE', ...head] : head,
    rows: chosen(fluxJobs, options).map((fluxJob) => rowOf(fluxJob, options)),
    empty: options.empty,
  };
}

function rowOf(fluxJob: FluxJobObject, options: QueueTableOptions): PictureRow {
  const { metadata } = fluxJob;
  const cells = [...cellsOf(fluxJob, options), ...wideCells(fluxJob, options)];
  const inNamespace = (row: readonly string[]) =>
    options.namespaces ? [metadata.namespace ?? '', ...row] : row;
  return {
    key: metadata.uid,
    cells: inNamespace(cells),
    // Ages go on without a change.
    state: cellsOf(fluxJob, options).toSpliced(AGE, 1).join('\n'),
    gone: inNamespace(cells.map((cell, i) => (HEAD[i] === 'PHASE' ? 'Deleted' : cell))),
    hidden: !isShown(fluxJob, options),
  };
}

function cellsOf(fluxJob: FluxJobObject, { now, users }: QueueTableOptions): string[] {
  const { metadata, spec, status = {} } = fluxJob;
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const { phase = isDeleted ? 'Deleting' : '' } = status;
  const reason = phase === 'Waiting' ? scheduled(fluxJob).reason : phase === 'Deleting' ? 'PodsEnding' : '';
  return [
    spec.queue,
    status.position === undefined ? '' : `${status.position}`,
    nameOf(fluxJob),
    phase,
    status.nodes ?? '',
    users === undefined ? startText(status.start, now) : (status.start ?? ''),
    ageOf(submittedAt(fluxJob), now),
    phase === 'Finished' ? (status.result ?? '') : reason,
  ];
}

/** A clock time is clear for so many milliseconds before and after it. */
const CLEAR_MS = 12 * 3_600_000;

/** Without its date while that is clear, so that a line is no longer than a terminal of 80 columns. */
function startText(start: string | undefined, now: number): string {
  const [, sign = '', time = ''] = /^([~?]?)(.*)$/.exec(start ?? '') ?? [];
  return Math.abs(Date.parse(time) - now) < CLEAR_MS ? `${sign}${time.split('T')[1]}` : (start ?? '');
}

function wideCells({ spec, status = {} }: FluxJobObject, { users, now }: QueueTableOptions): string[] {
  if (users === undefined) return [];
  const { walltimeSeconds, priority = 0, pods, workload } = spec;
  const end = status.phase === 'Finished' ? undefined : toldEnd({ spec, status });
  return [
    users.get(workload.uid) ?? '',
    `${priority}`,
    pods === undefined ? '' : `${pods}`,
    walltimeSeconds === undefined ? '' : durationText(walltimeSeconds),
    end === undefined ? '' : durationText((end - now) / 1000),
  ];
}
