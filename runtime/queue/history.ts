/** The history of a workload, from the event log and the archive. */
import type { Database } from './database';

export interface LogEntry {
  /** Unix seconds. */
  readonly at: number;
  /**
   * The leader at that time, or the user who submitted it; empty where it is not known: of a changed request, and in entries that are
   * older than migration 2.
   */
  readonly actor: string;
  readonly event: string;
  /** The reason, as a message. */
  readonly why: string;
  readonly detail: unknown;
}

/** An entry of one of the workloads of a name: there may be several, one after another or of different kinds. */
export interface NamedLogEntry extends LogEntry {
  readonly uid: string;
  readonly kind: string;
}

type Logged = Omit<LogEntry, 'why'>;

/** Whoever submits a workload of one name again and again makes any number of them: the newest ones are told. */
export const MOST_OF_NAME = 200;

/** SQL for the entries of some workloads. @param current condition on events @param archived condition on the archive */
const entries = (current: string, archived: string) => `
SELECT uid, kind, at, actor, event, detail FROM (
  SELECT e.uid, w.kind, e.id, extract(epoch FROM e.at)::float8 AS at, e.actor, e.event, e.detail
  FROM fluxqueue.events e LEFT JOIN fluxqueue.workloads w USING (uid) WHERE ${current}
  UNION ALL
  SELECT a.uid, a.workload->>'kind', e.id, e.at, e.actor, e.event, e.detail
  FROM (SELECT * FROM fluxqueue.archive a WHERE ${archived} ORDER BY seq DESC LIMIT ${MOST_OF_NAME}) a,
    jsonb_to_recordset(a.events) AS e(id bigint, at float8, actor text, event text, detail jsonb)
) entries ORDER BY id`;

const BY_UID = entries('e.uid = $1', 'a.uid = $1');
const BY_NAME = entries(
  `e.uid = ANY (ARRAY(
    SELECT uid FROM fluxqueue.workloads WHERE namespace = $1 AND name = $2 ORDER BY seq DESC LIMIT ${MOST_OF_NAME}))`,
  'a.namespace = $1 AND a.name = $2',
);

export async function historyByUid(database: Database, uid: string): Promise<LogEntry[]> {
  const found = await database.query<Logged & { uid: string; kind: string }>(BY_UID, [uid]);
  return found.map(({ uid: _, kind: __, ...entry }) => withReason(entry));
}

export async function historyByName(
  database: Database,
  namespace: string,
  name: string,
): Promise<NamedLogEntry[]> {
  const found = await database.query<Logged & { uid: string; kind: string }>(BY_NAME, [namespace, name]);
  return found.map(withReason);
}

const withReason = <T extends Logged>(entry: T): T & { why: string } => ({ ...entry, why: reasonOf(entry) });

/** Reasons of events that carry no message. */
const REASONS: Readonly<Record<string, string>> = {
  Submitted: 'was admitted and added to the queue',
  Allocated: 'enough units were free for it',
  Adopted: 'runs on an allocation that was missing in the database',
  Released: 'its allocation was committed',
  Running: 'its first pod runs',
  Reallocated: 'left some of its nodes, or its end changed',
};

/** Of a request that its user has not changed. */
const FOLLOWS =
  'asks for something else now: tasks of it are done, or its template, its pods or the nodes have changed';

/** What is read of the detail of an event. */
interface Detail {
  readonly message?: string | null;
  readonly reason?: string;
  readonly result?: string;
  /** @default - an earlier version wrote it, which did not say so */
  readonly byUser?: boolean;
  readonly held?: boolean;
  /** @default - an earlier version wrote it, which did not say so */
  readonly wasHeld?: boolean;
}

const RESULTS: Readonly<Record<string, string>> = {
  Succeeded: 'it succeeded',
  Failed: 'it failed',
  Cancelled: 'it was deleted',
  TimedOut: 'it exceeded its walltime',
};

/** Of an event that stands for several: how many, and the time of the last one. */
function repeated(detail: unknown): string {
  const { times, until } = detail as { times?: number; until?: number };
  if (times === undefined || until === undefined) return '';
  return ` (${times} times, last at ${new Date(until * 1000).toISOString().replace(/\.\d+Z$/, 'Z')})`;
}

function changeOf({ byUser, held, wasHeld = held }: Detail): string {
  if (byUser === false) return FOLLOWS;
  return held === wasHeld ? 'was changed while it waited' : `is held ${held ? 'by its user' : 'no more'}`;
}

function reasonOf({ event, detail }: Logged): string {
  const { message, reason, result } = detail as Detail;
  if (event === 'Updated') return changeOf(detail as Detail);
  if (event === 'Waiting') return `${reason}: ${message}${repeated(detail)}`;
  return message || REASONS[event] || RESULTS[result ?? ''] || '';
}
