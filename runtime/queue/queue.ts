/** The queue's tables in Postgres: store.ts has the contract, statements.ts the SQL. */
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { FluxqError } from '../errors';
import type { UnitSettings } from '../jobspec/units';
import { accounting } from './accounting';
import { ADOPT } from './adopt';
import { ARCHIVE, BEYOND_BUDGET, type BeyondBudget, type BudgetQuery, CONDENSE } from './archive';
import { convertUnits } from './convert-units';
import { type Database, type DatabaseOptions, openDatabase } from './database';
import { estimateError } from './estimate-error';
import { historyByName, historyByUid } from './history';
import * as leader from './leader';
import * as leaderView from './leader-view';
import { checkMigrated, migrate } from './migrate';
import { PURGE, SIZES, type TableSize } from './purge';
import type { RowVersion, VersionedRows } from './row-mirror';
import { ACTIVE, BY_UID, FINISHED, NOTABLE, OUTCOMES, UNRECORDED, VERSIONED, VERSIONS } from './rows';
import type { QueueSettings } from './settings';
import * as sql from './statements';
import { storable } from './storable';
import type { Queue } from './store';
import { REMEMBER_SUCCESSION, SUCCESSIONS, type Succession } from './successions';
import { tracedWorkloads } from './trace';
import { SHARES } from './usage';
import { USUAL_PARTS, type UsualPart } from './usual-runtimes';
import type { Outcome, Share, WorkloadRow } from './workload';
import { type Keyed, serialWriter } from './writer';

export interface QueueOptions extends DatabaseOptions {
  /** Shortest time between two writes in milliseconds: under load, writes share statements and commits. @default 0 */
  readonly gatherMs?: number;
  /** Sizes of the units of jobspecs and allocations. A leader with other units converts the rows. */
  readonly units: UnitSettings;
  /** Whether migrate() changes the tables; if not, it checks that their owner has migrated them. @default true */
  readonly migrates?: boolean;
  /** Half-life of usage in fair share, in seconds. @default - seven days */
  readonly halfLifeSeconds?: number;
}

/** Decisions of a pass come in bulk already, and units are idle until they are written. */
const URGENT = { pace: 'urgent' } as const;
const MARK = { pace: 'mark' } as const;

/**
 * Opens the queue. It connects with the first call. Methods throw `FLUXQ_DATABASE_DOWN` (retryable) and
 * `FLUXQ_DATABASE_REFUSED`, migrate `FLUXQ_DATABASE_VERSION`, writes `FLUXQ_FENCED`.
 */
export function openQueue(options: QueueOptions): Queue {
  const database = openDatabase(options);
  return {
    get disconnects() {
      return database.disconnects;
    },
    ...leadership(database, options),
    ...reads(database),
    ...versionedReads(database),
    ...leaderViews(database),
    ...rowWrites(database, options.gatherMs),
    archive: (fence, before, limit) => removal(database, ARCHIVE, fence, [before, limit ?? ARCHIVE_BATCH]),
    condense: (fence, uids) => removal(database, CONDENSE, fence, [uids]),
    beyondBudget: (query) => database.query<BeyondBudget>(BEYOND_BUDGET, budgetParameters(query)),
    successions: () => database.query<Succession>(SUCCESSIONS),
    async rememberSuccession(fence, succession) {
      const answer = await database.query(REMEMBER_SUCCESSION, [fence, storable(succession)]);
      if (answer.length === 0) throw fenced(fence);
    },
    purge: (fence, before, limit) => removal(database, PURGE, fence, [before, limit ?? ARCHIVE_BATCH]),
    sizes: () => database.query<TableSize>(SIZES),
    close: () => database.close(),
  };
}

type Leadership = Pick<Queue, 'migrate' | 'acquireFence' | 'setQueues'>;

function leadership(database: Database, options: QueueOptions): Leadership {
  // Of two calls of setQueues the later has to win, whichever connection is faster.
  let lastSet: Promise<unknown> = Promise.resolve();
  return {
    migrate: () => (options.migrates === false ? checkMigrated(database) : migrate(database)),
    async acquireFence(holder, atLeast = 0) {
      const { cpuMillis, memoryMiB } = options.units;
      const halfLife = options.halfLifeSeconds ?? STACK_DEFAULTS.halfLifeSeconds;
      const values = [holder, atLeast, cpuMillis, memoryMiB, halfLife];
      return database.transaction(async (client) => {
        await convertUnits(client, options.units);
        const { rows } = await client.query<{ fence: number }>(leader.ACQUIRE, values);
        return rows[0]!.fence;
      });
    },
    setQueues(fence, queues) {
      const set = lastSet.then(async () => {
        const answer = await database.query(leader.SET_QUEUES, [fence, storable(queues)]);
        if (answer.length === 0) throw fenced(fence);
      });
      lastSet = set.catch(() => undefined);
      return set;
    },
  };
}

function leaderViews(database: Database): leaderView.LeaderViews {
  return {
    onViewAsked: (listener) => database.listen(leaderView.ASKED, listener),
    onViewStored: (listener) => database.listen(leaderView.STORED, listener),
    async askView() {
      await database.query(leaderView.ASK_VIEW);
    },
    async setView(fence, view) {
      const answer = await database.query(leaderView.SET_VIEW, [fence, storable(view)]);
      if (answer.length === 0) throw fenced(fence);
    },
    view: async () => (await database.query<leaderView.StoredView>(leaderView.VIEW))[0],
  };
}

