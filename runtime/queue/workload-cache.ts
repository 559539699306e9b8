/**
 * The leader's copy of the rows that are not Finished. Every change goes to Postgres first and is applied here after
 * its commit; only the leader writes, so the copy stays equal. When the outcome of a statement is unknown, because the
 * database went down during it, the cache is *stale* until it is reloaded.
 */
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { FluxqError } from '../errors';
import { DEFAULT_UNITS } from '../jobspec/units';
import type { Allocation } from '../resources/types';
import { type FairUsage, UsageCache } from './fair-usage';
import { Outcomes } from './outcomes';
import type { Queue } from './store';
import type {
  Adoption,
  EvictionRequest,
  Phase,
  Requeue,
  Result,
  Submission,
  SubmissionUpdate,
  WaitUpdate,
  WorkloadRow,
} from './workload';

type Listener = (row: WorkloadRow) => void;

export interface WorkloadCacheOptions {
  /** Called when the cache becomes stale: `reload` is needed. @default - not reported */
  readonly onStale?: () => void;
  /** CPU of one core unit, in thousandths of a core. @default 1000 */
  readonly cpuMillis?: number;
  /** Half-life of usage in fair share, in seconds. @default - seven days */
  readonly halfLifeSeconds?: number;
  /** Unix seconds. @default - the system clock */
  readonly now?: () => number;
}

export class WorkloadCache {
  private readonly rows = new Map<string, WorkloadRow>();
  private readonly uidOf = new Map<string, string>();
  private readonly counts = new Map<Phase, number>();
  private readonly listeners: Listener[] = [];
  private readonly outcomes = new Outcomes();
  private readonly usage: UsageCache;
  private readonly now: () => number;
  private stale = true;
  /** Broken connections when the rows were read last. */
  private disconnects = 0;
  /** Rows that are committed during a reload: newer than those which it reads. */
  private committedDuringReload: WorkloadRow[] | undefined;

  constructor(
    private readonly queue: Queue,
    private readonly fence: number,
    private readonly options: WorkloadCacheOptions = {},
  ) {
    this.now = options.now ?? (() => Date.now() / 1000);
    this.usage = new UsageCache({
      cpuMillis: options.cpuMillis ?? DEFAULT_UNITS.cpuMillis,
      halfLifeSeconds: options.halfLifeSeconds ?? STACK_DEFAULTS.halfLifeSeconds,
    });
  }

