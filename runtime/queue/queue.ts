/** The queue's tables in Postgres. The words are in types.ts, the SQL in statements.ts. */
import { FluxqError } from '../errors';
import { type DatabaseOptions, openDatabase } from './database';
import * as leader from './leader';
import { migrate } from './migrate';
import { ACTIVE, BY_UID, FINISHED, HISTORY, OUTCOMES } from './rows';
import * as sql from './statements';
import { storable } from './storable';
import type { Outcome, Queue, QueueSettings, WorkloadRow } from './types';
import { type Keyed, serialWriter } from './writer';

export interface QueueOptions extends DatabaseOptions {
  /** Milliseconds a write waits for others to share its statement: fewer commits for a little delay. @default 0 */
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
    const answer = await database.query<WorkloadRow | Nothing>(statement, [fence, storable(records)]);
    if (answer.length === 0) {
      throw fenced(fence);
    }
    return answer.filter((row): row is WorkloadRow => row.uid !== null);
  }, options.gatherMs);
  // Of two settings the later call has to win, whichever connection is quicker.
  let settled: Promise<unknown> = Promise.resolve();

  return {
    migrate: () => migrate(database),
    async acquireFence(holder, atLeast = 0) {
      const [row] = await database.query<{ fence: number }>(leader.ACQUIRE, [holder, atLeast]);
      return row!.fence;
    },
    setQueues(fence, queues) {
      const set = settled.then(async () => {
        const answer = await database.query(leader.SET_QUEUES, [fence, storable(queues)]);
        if (answer.length === 0) throw fenced(fence);
      });
      settled = set.catch(() => undefined);
      return set;
    },
    async queues() {
      const rows = await database.query<{ settings: QueueSettings }>(leader.QUEUES);
      return rows.map(({ settings }) => settings);
    },
    submit: (fence, submissions) => write(sql.SUBMIT, fence, submissions),
    update: (fence, updates) => write(sql.UPDATE, fence, updates),
    active: () => database.query<WorkloadRow>(ACTIVE),
    byUid: (uids) => database.query<WorkloadRow>(BY_UID, [uids]),
    finished: () => database.query(FINISHED),
    outcomes: (names) => database.query<Outcome>(OUTCOMES, [storable(names)]),
    wait: (fence, updates) => write(sql.WAIT, fence, updates),
    allocate: (fence, grants) => write(sql.ALLOCATE, fence, grants),
    released: (fence, uids) => write(sql.RELEASED, fence, uids.map(keyed)),
    running: (fence, starts) => write(sql.RUNNING, fence, starts),
    shrink: (fence, changes) => write(sql.SHRINK, fence, changes),
    finish: (fence, ends) => write(sql.FINISH, fence, ends),
    recall: (fence, recalls) => write(sql.RECALL, fence, recalls),
    requeue: (fence, requeues) => write(sql.REQUEUE, fence, requeues),
    history: (uid) => database.query(HISTORY, [uid]),
    close: () => database.close(),
  };
}

/** The one row of NULLs that says: the fence is good, and nothing changed. */
interface Nothing {
  readonly uid: null;
}

const keyed = (uid: string): Keyed => ({ uid });

function fenced(fence: number): FluxqError {
  return new FluxqError('FLUXQ_FENCED', 'another leader has taken over; nothing was written', {
    field: 'fence',
    value: fence,
    remedy: 'stop writing and stand for election again',
  });
}
