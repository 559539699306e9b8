/**
 * An in-memory model of the queue's tables with one method per SQL statement; queue-model.test.ts makes the same calls
 * to both. The invariants of a simulation are checked on its event log.
 */
import { isDeepStrictEqual } from 'node:util';
import { FluxqError } from '../../runtime/errors';
import { isFleeting } from '../../runtime/fluxjobs/fleeting';
import { newRow } from '../../runtime/queue/rows';
import type { QueueSettings } from '../../runtime/queue/settings';
import type { Queue } from '../../runtime/queue/store';
import type { UsualPart } from '../../runtime/queue/usual-runtimes';
import { endedAs, type Outcome, type WorkloadName, type WorkloadRow } from '../../runtime/queue/workload';
import { inOrder } from '../../runtime/scheduler/pass/order';
import type { LoggedEvent } from '../invariants/observation';
import { copyOf } from './json-patch';
import { QueueModelBase } from './queue-model-base';
import {
  finished,
  grantDetail,
  holds,
  keepsReason,
  lastOfEach,
  NO_WAIT,
  NOT_GRANTED,
  RETURNED,
  requestedFields,
  uidsOfUsers,
  updated,
  usualPartsOf,
} from './queue-model-rows';

interface Tables {
  readonly rows: Map<string, WorkloadRow>;
  readonly events: LoggedEvent[];
  queues: readonly QueueSettings[];
  fence: number;
  seq: number;
  jobid: number;
}

/** A backup of the tables. */
export type Snapshot = Readonly<Tables>;

/** Computes the changed row; undefined for no change. */
type Change<R> = (row: WorkloadRow, record: R) => WorkloadRow | undefined;

/** Computes the detail of the event for a changed row. */
type Detail = (row: WorkloadRow) => Record<string, unknown>;

export class QueueModel extends QueueModelBase implements Queue {
  private tables: Tables = { rows: new Map(), events: [], queues: [], fence: 0, seq: 0, jobid: 0 };

  disconnects = 0;

  /** @param now Unix seconds of the clock of the database */
  constructor(protected readonly now: () => number) {
    super();
  }

  get events(): readonly LoggedEvent[] {
    return this.tables.events;
  }

  get all(): readonly WorkloadRow[] {
    return [...this.tables.rows.values()];
  }

  backup(): Snapshot {
    return { ...this.tables, rows: new Map(this.tables.rows), events: [...this.tables.events] };
  }

  restore(snapshot: Snapshot): void {
    this.disconnects += 1;
    this.tables = { ...snapshot, rows: new Map(snapshot.rows), events: [...snapshot.events] };
  }

  async migrate(): Promise<void> {}

  async acquireFence(_holder: string, atLeast = 0): Promise<number> {
    this.tables.fence = Math.max(this.tables.fence, atLeast) + 1;
    this.log('', 'Leader', {});
    return this.tables.fence;
  }

  async setQueues(fence: number, queues: readonly QueueSettings[]): Promise<void> {
    this.check(fence);
    this.tables.queues = copyOf(queues);
  }

  async queues(): Promise<QueueSettings[]> {
    return [...this.tables.queues];
  }

  async active(): Promise<WorkloadRow[]> {
    return inOrder(this.all.filter(({ phase }) => phase !== 'Finished'));
  }

  async finished(): Promise<{ queue: string; count: number }[]> {
    const finished = this.all.filter(({ phase }) => phase === 'Finished');
    const byQueue = Map.groupBy(finished, ({ queue }) => queue);
    return [...byQueue].map(([queue, { length: count }]) => ({ queue, count }));
  }

  usualParts = async (): Promise<UsualPart[]> => usualPartsOf(this.all);

  async unrecorded(uids: readonly string[]): Promise<string[]> {
    const found = new Set((await this.byUid(uids)).map(({ uid }) => uid));
    return uids.filter((uid) => !found.has(uid));
  }

  async byUid(uids: readonly string[]): Promise<WorkloadRow[]> {
    return uids.flatMap((uid) => this.tables.rows.get(uid) ?? []);
  }

  async notable(uids: readonly string[], withinSeconds: number): Promise<WorkloadRow[]> {
    return (await this.byUid(uids)).filter((row) => !isFleeting(row, withinSeconds));
  }

