/**
 * The leader's mirror of the rows that are not finished. Every change goes to
 * Postgres first and is seen here only after its commit; since only the leader
 * writes, the mirror can't be stale. When a statement's outcome is unknown
 * (database down in the middle) the ledger is *doubtful* until it has been
 * read again.
 */
import { FluxqError } from '../errors';
import type { Allocation } from '../fluxion/types';
import { GroupCommit } from './group-commit';
import type { Queue, Result, Submission, SubmissionUpdate, WaitUpdate, WorkloadRow } from './types';

type Listener = (row: WorkloadRow) => void;
type RowCommit<Item> = GroupCommit<Item, WorkloadRow>;

export class Ledger {
  private readonly rows = new Map<string, WorkloadRow>();
  private readonly uidOf = new Map<string, string>();
  private readonly listeners: Listener[] = [];
  private doubtful = true;

  private readonly submits: RowCommit<Submission>;
  private readonly updates: RowCommit<SubmissionUpdate>;
  private readonly releases: RowCommit<{ uid: string }>;
  private readonly starts: RowCommit<{ uid: string; startedAt: number }>;
  private readonly shrinks: RowCommit<{ uid: string; allocation: Allocation }>;
  private readonly ends: RowCommit<{ uid: string; result: Result; finishedAt: number }>;

  constructor(
    private readonly queue: Queue,
    private readonly fence: number,
  ) {
    const commit = <Item extends { uid: string }>(
      write: (items: readonly Item[]) => Promise<readonly WorkloadRow[]>,
    ) =>
      new GroupCommit<Item, WorkloadRow>(
        async (items) => new Map((await this.committed(write(items))).map((row) => [row.uid, row])),
        ({ uid }) => uid,
      );
    this.submits = commit((items) => queue.submit(fence, items));
    this.updates = commit((items) => queue.update(fence, items));
    this.releases = commit((items) =>
      queue.released(
        fence,
        items.map(({ uid }) => uid),
      ),
    );
    this.starts = commit((items) => queue.running(fence, items));
    this.shrinks = commit((items) => queue.shrink(fence, items));
    this.ends = commit((items) => queue.finish(fence, items));
  }

  /** Called with every row after each of its commits, finished ones included. */
  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Whether the mirror must be read again before anything is decided on it. */
  get isDoubtful(): boolean {
    return this.doubtful;
  }

  /** Reads all active rows again. */
  async reload(): Promise<void> {
    this.doubtful = false;
    try {
      const active = await this.queue.active();
      this.rows.clear();
      this.uidOf.clear();
      for (const row of active) this.keep(row);
    } catch (error) {
      this.doubtful = true;
      throw error;
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

  active(): Iterable<WorkloadRow> {
    return this.rows.values();
  }

  submit(submission: Submission): Promise<WorkloadRow | undefined> {
    return this.submits.add(submission);
  }

  update(update: SubmissionUpdate): Promise<WorkloadRow | undefined> {
    return this.updates.add(update);
  }

  released(uid: string): Promise<WorkloadRow | undefined> {
    return this.releases.add({ uid });
  }

  running(uid: string, startedAt: number): Promise<WorkloadRow | undefined> {
    return this.starts.add({ uid, startedAt });
  }

  shrink(uid: string, allocation: Allocation): Promise<WorkloadRow | undefined> {
    return this.shrinks.add({ uid, allocation });
  }

  finish(uid: string, result: Result, finishedAt: number): Promise<WorkloadRow | undefined> {
    return this.ends.add({ uid, result, finishedAt });
  }

  async requeue(uid: string, message: string): Promise<WorkloadRow | undefined> {
    return (await this.committed(this.queue.requeue(this.fence, [uid], message)))[0];
  }

  allocate(
    grants: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<readonly WorkloadRow[]> {
    return this.committed(this.queue.allocate(this.fence, grants));
  }

  wait(updates: readonly WaitUpdate[]): Promise<readonly WorkloadRow[]> {
    return this.committed(this.queue.wait(this.fence, updates));
  }

  private async committed(write: Promise<readonly WorkloadRow[]>): Promise<readonly WorkloadRow[]> {
    let rows: readonly WorkloadRow[];
    try {
      rows = await write;
    } catch (error) {
      // Whether the statement took effect is unknown unless the database refused it.
      if (!(error instanceof FluxqError) || error.retryable) this.doubtful = true;
      throw error;
    }
    for (const row of rows) this.keep(row);
    for (const row of rows) for (const listener of this.listeners) listener(row);
    return rows;
  }

  private keep(row: WorkloadRow): void {
    const key = nameKey(row.kind, row.namespace, row.name);
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
