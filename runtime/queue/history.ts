/** What happened to a workload, from the event log and the archive: who did what, when, and why. */
import type { Database } from './database';

export interface LogEntry {
  /** Unix seconds. */
  readonly at: number;
  /** Who did it: the leader at that time, or the user. Empty: it was not noted then. */
  readonly actor: string;
  readonly event: string;
  /** In words. */
  readonly why: string;
  readonly detail: unknown;
}

/** An entry of one of the workloads that had a name, one after the other or as different kinds. */
export interface NamedLogEntry extends LogEntry {
  readonly uid: string;
  readonly kind: string;
}

type Logged = Omit<LogEntry, 'why'>;

/** `events` of some uids, and what the archive has of them; `archived` and `current` are SQL conditions. */
const entries = (current: string, archived: string) => `
SELECT uid, kind, at, actor, event, detail FROM (
  SELECT e.uid, w.kind, e.id, extract(epoch FROM e.at)::float8 AS at, e.actor, e.event, e.detail
  FROM fluxqueue.events e LEFT JOIN fluxqueue.workloads w USING (uid) WHERE ${current}
  UNION ALL
  SELECT a.uid, a.workload->>'kind', e.id, e.at, e.actor, e.event, e.detail
  FROM fluxqueue.archive a, jsonb_to_recordset(a.events) AS e(id bigint, at float8, actor text, event text, detail jsonb)
  WHERE ${archived}
) entries ORDER BY id`;

const BY_UID = entries('e.uid = $1', 'a.uid = $1');
const BY_NAME = entries(
  'e.uid = ANY (ARRAY(SELECT uid FROM fluxqueue.workloads WHERE namespace = $1 AND name = $2))',
  'a.namespace = $1 AND a.name = $2',
);

export async function historyByUid(database: Database, uid: string): Promise<LogEntry[]> {
  const found = await database.query<Logged & { uid: string; kind: string }>(BY_UID, [uid]);
  return found.map(({ uid: _, kind: __, ...entry }) => told(entry));
}

export async function historyByName(
  database: Database,
  namespace: string,
  name: string,
): Promise<NamedLogEntry[]> {
  const found = await database.query<Logged & { uid: string; kind: string }>(BY_NAME, [namespace, name]);
  return found.map(told);
}

const told = <T extends Logged>(entry: T): T & { why: string } => ({ ...entry, why: whyOf(entry) });

/** Of events that carry no message of their own. */
const REASONS: Readonly<Record<string, string>> = {
  Submitted: 'was admitted and found by the queue',
  Updated: 'was changed while it waited',
  Allocated: 'its turn came and it fits',
  Adopted: 'it runs on a grant that the tables had forgotten',
  Released: 'its allocation was committed',
  Running: 'its first pod runs',
  Reallocated: 'nothing of it runs on the other nodes any more, or its end is another',
};

const RESULTS: Readonly<Record<string, string>> = {
  Succeeded: 'all of it succeeded',
  Failed: 'it failed',
  Cancelled: 'it was deleted',
  TimedOut: 'its time was up',
};

function whyOf({ event, detail }: Logged): string {
  const { message, reason, result } = detail as { message?: string | null; reason?: string; result?: string };
  if (event === 'Waiting') return `${reason}: ${message}`;
  return message || REASONS[event] || RESULTS[result ?? ''] || '';
}