  async outcomes(names: readonly WorkloadName[]): Promise<Outcome[]> {
    return names.flatMap(({ namespace, name }) => {
      const named = this.all.filter((row) => row.namespace === namespace && row.name === name);
      const newest = named
        .filter(({ result }) => result !== null)
        .sort((a, b) => b.submittedAt - a.submittedAt || b.seq - a.seq || b.jobid - a.jobid)[0];
      if (newest === undefined) return [];
      const { submittedAt, seq, jobid } = newest;
      return [{ namespace, name, submittedAt, seq, jobid, result: endedAs(newest) }];
    });
  }

  async close(): Promise<void> {}

  submit: Queue['submit'] = async (fence, submissions) => {
    this.check(fence);
    return lastOfEach(submissions).flatMap((submission) => {
      this.succeeded(submission);
      if (this.tables.rows.has(submission.uid)) return [];
      const row = { ...newRow(copyOf(submission), ++this.tables.seq), jobid: this.nextJobid() };
      const { queue, priority, walltime, held } = row;
      return [this.store(row, 'Submitted', { queue, priority, walltime, held })];
    });
  };

  update: Queue['update'] = async (fence, updates) => {
    const uids = uidsOfUsers(this.tables.rows, lastOfEach(updates));
    const before = new Map(updates.map(({ uid }) => [uid, this.tables.rows.get(uid)?.held]));
    return this.change(
      fence,
      updates,
      'Updated',
      updated.bind(undefined, () => this.nextJobid()),
      ({ uid, queue, priority, walltime, held }) => ({
        queue,
        priority,
        walltime,
        held,
        wasHeld: before.get(uid),
        byUser: uids.has(uid),
      }),
    );
  };

  wait: Queue['wait'] = async (fence, updates) =>
    this.change(
      fence,
      updates,
      'Waiting',
      (row, { reason, message, estimatedStart }) =>
        row.phase !== 'Waiting' || keepsReason(row, reason)
          ? undefined
          : { ...row, reason, message, estimatedStart },
      ({ reason, message, estimatedStart }) => ({ reason, message, estimatedStart }),
    );

  allocate: Queue['allocate'] = async (fence, grants) =>
    this.change(
      fence,
      grants,
      'Allocated',
      (row, { allocation }) =>
        row.phase !== 'Waiting' || row.held || row.jobid !== allocation.jobid
          ? undefined
          : { ...row, ...NO_WAIT, phase: 'Ready', allocation, isAfterMet: true, allocatedAt: this.now() },
      ({ jobid, allocation }) => ({ jobid, ...grantDetail(allocation) }),
    );

  adopt: Queue['adopt'] = async (fence, adoptions) => {
    this.check(fence);
    const { rows } = this.tables;
    const records = copyOf(lastOfEach(adoptions)).filter(({ uid, knownJobid }) => {
      const known = rows.get(uid);
      return known === undefined || known.phase === 'Waiting' || (holds(known) && known.jobid < knownJobid);
    });
    this.tables.jobid = Math.max(this.tables.jobid, ...records.map(({ knownJobid }) => knownJobid));
    const taken = new Map([...rows.values()].map(({ jobid, uid }) => [jobid, uid]));
    const adopted = records.map(({ knownJobid, allocation: held, releasedAt, ...submission }) => {
      const isOwn = knownJobid > 0 && (taken.get(knownJobid) ?? submission.uid) === submission.uid;
      const jobid = isOwn ? knownJobid : this.nextJobid();
      taken.set(jobid, submission.uid);
      const row = rows.get(submission.uid) ?? newRow(submission, ++this.tables.seq);
      const at = Math.min(this.now(), releasedAt);
      const grant = { ...NOT_GRANTED, phase: 'Ready', jobid, allocatedAt: at, releasedAt: at } as const;
      const allocation = { ...held, jobid };
      return { ...row, ...requestedFields(submission), ...NO_WAIT, ...grant, allocation, isAfterMet: true };
    });
    const detailOf = ({ jobid, allocation }: WorkloadRow) => ({ jobid, ...grantDetail(allocation) });
    return this.storeAll(adopted, 'Adopted', detailOf);
  };

  released: Queue['released'] = async (fence, uids) =>
    this.change(
      fence,
      uids.map((uid) => ({ uid })),
      'Released',
      (row) =>
        row.phase === 'Ready' && row.releasedAt === null ? { ...row, releasedAt: this.now() } : undefined,
      () => ({}),
    );

