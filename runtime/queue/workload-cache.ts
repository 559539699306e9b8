/**
 * The leader's mirror of the rows that are not finished. Every change goes to
 * Postgres first and is seen here only after its commit; since only the leader
 * writes, the mirror can't be stale. When a statement's outcome is unknown
 * (database down in the middle) the workload cache is *doubtful* until it has been
 * read again.
 */
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { FluxqError } from '../errors';
import { DEFAULT_UNITS } from '../jobspec/units';
import type { Allocation } from '../resources/types';
import { type FairUsage, UsageMirror } from './fair-usage';
import { Outcomes } from './outcomes';
import type { Queue } from './store';
import type {
  Adoption,
  Phase,
  Recall,
  Requeue,
  Result,
  Submission,
  SubmissionUpdate,
  WaitUpdate,
  WorkloadRow,
} from './workload';

type Listener = (row: WorkloadRow) => void;

export interface WorkloadCacheOptions {
  /** The mirror can't be trusted from now on: someone should call `reload`. @default - nobody is told */
  readonly onStale?: () => void;
  /** CPU of one core unit, in thousandths of a core. @default 1000 */
  readonly cpuMillis?: number;
  /** After this, usage counts half in fair share. @default - seven days */
  readonly halfLifeSeconds?: number;
  /** Unix seconds. @default - the system's clock */
  readonly now?: () => number;
}

export class WorkloadCache {
  private readonly rows = new Map<string, WorkloadRow>();
  private readonly uidOf = new Map<string, string>();
  private readonly counts = new Map<Phase, number>();
  private readonly listeners: Listener[] = [];
  private readonly outcomes = new Outcomes();
  private readonly usage: UsageMirror;
  private readonly now: () => number;
  private stale = true;
  /** As they were when the mirror was read. */
  private disconnects = 0;
  /** What was committed while the rows are read: newer than what is read. */
  private meanwhile: WorkloadRow[] | undefined;

  constructor(
    private readonly queue: Queue,
    private readonly fence: number,
    private readonly options: WorkloadCacheOptions = {},
  ) {
    this.now = options.now ?? (() => Date.now() / 1000);
    this.usage = new UsageMirror({
      cpuMillis: options.cpuMillis ?? DEFAULT_UNITS.cpuMillis,
      halfLifeSeconds: options.halfLifeSeconds ?? STACK_DEFAULTS.halfLifeSeconds,
    });
  }

  /** Called with every row after each of its commits, finished ones included. */
  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Whether the mirror must be read again before anything is decided on it. */
  get isStale(): boolean {
    return this.stale || this.queue.disconnects !== this.disconnects;
  }

  /**
   * Reads all active rows again. Listeners are told of those that are not
   * active any more: their end was committed without an answer to us.
   */
  async reload(): Promise<void> {
    this.stale = false;
    this.disconnects = this.queue.disconnects;
    this.meanwhile = [];
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
      for (const row of [...active, ...this.meanwhile]) this.keep(row);
      this.usage.load(shares);
      await this.learnOutcomes();
      for (const row of ended) this.recordEvent(row);
    } catch (error) {
      this.doubt();
      throw error;
    } finally {
      this.meanwhile = undefined;
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

  /** How many active rows are in this phase. */
  count(phase: Phase): number {
    return this.counts.get(phase) ?? 0;
  }

  /**
   * How the newest workload of this name ended, for those who wait for it; `active`: not yet. Right for names that
   * an active row waits for.
   */
  outcomeOf(namespace: string, name: string): Result | 'active' | undefined {
    return this.outcomes.of({ namespace, name });
  }

  /** Decayed usage of queues and users, with what is held at this moment. */
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

  recall(recalls: readonly Recall[]): Promise<readonly WorkloadRow[]> {
    return this.committed(this.queue.recall(this.fence, recalls));
  }

  async allocate(
    grants: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<readonly WorkloadRow[]> {
    const rows = await this.committed(this.queue.allocate(this.fence, grants));
    const granted = new Set(rows.map(({ uid }) => uid));
    const refused = grants.filter(({ uid }) => !granted.has(uid));
    // Refused although the mirror says it could be: an earlier write arrived after we gave it up.
    if (refused.some(({ uid, allocation }) => this.couldBeGranted(uid, allocation.jobid))) this.doubt();
    return rows;
  }

  wait(updates: readonly WaitUpdate[]): Promise<readonly WorkloadRow[]> {
    return this.committed(this.queue.wait(this.fence, updates));
  }

  /** Undefined: the row was not in the phase for it. The queue shares statements among calls that come together. */
  private async one(write: Promise<readonly WorkloadRow[]>): Promise<WorkloadRow | undefined> {
    return (await this.committed(write))[0];
  }

  private async committed(write: Promise<readonly WorkloadRow[]>): Promise<readonly WorkloadRow[]> {
    let rows: readonly WorkloadRow[];
    try {
      rows = await write;
    } catch (error) {
      // Whether the statement took effect is unknown unless the database refused it.
      if (!(error instanceof FluxqError) || error.retryable) this.doubt();
      throw error;
    }
    this.meanwhile?.push(...rows);
    for (const row of rows) this.keep(row);
    for (const row of rows) this.recordEvent(row);
    await this.learnOutcomes();
    return rows;
  }

  private async learnOutcomes(): Promise<void> {
    try {
      await this.outcomes.learn((names) => this.queue.outcomes(names));
    } catch (error) {
      this.doubt();
      throw error;
    }
  }

  private couldBeGranted(uid: string, jobid: number): boolean {
    const row = this.rows.get(uid);
    return row?.phase === 'Waiting' && !row.held && row.jobid === jobid;
  }

  private doubt(): void {
    this.stale = true;
    this.options.onStale?.();
  }

  private recordEvent(row: WorkloadRow): void {
    for (const listener of this.listeners) listener(row);
  }

  private keep(row: WorkloadRow): void {
    const key = nameKey(row.kind, row.namespace, row.name);
    const before = this.rows.get(row.uid);
    this.outcomes.follow(before, row);
    this.usage.follow(before, row, this.now());
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
