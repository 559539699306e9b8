/**
 * The contract of the queue's tables. Postgres is the truth: a decision counts once it is committed here. The *fence*
 * is the number of the leader that may write: a new leader takes a higher one, and from then on every write with an
 * older fence is refused.
 */
import type { AllocatedNode, Allocation } from '../resources/types';
import type { AccountingLine, AccountingQuery } from './accounting';
import type { BeyondBudget, BudgetQuery } from './archive';
import type { EstimateError } from './estimate-error';
import type { LogEntry, NamedLogEntry } from './history';
import type { LeaderViews } from './leader-view';
import type { TableSize } from './purge';
import type { VersionedRows } from './row-mirror';
import type { QueueSettings } from './settings';
import type { Succession } from './successions';
import type { TracedWorkload, TracePeriod } from './trace';
import type { UsualPart } from './usual-runtimes';
import type {
  Adoption,
  EvictionRequest,
  NewSubmission,
  Outcome,
  Requeue,
  Share,
  SubmissionUpdate,
  WaitUpdate,
  WorkloadEnd,
  WorkloadName,
  WorkloadRow,
} from './workload';

/**
 * Every method is one statement for any number of rows, in one transaction. Every write checks the fence and appends to
 * the event log in the same statement. A write leaves rows alone that are not in the phase it needs, and does not return
 * them: level-triggered callers read again. If the database is down, methods throw FluxqError `FLUXQ_DATABASE_DOWN`
 * (retryable), and the statement took effect completely or not at all: callers read again.
 */