  running: Queue['running'] = async (fence, starts) =>
    this.change(
      fence,
      starts,
      'Running',
      (row, { startedAt }) =>
        row.phase === 'Ready'
          ? { ...row, phase: 'Running', startedAt, releasedAt: row.releasedAt ?? this.now() }
          : undefined,
      ({ startedAt }) => ({ startedAt }),
    );

  shrink: Queue['shrink'] = async (fence, changes) =>
    this.change(
      fence,
      changes,
      'Reallocated',
      (row, { allocation }) =>
        !holds(row) || row.jobid !== allocation.jobid || isDeepStrictEqual(row.allocation, allocation)
          ? undefined
          : { ...row, allocation },
      ({ allocation }) => grantDetail(allocation),
    );

  finish: Queue['finish'] = async (fence, ends) =>
    this.change(fence, ends, 'Finished', finished, ({ result, finishedAt, message }) => ({
      result,
      finishedAt,
      message,
    }));

  returned: Queue['returned'] = async (fence, uids) =>
    this.change(
      fence,
      uids.map((uid) => ({ uid })),
      'Requeued',
      (row) => (row.phase === 'Finished' ? { ...row, ...RETURNED, jobid: this.nextJobid() } : undefined),
      () => ({ message: 'it is there again as before its end, because the apiserver was restored' }),
    );

  requestEviction: Queue['requestEviction'] = async (fence, evictions) =>
    this.change(
      fence,
      evictions,
      'EvictionRequested',
      (row, { message, end, cause = 'preempted', avoid = {} }) =>
        holds(row) && row.evictionReason === null
          ? {
              ...row,
              evictionReason: message,
              evictionCause: cause,
              avoid: { ...row.avoid, ...avoid },
              allocation: { ...row.allocation!, end },
            }
          : undefined,
      ({ evictionReason, evictionCause, avoid }) => ({
        message: evictionReason,
        cause: evictionCause,
        avoid,
      }),
    );

  requeue: Queue['requeue'] = async (fence, requeues) =>
    this.change(
      fence,
      requeues,
      'Requeued',
      (row, { cause, message, notBefore = null, reason = 'Requeued' }) =>
        holds(row)
          ? {
              ...row,
              ...NOT_GRANTED,
              phase: 'Waiting',
              reason,
              message,
              jobid: this.nextJobid(),
              requeues: row.requeues + (cause === 'failure' || cause === 'cluster' ? 1 : 0),
              clusterRequeues: row.clusterRequeues + (cause === 'cluster' ? 1 : 0),
              preemptions: row.preemptions + (cause === 'preempted' ? 1 : 0),
              notBefore,
            }
          : undefined,
      ({ message, requeues, preemptions }) => ({ message, requeues, preemptions }),
    );

  private change<R extends { readonly uid: string }>(
    fence: number,
    records: readonly R[],
    event: string,
    change: Change<R>,
    detail: Detail,
  ): WorkloadRow[] {
    this.check(fence);
    const changed = lastOfEach(records).flatMap((record) => {
      const row = this.tables.rows.get(record.uid);
      const next = row === undefined ? undefined : change(row, copyOf(record));
      return next ?? [];
    });
    return this.storeAll(changed, event, detail);
  }

  /** Logs rows in the order of submission and returns them in the order of the call. */
  private storeAll(changed: readonly WorkloadRow[], event: string, detail: Detail): WorkloadRow[] {
    for (const row of changed.toSorted((a, b) => a.seq - b.seq)) this.store(row, event, detail(row));
    return [...changed];
  }

  private store(row: WorkloadRow, event: string, detail: Record<string, unknown>): WorkloadRow {
    this.tables.rows.set(row.uid, row);
    this.log(row.uid, event, detail);
    return row;
  }

  private nextJobid(): number {
    this.tables.jobid = Math.max(this.tables.jobid + 1, Math.floor(this.now() * 1e6));
    return this.tables.jobid;
  }

  private log(uid: string, event: string, detail: Record<string, unknown>): void {
    this.tables.events.push({ at: this.now(), uid, event, detail });
  }

  protected check(fence: number): void {
    if (fence !== this.tables.fence)
      throw new FluxqError('FLUXQ_FENCED', 'another leader has taken over; nothing was written', {
        value: fence,
      });
  }
}
