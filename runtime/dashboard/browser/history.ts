/** What the page makes of the history of a name. Pure functions. */
import type { HistoryEntryView, JobView } from '../messages';

/** The workload of a FluxJob. */
export interface Workload {
  readonly namespace: string;
  /** As events have it, in lower case: job, pod, jobset. */
  readonly kind: string;
  readonly name: string;
}

/** @param key also if there is no such job any more: the FluxJob of a workload has its name and kind */
export function workloadOf(key: string, job: JobView | undefined): Workload | undefined {
  if (job !== undefined) {
    const [kind = '', name = ''] = job.name.split('/');
    return { namespace: job.namespace, kind, name };
  }
  const [, namespace, name, kind] = /^([^/]+)\/(.+)-([a-z]+)$/.exec(key) ?? [];
  return namespace === undefined ? undefined : { namespace, kind: kind!, name: name! };
}

const KEY = '#job=';

export function addressOf(key: string | undefined): string {
  return key === undefined ? '' : `${KEY}${encodeURIComponent(key)}`;
}

/** The key of a job in the address; undefined if there is none, or somebody has cut it so that it cannot be read. */
export function keyIn(hash: string): string | undefined {
  if (!hash.startsWith(KEY)) return undefined;
  try {
    return decodeURIComponent(hash.slice(KEY.length));
  } catch {
    return undefined;
  }
}

/** Changes of these are worth another look at the history. */
export function versionOf(job: JobView | undefined): string {
  if (job === undefined) return '';
  const { phase, reason, result, requeues, priority, walltimeSeconds, queue, started, reserved } = job;
  return JSON.stringify([
    phase,
    reason,
    result,
    requeues,
    priority,
    walltimeSeconds,
    queue,
    started,
    reserved,
  ]);
}

export interface Events {
  /** Of the workload that has the name now, or had it last; oldest first. */
  readonly own: readonly HistoryEntryView[];
  /** Of workloads that had the name before. */
  readonly earlier: readonly HistoryEntryView[];
  /** Events that are left out, because they are too many. */
  readonly omitted: number;
}

/** Events that are drawn. */
const MOST = 200;

export function eventsOf(entries: readonly HistoryEntryView[], kind: string): Events {
  const all = entries.filter((entry) => entry.kind.toLowerCase() === kind);
  const last = all.at(-1)?.uid;
  const own = all.filter(({ uid }) => uid === last);
  const earlier = all.filter(({ uid }) => uid !== last);
  return {
    own: own.slice(-MOST),
    earlier: earlier.slice(-MOST),
    omitted: Math.max(0, own.length - MOST) + Math.max(0, earlier.length - MOST),
  };
}