export interface Queue extends LeaderViews, VersionedRows {
  /**
   * How many idle connections broke. After each the database may have lost commits: it was restored from a backup, or
   * a replica took over.
   */
  readonly disconnects: number;
  /** Applies missing migrations under an advisory lock. */
  migrate(): Promise<void>;
  /**
   * Becomes the writer, and converts the rows that are not Finished to its units. Resolves to a fence above all others.
   * @param atLeast the highest fence known from elsewhere: a database restored from a backup has lost some
   */
  acquireFence(holder: string, atLeast?: number): Promise<number>;
  /** Replaces all queues by these. */
  setQueues(fence: number, queues: readonly QueueSettings[]): Promise<void>;
  /** The queues as they were last set. */
  queues(): Promise<QueueSettings[]>;
  /** Inserts rows in Waiting with reason Submitted, Held, or Requeued if they continue a predecessor, whose succession ends. A uid that exists is left alone. Resolves to the new rows. */
  submit(fence: number, submissions: readonly NewSubmission[]): Promise<WorkloadRow[]>;
  /**
   * Updates Waiting rows after their users changed them; an update that equals its row changes nothing. If the request
   * changes (jobspec, walltime, queue, pods), the row gets a new job id: an allocation of the old one can't be committed
   * any more. The count of requeues starts again, and RequeueLimit and a backoff are lifted, unless only the jobspec
   * changed, which follows the nodes as well, or tasks of it are done.
   */
  update(fence: number, updates: readonly SubmissionUpdate[]): Promise<WorkloadRow[]>;
  /** All rows that are not Finished, in order of priority (descending), submittedAt and seq. */
  active(): Promise<WorkloadRow[]>;
  /** Rows by uid, Finished ones included; unknown uids are left out. */
  byUid(uids: readonly string[]): Promise<WorkloadRow[]>;
  /** Those of these uids that neither the rows nor the archive have. */
  unrecorded(uids: readonly string[]): Promise<string[]>;
  /** Rows by uid, without those that succeeded at the first attempt within so many seconds of their submission. */
  notable(uids: readonly string[], withinSeconds: number): Promise<WorkloadRow[]>;
  /** Decayed usage of all queues and users, without what they hold now. */
  shares(): Promise<Share[]>;
  /** Which part of their walltime the last two workloads of each user ran, of the newest 5,000 that ended. */
  usualParts(): Promise<UsualPart[]>;
  /** How far promised starts were from the true ones, of workloads granted since this second. @returns undefined: none had a promise */
  estimateError(since: number): Promise<EstimateError | undefined>;
  /** How many rows of each queue are Finished and not archived. */
  finished(): Promise<{ readonly queue: string; readonly count: number }[]>;
  /** Result of the newest Finished workload of each name; names without one are left out. */
  outcomes(names: readonly WorkloadName[]): Promise<Outcome[]>;
  /** Waiting -> Waiting with a reason. A row that is held or at its requeue limit keeps its reason. */
  wait(fence: number, updates: readonly WaitUpdate[]): Promise<WorkloadRow[]>;
  /**
   * Waiting -> Ready: the allocation is committed before anything acts on it. Leaves rows alone that are held, at their
   * requeue limit, or have another job id than the allocation: these have to be cancelled in Fluxion.
   */
  allocate(
    fence: number,
    grants: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<WorkloadRow[]>;
  /**
   * No row, Waiting, or Ready or Running by a lower job id than the workload carries -> Ready and released, with a new job
   * id above all known ones: adds grants that are missing in the database. Leaves other rows alone, archived ones too.
   */
  adopt(fence: number, adoptions: readonly Adoption[]): Promise<WorkloadRow[]>;
  /**
   * Ready: records that the apiserver accepted the release.
   * @param releasedAt when it did; Unix seconds. @default - now, by the clock of the database
   */
  released(fence: number, uids: readonly string[], releasedAt?: number): Promise<WorkloadRow[]>;
  /** Ready -> Running when the first pod runs. */
  running(
    fence: number,
    starts: readonly { readonly uid: string; readonly startedAt: number }[],
  ): Promise<WorkloadRow[]>;
  /**
   * Ready or Running: replaces the allocation by one with fewer nodes, or fewer units on a node, and the same job id. `freed`
   * has the units that are free now. @default freed - those of the nodes that are no longer in the allocation
   */
  shrink(
    fence: number,
    changes: readonly {
      readonly uid: string;
      readonly allocation: Allocation;
      readonly freed?: readonly AllocatedNode[] | undefined;
    }[],
  ): Promise<WorkloadRow[]>;
  /** Any phase -> Finished. */
  finish(fence: number, ends: readonly ({ readonly uid: string } & WorkloadEnd)[]): Promise<WorkloadRow[]>;
  /** Finished -> Waiting, with a new job id and without its grant. Rows in the archive are left alone. */
  returned(fence: number, uids: readonly string[]): Promise<WorkloadRow[]>;
  /** Ready or Running: requests an eviction. A row keeps its first reason. */
  requestEviction(fence: number, requests: readonly EvictionRequest[]): Promise<WorkloadRow[]>;
  /** Evicted pods that no submission has named as its predecessor yet, the oldest first. */
  successions(): Promise<Succession[]>;
  /** Replaces the one of the same pod; those that are too old are removed. */
  rememberSuccession(fence: number, succession: Succession): Promise<void>;
  /** Ready or Running -> Waiting, with the same place in the queue and a new job id. */
  requeue(fence: number, requeues: readonly Requeue[]): Promise<WorkloadRow[]>;
  /**
   * Moves workloads that finished before this second into the archive, the oldest first. An archived uid is never queued
   * again.
   * @param limit the most workloads to move. @default 1000
   * @returns how many were moved; if that is the limit, there may be more
   */
  archive(fence: number, before: number, limit?: number): Promise<number>;
  /** Finished workloads beyond the budget of their namespace for an hour, the earliest first. */
  beyondBudget(query: BudgetQuery): Promise<BeyondBudget[]>;
  /**
   * Removes finished workloads, of which only their part of the daily sums remains. Such an uid could be queued again.
   * @returns how many were removed
   */
  condense(fence: number, uids: readonly string[]): Promise<number>;
  /**
   * Removes archived workloads, and log entries that belong to no workload, that are older than this second; the oldest
   * first. An uid that is no longer archived could be queued again.
   * @returns how many rows were removed from the table with the most; if that is the limit, there may be more
   */
  purge(fence: number, before: number, limit?: number): Promise<number>;
  /** The size of every table. */
  sizes(): Promise<TableSize[]>;
  /** Hours of cores, memory and gpus that were held in a period. */
  accounting(query: AccountingQuery): Promise<AccountingLine[]>;
  /** The workloads that started and ended in a period, in the order of their submission. */
  traced(period: TracePeriod): Promise<TracedWorkload[]>;
  /** The event log of one workload, oldest first, also after it was archived. */
  history(uid: string): Promise<LogEntry[]>;
  /** The event logs of all workloads of this name, whatever their kind. */
  historyOf(namespace: string, name: string): Promise<NamedLogEntry[]>;
  close(): Promise<void>;
}
