/** What `history` shows: the events of the workloads of a name. Pure functions. */
import type { HistoryEntry } from '../reader/kinds';
import { rfc3339 } from './durations';
import { tableLines } from './output';

export interface HistoryTableOptions {
  /** With kind and uid, which are shown anyway if several workloads had the name. */
  readonly wide: boolean;
}

/** @param entries oldest first */
export function historyLines(entries: readonly HistoryEntry[], { wide }: HistoryTableOptions): string[] {
  const isSeveral = new Set(entries.map(({ uid }) => uid)).size > 1;
  const told = runsOf(entries);
  const withUid = wide || isSeveral;
  const head = ['TIME', ...(withUid ? ['KIND', 'UID'] : []), 'EVENT', 'BY', 'REASON'];
  const rows = told.map(({ first: { at, kind, uid, event, actor, message }, times, last }) => [
    rfc3339(at),
    ...(withUid ? [kind, uid] : []),
    event,
    actor === '' ? 'unknown' : actor,
    times === 1 ? message : `${message} (${times} times, last at ${rfc3339(last)})`,
  ]);
  return tableLines([head, ...rows]);
}

interface Run {
  readonly first: HistoryEntry;
  times: number;
  /** Time of the last one. */
  last: string;
}

/** Events that differ in nothing but their times, one after the other, are one line. */
function runsOf(entries: readonly HistoryEntry[]): readonly Run[] {
  const runs: Run[] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run !== undefined && SAME.every((part) => run.first[part] === entry[part])) {
      run.times += 1;
      run.last = entry.at;
    } else runs.push({ first: entry, times: 1, last: entry.at });
  }
  return runs;
}

const SAME = ['uid', 'kind', 'event', 'actor', 'message'] as const;
