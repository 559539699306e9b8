/** The part of the in-memory model of the queue that is not about rows, and what it does not support. */
import type { BeyondBudget } from '../../runtime/queue/archive';
import type { LeaderView, Listening, StoredView } from '../../runtime/queue/leader-view';
import type { RowVersion, VersionedRow } from '../../runtime/queue/row-mirror';
import type { Succession } from '../../runtime/queue/successions';
import type { NewSubmission, WorkloadRow } from '../../runtime/queue/workload';

export abstract class QueueModelBase {
  /** By uid of the evicted pod. */
  private readonly evicted = new Map<string, Succession>();

  /** Unix seconds. */
  protected abstract readonly now: () => number;

  /** @throws FluxqError FLUXQ_FENCED */
  protected abstract check(fence: number): void;

  /** Its simulations end fewer workloads than a budget allows. */
  async beyondBudget(): Promise<BeyondBudget[]> {
    return [];
  }

  async condense(fence: number): Promise<number> {
    this.check(fence);
    return 0;
  }

  async successions(): Promise<Succession[]> {
    return [...this.evicted.values()].sort((a, b) => a.at - b.at);
  }

  async rememberSuccession(fence: number, succession: Succession): Promise<void> {
    this.check(fence);
    this.evicted.set(succession.predecessor.uid, succession);
  }

  protected succeeded({ predecessor = '' }: NewSubmission): void {
    this.evicted.delete(predecessor);
  }

  /** All rows, Finished ones included. */
  abstract readonly all: readonly WorkloadRow[];
  private readonly versionsOf = new WeakMap<WorkloadRow, string>();
  private lastVersion = 0;

  async versions(): Promise<RowVersion[]> {
    return this.unfinished().map((row) => ({ uid: row.uid, version: this.versionOf(row) }));
  }

  async versioned(uids: readonly string[]): Promise<VersionedRow[]> {
    const rows = this.unfinished().filter(({ uid }) => uids.includes(uid));
    return rows.map((row) => ({ row, version: this.versionOf(row) }));
  }

  private unfinished(): readonly WorkloadRow[] {
    return this.all.filter(({ phase }) => phase !== 'Finished');
  }

  /** A write replaces the row. */
  private versionOf(row: WorkloadRow): string {
    const version = this.versionsOf.get(row) ?? String(++this.lastVersion);
    this.versionsOf.set(row, version);
    return version;
  }

  async history(): Promise<never> {
    throw new Error('the event log is read as it is');
  }

  async historyOf(): Promise<never> {
    throw new Error('the event log is read as it is');
  }

  private readonly asked = new Set<() => void>();
  private readonly stored = new Set<() => void>();
  private latestView: Omit<StoredView, 'age'> | undefined;

  onViewAsked(listener: () => void): Listening {
    return listening(this.asked, listener);
  }

  onViewStored(listener: () => void): Listening {
    return listening(this.stored, listener);
  }

  async askView(): Promise<void> {
    for (const listener of this.asked) listener();
  }

  async setView(fence: number, view: LeaderView): Promise<void> {
    this.check(fence);
    this.latestView = { fence, at: this.now(), view };
    for (const listener of this.stored) listener();
  }

  async view(): Promise<StoredView | undefined> {
    return this.latestView && { ...this.latestView, age: this.now() - this.latestView.at };
  }

  async estimateError(): Promise<never> {
    throw new Error('the event log is read as it is');
  }

  async accounting(): Promise<never> {
    throw new Error('the model does not support accounting');
  }

  async traced(): Promise<never> {
    throw new Error('the model does not support traces');
  }

  /** A simulation is too short for the archive. */
  async archive(): Promise<number> {
    return 0;
  }

  async purge(): Promise<number> {
    return 0;
  }

  async sizes(): Promise<never[]> {
    return [];
  }

  /** Fair share is off in a simulation. */
  async shares(): Promise<[]> {
    return [];
  }
}

function listening(listeners: Set<() => void>, listener: () => void): Listening {
  listeners.add(listener);
  return { ready: Promise.resolve(), stop: async () => void listeners.delete(listener) };
}
