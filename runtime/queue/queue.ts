/** The queue's tables in Postgres. The words are in types.ts, the SQL in statements.ts. */
import { FluxqError } from '../errors';
import { type DatabaseOptions, openDatabase } from './database';
import { migrate } from './migrate';
import { ACTIVE, BY_UID, HISTORY } from './rows';
import * as sql from './statements';
import type { Queue, WorkloadRow } from './types';
import { type Keyed, serialWriter } from './writer';

export interface QueueOptions extends DatabaseOptions {
  /** Milliseconds from one statement to the next at least: under load, writes share statements and commits. @default 0 */
  readonly gatherMs?: number;
}

/**
 * Opens the queue; nothing is connected until the first call. Errors:
 * `FLUXQ_DATABASE_DOWN` (retryable), `FLUXQ_DATABASE_REFUSED`,
 * `FLUXQ_DATABASE_VERSION` (migrate), `FLUXQ_FENCED` (writes).
 */
export function openQueue(options: QueueOptions): Queue {
  const database = openDatabase(options);
  const write = serialWriter(async (statement, fence, records) => {
    const answer = await database.query<WorkloadRow | Nothing>(statement, [fence, JSON.stringify(records)]);
    if (answer.length === 0) {
      throw fenced(fence);
    }
    return answer.filter((row): row is WorkloadRow => row.uid !== null);
  }, options.gatherMs);

  return {
    migrate: () => migrate(database),
    async acquireFence(holder) {
      const [row] = await database.query<{ fence: number }>(sql.ACQUIRE, [holder]);
      return row!.fence;
    },
    submit: (fence, submissions) => write(sql.SUBMIT, fence, submissions),
    update: (fence, updates) => write(sql.UPDATE, fence, updates),
    active: () => database.query<WorkloadRow>(ACTIVE),
    byUid: (uids) => database.query<WorkloadRow>(BY_UID, [uids]),
    wait: (fence, updates) => write(sql.WAIT, fence, updates.map(storable)),
    allocate: (fence, grants) => write(sql.ALLOCATE, fence, grants),
    released: (fence, uids) => write(sql.RELEASED, fence, uids.map(keyed)),
    running: (fence, starts) => write(sql.RUNNING, fence, starts),
    shrink: (fence, changes) => write(sql.SHRINK, fence, changes),
    finish: (fence, ends) => write(sql.FINISH, fence, ends),
    requeue: (fence, uids, message) =>
      write(
        sql.REQUEUE,
        fence,
        uids.map((uid) => storable({ uid, message })),
      ),
    history: (uid) => database.query(HISTORY, [uid]),
    close: () => database.close(),
  };
}

/** The one row of NULLs that says: the fence is good, and nothing changed. */
interface Nothing {
  readonly uid: null;
}

const keyed = (uid: string): Keyed => ({ uid });

/** Messages carry other programs' texts; Postgres stores neither NUL nor half a surrogate pair. */
function storable<T extends { readonly message: string }>(record: T): T {
  return { ...record, message: record.message.replace(/\p{Surrogate}|\0/gu, '') };
}

function fenced(fence: number): FluxqError {
  return new FluxqError('FLUXQ_FENCED', 'another leader has taken over; nothing was written', {
    field: 'fence',
    value: fence,
    remedy: 'stop writing and stand for election again',
  });
}
