import type { Allocation } from '../resources/types';
import type { AccountingLine, AccountingQuery } from './accounting';
import type { LogEntry, NamedLogEntry } from './history';
import type { QueueSettings } from './settings';
import type {
  Adoption,
  Outcome,
  Recall,
  Requeue,
  Result,
  Share,
  Submission,
  SubmissionUpdate,
  WaitUpdate,
  WorkloadName,
  WorkloadRow,
} from './workload';

/**
 * The queue's tables. Every method is one statement (bulk) in one transaction;
 * every write checks the fence and appends to the event log in the same
 * statement. A method that names rows which are not in the phase it needs
 * leaves those rows alone and does not return them (level-triggered callers
 * read again). A database that is down throws FluxqError `FLUXQ_DATABASE_DOWN`,
 * retryable; nothing was changed then or everything was: callers read again.
 */
export interface Queue {
  /**
   * How many connections broke while nobody used them. After each the database may know less than it said: it was
   * restored from a backup, or its replica took over.
   */
  readonly disconnects: number;
  /** Applies missing migrations under an advisory lock. */
  migrate(): Promise<void>;
  /**
   * Becomes the writer: the new, highest fence.
   * @param atLeast highest fence known from elsewhere: a database restored from a backup has forgotten some
   */
  acquireFence(holder: string, atLeast?: number): Promise<number>;
  /** The queues in force are these; those not named are gone. */
  setQueues(fence: number, queues: readonly QueueSettings[]): Promise<void>;
  /** The queues as last set. */
  queues(): Promise<QueueSettings[]>;
  /** New rows in Waiting (reason Submitted, or Held); a uid that is there already is left alone. Resolves to the rows inserted. */
  submit(fence: number, submissions: readonly Submission[]): Promise<WorkloadRow[]>;
  /**
   * Waiting rows whose user changed them; one that equals its row changes nothing. What is then asked for (shape,
   * walltime, queue, pods) gets a new job id: an allocation of the old one can't be committed any more. Its requeues
   * are forgotten and RequeueLimit is lifted, unless only its jobspec is another: that follows the nodes as well.
   */
  update(fence: number, updates: readonly SubmissionUpdate[]): Promise<WorkloadRow[]>;
  /** All rows that are not Finished, in order (priority desc, submittedAt, seq). */
  active(): Promise<WorkloadRow[]>;
  /** Rows by uid, finished ones included; unknown uids are left out. */
  byUid(uids: readonly string[]): Promise<WorkloadRow[]>;
  /** Decayed usage of all queues and users; what is held at the moment is not in it. */
  shares(): Promise<Share[]>;
  /** How many rows of each queue are finished and not archived. */
  finished(): Promise<{ readonly queue: string; readonly count: number }[]>;
  /** Of each name the newest workload that has finished; names without one are left out. */
  outcomes(names: readonly WorkloadName[]): Promise<Outcome[]>;
  /** Waiting -> Waiting with a reason; a row that is held stays Held, one at its requeue limit stays so. */
  wait(fence: number, updates: readonly WaitUpdate[]): Promise<WorkloadRow[]>;
  /**
   * Waiting -> Ready: the allocation is committed before anything acts on it. Not of a row that is held, is at its
   * requeue limit, or has another job id than the allocation: what is not returned has to be cancelled in Fluxion.
   */
  allocate(
    fence: number,
    grants: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<WorkloadRow[]>;
  /**
   * No row, or Waiting -> Ready and released, with a new job id higher than any that is known: what runs and was
   * forgotten is in the books again, as it is now. Other rows are left alone, archived ones too.
   */
  adopt(fence: number, adoptions: readonly Adoption[]): Promise<WorkloadRow[]>;
  /** Ready: the release patch was accepted. */
  released(fence: number, uids: readonly string[]): Promise<WorkloadRow[]>;
  /** Ready -> Running: the first pod runs. */
  running(
    fence: number,
    starts: readonly { readonly uid: string; readonly startedAt: number }[],
  ): Promise<WorkloadRow[]>;
  /** Ready or Running: what the allocation is now, less nodes or another end; same job id. */
  shrink(
    fence: number,
    changes: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<WorkloadRow[]>;
  /** Any phase -> Finished. */
  finish(
    fence: number,
    ends: readonly { readonly uid: string; readonly result: Result; readonly finishedAt: number }[],
  ): Promise<WorkloadRow[]>;
  /** Ready or Running: to be taken back; one that is already keeps its first reason. */
  recall(fence: number, recalls: readonly Recall[]): Promise<WorkloadRow[]>;
  /** Ready or Running -> Waiting with its place kept and a new jobid. */
  requeue(fence: number, requeues: readonly Requeue[]): Promise<WorkloadRow[]>;
  /**
   * Moves at most `most` workloads that finished before this second into the archive, oldest first. Resolves to how
   * many; when that is `most`, there may be more. An archived uid is never queued again.
   */
  archive(fence: number, before: number, most?: number): Promise<number>;
  /** Hours of cores, GiB and gpus that were held in a period. */
  accounting(query: AccountingQuery): Promise<AccountingLine[]>;
  /** The event log of one workload, oldest first, also when it has been archived. */
  history(uid: string): Promise<LogEntry[]>;
  /** The event logs of all workloads that had this name, whatever their kind. */
  historyOf(namespace: string, name: string): Promise<NamedLogEntry[]>;
  close(): Promise<void>;
}