type Reads = Pick<
  Queue,
  | 'queues'
  | 'active'
  | 'byUid'
  | 'unrecorded'
  | 'notable'
  | 'finished'
  | 'outcomes'
  | 'shares'
  | 'usualParts'
  | 'estimateError'
  | 'accounting'
  | 'traced'
  | 'history'
  | 'historyOf'
>;

function reads(database: Database): Reads {
  return {
    async queues() {
      const rows = await database.query<{ settings: QueueSettings }>(leader.QUEUES);
      return rows.map(({ settings }) => settings);
    },
    active: () => database.query<WorkloadRow>(ACTIVE),
    byUid: (uids) => database.query<WorkloadRow>(BY_UID, [uids]),
    async unrecorded(uids) {
      const rows = await database.query<{ uid: string }>(UNRECORDED, [uids]);
      return rows.map(({ uid }) => uid);
    },
    notable: (uids, withinSeconds) => database.query<WorkloadRow>(NOTABLE, [uids, withinSeconds]),
    finished: () => database.query(FINISHED),
    outcomes: (names) => database.query<Outcome>(OUTCOMES, [storable(names)]),
    shares: () => database.query<Share>(SHARES),
    usualParts: () => database.query<UsualPart>(USUAL_PARTS),
    estimateError: (since) => estimateError(database, since),
    accounting: (query) => accounting(database, query),
    traced: (period) => tracedWorkloads(database, period),
    history: (uid) => historyByUid(database, uid),
    historyOf: (namespace, name) => historyByName(database, namespace, name),
  };
}

function versionedReads(database: Database): VersionedRows {
  return {
    versions: () => database.query<RowVersion>(VERSIONS),
    async versioned(uids) {
      const rows = await database.query<WorkloadRow & Pick<RowVersion, 'version'>>(VERSIONED, [uids]);
      return rows.map(({ version, ...row }) => ({ version, row }));
    },
  };
}

async function removal(
  database: Database,
  statement: string,
  fence: number,
  parameters: readonly unknown[],
): Promise<number> {
  const [answer] = await database.query<{ count: number }>(statement, [fence, ...parameters]);
  if (answer === undefined) throw fenced(fence);
  return answer.count;
}

function budgetParameters({ budget, hour, before, after, limit }: BudgetQuery): readonly unknown[] {
  return [budget, hour, before, after?.finishedAt ?? 0, after?.uid ?? '', limit];
}

type RowWrites = Omit<
  Queue,
  | keyof Leadership
  | keyof Reads
  | keyof leaderView.LeaderViews
  | keyof VersionedRows
  | 'disconnects'
  | 'archive'
  | 'condense'
  | 'beyondBudget'
  | 'purge'
  | 'sizes'
  | 'successions'
  | 'rememberSuccession'
  | 'close'
>;

function rowWrites(database: Database, gatherMs: number | undefined): RowWrites {
  const run = async (statement: string, fence: number, records: readonly Keyed[]) => {
    const answer = await database.query<WorkloadRow | NoRow>(statement, [fence, storable(records)]);
    if (answer.length === 0) throw fenced(fence);
    return answer.filter((row): row is WorkloadRow => row.uid !== null);
  };
  const write = serialWriter(run, { gatherMs, disconnects: () => database.disconnects });
  return {
    submit: (fence, submissions) => write(sql.SUBMIT, fence, submissions),
    update: (fence, updates) => write(sql.UPDATE, fence, updates),
    wait: (fence, updates) => write(sql.WAIT, fence, updates, URGENT),
    allocate: (fence, grants) => write(sql.ALLOCATE, fence, grants, URGENT),
    adopt: (fence, adoptions) => write(ADOPT, fence, adoptions),
    released: (fence, uids, releasedAt) =>
      write(
        sql.RELEASED,
        fence,
        uids.map((uid) => ({ uid, releasedAt })),
        MARK,
      ),
    running: (fence, starts) => write(sql.RUNNING, fence, starts, MARK),
    shrink: (fence, changes) => write(sql.SHRINK, fence, changes),
    finish: (fence, ends) => write(sql.FINISH, fence, ends),
    returned: (fence, uids) =>
      write(
        sql.RETURN,
        fence,
        uids.map((uid) => ({ uid })),
      ),
    requestEviction: (fence, requests) => write(sql.REQUEST_EVICTION, fence, requests, URGENT),
    requeue: (fence, requeues) => write(sql.REQUEUE, fence, requeues),
  };
}

/** A statement of this many rows takes well under a second. */
const ARCHIVE_BATCH = 1_000;

/** A row of NULLs: the fence is valid, and no row changed. */
interface NoRow {
  readonly uid: null;
}

function fenced(fence: number): FluxqError {
  return new FluxqError('FLUXQ_FENCED', 'another leader has taken over; nothing was written', {
    field: 'fence',
    value: fence,
    remedy: 'stop writing and take part in the election again',
  });
}
