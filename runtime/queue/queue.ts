/** The queue's tables in Postgres. The words are in types.ts, the SQL in statements.ts. */
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { FluxqError } from '../errors';
import { DEFAULT_UNITS, type UnitSettings } from '../jobspec/units';
import { accounting } from './accounting';
import { ADOPT } from './adopt';
import { ARCHIVE } from './archive';
import { type DatabaseOptions, openDatabase } from './database';
import { historyByName, historyByUid } from './history';
import * as leader from './leader';
import { migrate } from './migrate';
import { ACTIVE, BY_UID, FINISHED, OUTCOMES } from './rows';
import type { QueueSettings } from './settings';
import * as sql from './statements';
import { storable } from './storable';
import type { Queue } from './store';
import { SHARES } from './usage';
import type { Outcome, Share, WorkloadRow } from './workload';
import { type Keyed, serialWriter } from './writer';

export interface QueueOptions extends DatabaseOptions {
  /** Milliseconds from one statement to the next at least: under load, writes share statements and commits. @default 0 */
  readonly gatherMs?: number;
  /** What one unit of an allocation is, for accounting. @default DEFAULT_UNITS */
  readonly units?: UnitSettings;
  /** After this, usage counts half in fair share. @default - seven days */
  readonly halfLifeSeconds?: number;
}

/** What a pass decides is in bulk already, and units lie idle until it is written. */
const URGENT = true;

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
    get disconnects() {
      return database.disconnects;
    },
    migrate: () => migrate(database),
    async acquireFence(holder, atLeast = 0) {
      const { cpuMillis, memoryMiB } = options.units ?? DEFAULT_UNITS;
      const halfLife = options.halfLifeSeconds ?? STACK_DEFAULTS.halfLifeSeconds;
      const values = [holder, atLeast, cpuMillis, memoryMiB, halfLife];
      const [row] = await database.query<{ fence: number }>(leader.ACQUIRE, values);
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
    shares: () => database.query<Share>(SHARES),
    wait: (fence, updates) => write(sql.WAIT, fence, updates, URGENT),
    allocate: (fence, grants) => write(sql.ALLOCATE, fence, grants, URGENT),
    adopt: (fence, adoptions) => write(ADOPT, fence, adoptions),
    released: (fence, uids) => write(sql.RELEASED, fence, uids.map(keyed)),
    running: (fence, starts) => write(sql.RUNNING, fence, starts),
    shrink: (fence, changes) => write(sql.SHRINK, fence, changes),
    finish: (fence, ends) => write(sql.FINISH, fence, ends),
    recall: (fence, recalls) => write(sql.RECALL, fence, recalls, URGENT),
    requeue: (fence, requeues) => write(sql.REQUEUE, fence, requeues),
    async archive(fence, before, most = ARCHIVE_BATCH) {
      const [answer] = await database.query<{ count: number }>(ARCHIVE, [fence, before, most]);
      if (answer === undefined) throw fenced(fence);
      return answer.count;
    },
    accounting: (query) => accounting(database, query),
    history: (uid) => historyByUid(database, uid),
    historyOf: (namespace, name) => historyByName(database, namespace, name),
    close: () => database.close(),
  };
}

/** A statement of so many rows takes well under a second. */
const ARCHIVE_BATCH = 1_000;

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
