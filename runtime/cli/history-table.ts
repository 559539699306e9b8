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
  const withUid = wide || isSeveral;
  const head = ['TIME', ...(withUid ? ['KIND', 'UID'] : []), 'EVENT', 'BY', 'REASON'];
  const rows = entries.map(({ at, kind, uid, event, actor, message }) => [
    rfc3339(at),
    ...(withUid ? [kind, uid] : []),
    event,
    actor === '' ? 'unknown' : actor,
    message,
  ]);
  return tableLines([head, ...rows]);
}
