/** What `queue` says of workloads, from their FluxJobs alone. Pure functions. */

import { columns } from '../columns';
import type { Reason } from '../fluxjobs/status';
import type { FluxJobObject } from '../kubernetes/custom-resources';

export interface QueueTableOptions {
  /** Whether a column has the namespace. */
  readonly namespaces: boolean;
  /** Milliseconds. */
  readonly now: number;
}

/** In the order in which kubectl users ask: what runs, then what waits in its line, then what has ended, newest first. */
export function inLine(fluxJobs: readonly FluxJobObject[]): FluxJobObject[] {
  const rank = ({ status = {} }: FluxJobObject) => RANKS[status.phase ?? 'Waiting'] ?? 1;
  const position = ({ status = {} }: FluxJobObject) => status.position ?? Number.MAX_SAFE_INTEGER;
  const created = ({ metadata }: FluxJobObject) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return fluxJobs.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      a.spec.queue.localeCompare(b.spec.queue, 'en') ||
      position(a) - position(b) ||
      (rank(a) === LAST ? created(b) - created(a) : created(a) - created(b)),
  );
}

const LAST = 2;
const RANKS: Readonly<Record<string, number>> = { Running: 0, Ready: 0, Waiting: 1, Finished: LAST };

export function queueLines(fluxJobs: readonly FluxJobObject[], options: QueueTableOptions): string[] {
  const head = ['QUEUE', 'POSITION', 'WORKLOAD', 'PHASE', 'NODES', 'START', 'AGE', 'REASON'];
  const rows = inLine(fluxJobs).map((fluxJob) => {
    const { spec, status = {}, metadata } = fluxJob;
    const { reason } = scheduled(fluxJob);
    const cells = [
      spec.queue,
      status.position === undefined ? '' : `${status.position}`,
      nameOf(fluxJob),
      status.phase ?? '',
      status.nodes ?? '',
      status.start ?? '',
      ageOf(metadata.creationTimestamp, options.now),
      status.phase === 'Finished' ? (status.result ?? '') : status.phase === 'Waiting' ? reason : '',
    ];
    return options.namespaces ? [metadata.namespace ?? '', ...cells] : cells;
  });
  return columns([options.namespaces ? ['NAMESPACE', ...head] : head, ...rows]);
}

/** As users name it: `job/train`. */
export function nameOf({ spec: { workload } }: FluxJobObject): string {
  return `${workload.kind.toLowerCase()}/${workload.name}`;
}

const AGES = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
] as const;

/** The reason of a workload that no pass has judged. */
export const NOT_JUDGED: Reason = 'Submitted';

export function scheduled({ status = {} }: FluxJobObject): {
  readonly reason: string;
  readonly message: string;
} {
  const condition = status.conditions?.find(({ type }) => type === 'Scheduled');
  return {
    reason: condition?.reason ?? NOT_JUDGED,
    message: condition?.message ?? 'no pass has judged it yet',
  };
}

/** As kubectl writes ages. */
export function ageOf(time: string | undefined, now: number): string {
  if (time === undefined) return '';
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
  for (const [size, unit] of AGES) if (seconds >= 2 * size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}