  /** Calls the listener with each row after each of its commits, Finished ones included. */
  onChange(listener: Listener): void {
    this.listeners.push(listener);
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
      const active = await this.queue.active();
      const now = new Set(active.map(({ uid }) => uid));
      const gone = [...this.rows.keys()].filter((uid) => !now.has(uid));
      const ended = gone.length === 0 ? [] : await this.queue.byUid(gone);
      const shares = await this.queue.shares();
      this.rows.clear();
      this.uidOf.clear();
      this.counts.clear();
      this.outcomes.clear();
      for (const row of [...active, ...this.committedDuringReload]) this.store(row);
      this.usage.load(shares);
      await this.lookUpOutcomes();
      for (const row of ended) this.notify(row);
    } catch (error) {
      this.markStale();
      throw error;
    } finally {
      this.committedDuringReload = undefined;
    }
  }

  byUid(uid: string): WorkloadRow | undefined {
    return this.rows.get(uid);
  }

  /** The active row of this kind and name, whatever its uid. */
  byName(kind: string, namespace: string, name: string): WorkloadRow | undefined {
    const uid = this.uidOf.get(nameKey(kind, namespace, name));
    return uid === undefined ? undefined : this.rows.get(uid);
  }

  /** Number of active rows in this phase. */
  count(phase: Phase): number {
    return this.counts.get(phase) ?? 0;
  }

  /**
   * Result of the newest workload of this name; `active`: it has not ended. Known only for names that an active row
   * depends on.
   */
  outcomeOf(namespace: string, name: string): Result | 'active' | undefined {
    return this.outcomes.of({ namespace, name });
  }

  /** Decayed usage of queues and users, with what they hold now. */
  fairUsage(now = this.now()): FairUsage {
    return this.usage.at(now, this.rows.values());
  }

  active(): Iterable<WorkloadRow> {
    return this.rows.values();
  }

  submit(submission: Submission): Promise<WorkloadRow | undefined> {
    return this.one(this.queue.submit(this.fence, [submission]));
  }

  update(update: SubmissionUpdate): Promise<WorkloadRow | undefined> {
    return this.one(this.queue.update(this.fence, [update]));
  }

  released(uid: string): Promise<WorkloadRow | undefined> {
    return this.one(this.queue.released(this.fence, [uid]));
  }

  running(uid: string, startedAt: number): Promise<WorkloadRow | undefined> {
    return this.one(this.queue.running(this.fence, [{ uid, startedAt }]));
  }

  shrink(uid: string, allocation: Allocation): Promise<WorkloadRow | undefined> {
    return this.one(this.queue.shrink(this.fence, [{ uid, allocation }]));
  }

  finish(uid: string, result: Result, finishedAt: number): Promise<WorkloadRow | undefined> {
    return this.one(this.queue.finish(this.fence, [{ uid, result, finishedAt }]));
  }

  requeue(requeue: Requeue): Promise<WorkloadRow | undefined> {
    return this.one(this.queue.requeue(this.fence, [requeue]));
  }

  adopt(adoptions: readonly Adoption[]): Promise<readonly WorkloadRow[]> {
    return this.committed(this.queue.adopt(this.fence, adoptions));
  }

  requestEviction(requests: readonly EvictionRequest[]): Promise<readonly WorkloadRow[]> {
    return this.committed(this.queue.requestEviction(this.fence, requests));
  }

  async allocate(
    grants: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<readonly WorkloadRow[]> {
    const rows = await this.committed(this.queue.allocate(this.fence, grants));
    const granted = new Set(rows.map(({ uid }) => uid));
    const refused = grants.filter(({ uid }) => !granted.has(uid));
    // Refused although the cache allows it: an earlier write took effect after it had timed out here.
    if (refused.some(({ uid, allocation }) => this.couldBeGranted(uid, allocation.jobid))) this.markStale();
    return rows;
  }

  wait(updates: readonly WaitUpdate[]): Promise<readonly WorkloadRow[]> {
    return this.committed(this.queue.wait(this.fence, updates));
  }

  /** @returns undefined if the row was not in the phase for the write */
  private async one(write: Promise<readonly WorkloadRow[]>): Promise<WorkloadRow | undefined> {
    return (await this.committed(write))[0];
  }

  private async committed(write: Promise<readonly WorkloadRow[]>): Promise<readonly WorkloadRow[]> {
    let rows: readonly WorkloadRow[];
    try {
      rows = await write;
    } catch (error) {
      // Unless the database refused the statement, it may have taken effect.
      if (!(error instanceof FluxqError) || error.retryable) this.markStale();
      throw error;
    }
    this.committedDuringReload?.push(...rows);
    for (const row of rows) this.store(row);
    for (const row of rows) this.notify(row);
    await this.lookUpOutcomes();
    return rows;
  }

  private async lookUpOutcomes(): Promise<void> {
    try {
      await this.outcomes.lookUp((names) => this.queue.outcomes(names));
    } catch (error) {
      this.markStale();
      throw error;
    }
  }

  private couldBeGranted(uid: string, jobid: number): boolean {
    const row = this.rows.get(uid);
    return row?.phase === 'Waiting' && !row.held && row.jobid === jobid;
  }

  private markStale(): void {
    this.stale = true;
    this.options.onStale?.();
  }

  private notify(row: WorkloadRow): void {
    for (const listener of this.listeners) listener(row);
  }

  private store(row: WorkloadRow): void {
    const key = nameKey(row.kind, row.namespace, row.name);
    const before = this.rows.get(row.uid);
    this.outcomes.apply(before, row);
    this.usage.apply(before, row, this.now());
    if (before !== undefined) this.counts.set(before.phase, this.count(before.phase) - 1);
    if (row.phase !== 'Finished') this.counts.set(row.phase, this.count(row.phase) + 1);
    if (row.phase !== 'Finished') {
      this.rows.set(row.uid, row);
      this.uidOf.set(key, row.uid);
      return;
    }
    this.rows.delete(row.uid);
    if (this.uidOf.get(key) === row.uid) this.uidOf.delete(key);
  }
}

function nameKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
