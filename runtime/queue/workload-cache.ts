/**
 * The leader's copy of the rows that are not Finished. Every change goes to Postgres first and is applied here after
 * its commit; only the leader writes, so the copy stays equal. When the outcome of a statement is unknown, because the
 * database went down during it, the cache is *stale* until it is reloaded. Such a statement may even be committed after
 * the reload. So an answer that contradicts the copy, or leaves out a row that the copy would allow to change, makes the
 * cache stale as well.
 */
import { isDeepStrictEqual } from 'node:util';
import { QUEUE_DEFAULTS, STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { FluxqError } from '../errors';
import { InternPool } from '../intern';
import { DEFAULT_UNITS, type UnitSettings } from '../jobspec/units';
import type { AllocatedNode, Allocation, Surplus } from '../resources/types';
import { type FairUsage, UsageCache } from './fair-usage';
import { internedRow } from './interned-row';
import { Outcomes } from './outcomes';
import { type RowListener, RowListeners } from './row-listeners';
import { RowNames } from './row-names';
import type { BillingWeights } from './settings';
import type { Queue } from './store';
import type { Succession } from './successions';
import type {
  Adoption,
  Ended,
  EvictionRequest,
  NewSubmission,
  Phase,
  Requeue,
  Result,
  SubmissionUpdate,
  WaitUpdate,
  WorkloadRow,
} from './workload';

type Keyed = Pick<WorkloadRow, 'uid'>;

interface WriteKind {
  /** Whether the write may create the row, or change its job id or its allocation. */
  readonly newGrant: boolean;
}

const usualWeights = () => QUEUE_DEFAULTS.billingWeights;

/** Of one statement. */
const MOST_WAITS = 5_000;

const NEW_GRANT: WriteKind = { newGrant: true };

export interface WorkloadCacheOptions {
  /** Called when the cache becomes stale: `reload` is needed. @default - not reported */
  readonly onStale?: () => void;
  /** Called with what a listener threw. @default - not reported */
  readonly onListenerError?: (error: unknown) => void;
  /** Reads the rows that are not Finished for the first time. @default - from the queue */
  readonly firstRead?: () => Promise<WorkloadRow[]>;
  /** Sizes of the units of allocations. @default - 1 core, 1 GiB */
  readonly units?: UnitSettings;
  /** Half-life of usage in fair share, in seconds. @default - seven days */
  readonly halfLifeSeconds?: number;
  /** Unix seconds. @default - the system clock */
  readonly now?: () => number;
  /** What other caches share with this one. @default - a pool of its own */
  readonly pool?: InternPool;
}

export class WorkloadCache {
  private readonly rows = new Map<string, WorkloadRow>();
  private readonly names = new RowNames();
  private readonly counts = new Map<Phase, number>();
  private readonly listeners: RowListeners;
  private readonly outcomes = new Outcomes();
  private readonly usage: UsageCache;
  private readonly now: () => number;
  private readonly pool: InternPool;
  private stale = true;
  private hasRead = false;
  /** Broken connections when the rows were read last. */
  private disconnects = 0;
  /** Rows that are committed during a reload: newer than those which it reads. */
  private committedDuringReload: WorkloadRow[] | undefined;

  constructor(
    private readonly queue: Queue,
    private readonly fence: number,
    private readonly options: WorkloadCacheOptions = {},
  ) {
    this.listeners = new RowListeners(options.onListenerError);
    this.now = options.now ?? (() => Date.now() / 1000);
    this.pool = options.pool ?? new InternPool();
    this.usage = new UsageCache({
      units: options.units ?? DEFAULT_UNITS,
      halfLifeSeconds: options.halfLifeSeconds ?? STACK_DEFAULTS.halfLifeSeconds,
    });
  }

  /** Calls the listener with each row after each of its commits, Finished ones included, and as it was before, if it was there. */
  onChange(listener: RowListener): void {
    this.listeners.add(listener);
  }

  /** Whether the cache has to be reloaded before anything is decided. */
  get isStale(): boolean {
    return this.stale || this.queue.disconnects !== this.disconnects;
  }

  /**
   * Reads all active rows again. Listeners are called with rows that have finished: their end was committed, but the
   * answer was lost.
   */
  async reload(): Promise<void> {
    this.stale = false;
    this.disconnects = this.queue.disconnects;
    this.committedDuringReload = [];
    try {
      const active = await this.readActive();
      const now = new Set(active.map(({ uid }) => uid));
      const gone = [...this.rows.keys()].filter((uid) => !now.has(uid));
      const ended = gone.length === 0 ? [] : await this.queue.byUid(gone);
      const shares = await this.queue.shares();
      this.rows.clear();
      this.names.clear();
      this.counts.clear();
      this.outcomes.clear();
      for (const row of [...active, ...this.committedDuringReload]) this.store(row);
      this.usage.load(shares);
      await this.lookUpOutcomes();
      for (const row of ended) this.listeners.notify(row);
    } catch (error) {
      this.markStale();
      throw error;
    } finally {
      this.committedDuringReload = undefined;
    }
  }

  private async readActive(): Promise<WorkloadRow[]> {
    const { firstRead } = this.options;
    if (firstRead === undefined || this.hasRead) return this.interned(await this.queue.active());
    this.hasRead = true;
    return firstRead();
  }

  byUid(uid: string): WorkloadRow | undefined {
    return this.rows.get(uid);
  }

  /** Those of these uids that neither the rows, Finished ones included, nor the archive have. */
  async unrecorded(uids: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = uids.filter((uid) => !this.rows.has(uid));
    return new Set(unknown.length === 0 ? [] : await this.queue.unrecorded(unknown));
  }

  /** The active rows of this kind and name, whatever their uids: there are two until the end of the first one is recorded. */
  byName(kind: string, namespace: string, name: string): readonly WorkloadRow[] {
    return this.names.uidsOf({ kind, namespace, name }).flatMap((uid) => this.rows.get(uid) ?? []);
  }

  /** Number of active rows in this phase. */
  count(phase: Phase): number {
    return this.counts.get(phase) ?? 0;
  }

  /**
   * Result of the newest workload of this name; `active`: it has not ended. Known only for names that an active row
   * depends on.
   */
  outcomeOf(namespace: string, name: string): Ended | 'active' | undefined {
    return this.outcomes.of({ namespace, name });
  }

  /**
   * Decayed usage of queues and users, with what they hold now.
   * @param weightsOf the billing weights of a queue. @default - those of a queue without configuration
   * @param surpluses what workloads use beyond their grants, by uid. @default - nothing
   */
  fairUsage(
    now = this.now(),
    weightsOf: (queue: string) => BillingWeights = usualWeights,
    surpluses?: ReadonlyMap<string, Surplus>,
  ): FairUsage {
    return this.usage.at(now, this.rows.values(), weightsOf, surpluses);
  }

  active(): Iterable<WorkloadRow> {
    return this.rows.values();
  }

  submit(submission: NewSubmission): Promise<WorkloadRow | undefined> {
    return this.one([submission], this.queue.submit(this.fence, [submission]), NEW_GRANT);
  }

  update(update: SubmissionUpdate): Promise<WorkloadRow | undefined> {
    return this.one([update], this.queue.update(this.fence, [update]), NEW_GRANT);
  }

  /** @param releasedAt when the apiserver accepted the release; Unix seconds. @default - now */
  released(uid: string, releasedAt?: number): Promise<WorkloadRow | undefined> {
    return this.one([{ uid }], this.queue.released(this.fence, [uid], releasedAt));
  }

  running(uid: string, startedAt: number): Promise<WorkloadRow | undefined> {
    return this.one([{ uid }], this.queue.running(this.fence, [{ uid, startedAt }]));
  }

  shrink(uid: string, next: Allocation, freed?: readonly AllocatedNode[]): Promise<WorkloadRow | undefined> {
    return this.one([{ uid }], this.queue.shrink(this.fence, [{ uid, allocation: next, freed }]));
  }

  finish(uid: string, result: Result, finishedAt: number, message?: string) {
    return this.one([{ uid }], this.queue.finish(this.fence, [{ uid, result, finishedAt, message }]));
  }

  /** Its object is there again, as before its end. */
  returned(uid: string): Promise<WorkloadRow | undefined> {
    return this.one([{ uid }], this.queue.returned(this.fence, [uid]), NEW_GRANT);
  }

  /**
   * @param change what its user changed while it was granted. No listener and no pass sees the row without it: the row would be granted
   *   again for what it asked for before. @default - nothing
   */
  requeue(requeue: Requeue, change?: SubmissionUpdate): Promise<WorkloadRow | undefined> {
    const requeued = this.queue.requeue(this.fence, [requeue]);
    const write =
      change === undefined ? requeued : this.afterBoth(requeued, this.queue.update(this.fence, [change]));
    return this.one([requeue], write, NEW_GRANT);
  }

  /** As the queue has them: no copy is kept here. */
  successions(): Promise<Succession[]> {
    return this.queue.successions();
  }

  rememberSuccession(succession: Succession): Promise<void> {
    return this.queue.rememberSuccession(this.fence, succession);
  }

  adopt(adoptions: readonly Adoption[]): Promise<readonly WorkloadRow[]> {
    return this.committed(adoptions, this.queue.adopt(this.fence, adoptions), NEW_GRANT);
  }

  requestEviction(requests: readonly EvictionRequest[]): Promise<readonly WorkloadRow[]> {
    return this.committed(requests, this.queue.requestEviction(this.fence, requests));
  }

  allocate(
    grants: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<readonly WorkloadRow[]> {
    return this.committed(grants, this.queue.allocate(this.fence, grants), NEW_GRANT);
  }

  /** Other writes do not wait behind all of a hundred thousand reasons. */
  async wait(updates: readonly WaitUpdate[]): Promise<readonly WorkloadRow[]> {
    const rows: WorkloadRow[] = [];
    for (let from = 0; from < updates.length; from += MOST_WAITS) {
      const some = updates.slice(from, from + MOST_WAITS);
      rows.push(...(await this.committed(some, this.queue.wait(this.fence, some))));
    }
    return rows;
  }

  /** The rows after two writes about the same uids. The first may have taken effect although the second failed. */
  private async afterBoth(
    first: Promise<readonly WorkloadRow[]>,
    second: Promise<readonly WorkloadRow[]>,
  ): Promise<readonly WorkloadRow[]> {
    const [rows, later] = await Promise.allSettled([first, second]);
    if (rows.status === 'rejected') throw rows.reason;
    if (later.status === 'fulfilled')
      return [...new Map([...rows.value, ...later.value].map((row) => [row.uid, row])).values()];
    this.markStale();
    throw later.reason;
  }

  /** @returns undefined if the row was not in the phase for the write */
  private async one(
    records: readonly Keyed[],
    write: Promise<readonly WorkloadRow[]>,
    kind?: WriteKind,
  ): Promise<WorkloadRow | undefined> {
    return (await this.committed(records, write, kind))[0];
  }

  private async committed(
    records: readonly Keyed[],
    write: Promise<readonly WorkloadRow[]>,
    { newGrant }: WriteKind = { newGrant: false },
  ): Promise<readonly WorkloadRow[]> {
    let rows: readonly WorkloadRow[];
    try {
      rows = this.interned(await write);
    } catch (error) {
      // Unless the database refused the statement, it may have taken effect.
      if (!(error instanceof FluxqError) || error.retryable) this.markStale();
      throw error;
    }
    if (!newGrant && rows.some((row) => !this.isSameGrant(row))) this.markStale();
    this.committedDuringReload?.push(...rows);
    const before = rows.map((row) => this.store(row));
    for (const [i, row] of rows.entries()) this.listeners.notify(row, before[i]);
    await this.lookUpOutcomes();
    const changed = new Set(rows.map(({ uid }) => uid));
    await this.compareWithTables(records.map(({ uid }) => uid).filter((uid) => !changed.has(uid)));
    return rows;
  }

  /** Whether the row was changed under the grant that the cache knows. */
  private isSameGrant({ uid, jobid, allocatedAt }: WorkloadRow): boolean {
    const known = this.rows.get(uid);
    return known?.jobid === jobid && known.allocatedAt === allocatedAt;
  }

  /** The tables left these rows as they are: rightly so, unless they have other rows than the cache. */
  private async compareWithTables(uids: readonly string[]): Promise<void> {
    if (uids.length === 0 || this.stale) return;
    const before = uids.map((uid) => this.rows.get(uid));
    const stored = new Map((await this.read(() => this.queue.byUid(uids))).map((row) => [row.uid, row]));
    const differs = uids.some((uid, i) => {
      const known = this.rows.get(uid);
      // A row that changed meanwhile was changed by a later write, whose answer is as good as this one.
      return known === before[i] && !isDeepStrictEqual(known, activeOrNone(stored.get(uid)));
    });
    if (differs) this.markStale();
  }

  private lookUpOutcomes(): Promise<void> {
    return this.read(() => this.outcomes.lookUp((names) => this.queue.outcomes(names)));
  }

  private async read<T>(query: () => Promise<T>): Promise<T> {
    try {
      return await query();
    } catch (error) {
      this.markStale();
      throw error;
    }
  }

  private markStale(): void {
    this.stale = true;
    this.options.onStale?.();
  }

  private interned(rows: readonly WorkloadRow[]): WorkloadRow[] {
    return rows.map((row) => internedRow(row, this.pool));
  }

  /** @returns the row as it was before */
  private store(row: WorkloadRow): WorkloadRow | undefined {
    const before = this.rows.get(row.uid);
    this.outcomes.apply(before, row);
    this.usage.apply(before, row, this.now());
    if (before !== undefined) this.counts.set(before.phase, this.count(before.phase) - 1);
    if (row.phase !== 'Finished') this.counts.set(row.phase, this.count(row.phase) + 1);
    if (row.phase === 'Finished') {
      this.rows.delete(row.uid);
      this.names.remove(row);
      return before;
    }
    this.rows.set(row.uid, row);
    if (before === undefined) this.names.add(row);
    return before;
  }
}

/** Finished rows are not in the cache. */
function activeOrNone(row: WorkloadRow | undefined): WorkloadRow | undefined {
  return row?.phase === 'Finished' ? undefined : row;
}
