/**
 * Writes go to the database one after the other, so two bulk statements can't lock each other's rows in opposite order.
 * Waiting calls of the same kind share one statement: many small writes cost one commit.
 */
import { FluxqError, hasCode } from '../errors';
import type { WorkloadRow } from './workload';

export interface Keyed {
  readonly uid: string;
}

/** Runs one statement for these records. */
export type Run = (statement: string, fence: number, records: readonly Keyed[]) => Promise<WorkloadRow[]>;

interface WriteOptions {
  /** Goes before all waiting calls about other rows, and does not wait for more calls. @default false */
  readonly urgent?: boolean;
}

type Write = (
  statement: string,
  fence: number,
  records: readonly Keyed[],
  options?: WriteOptions,
) => Promise<WorkloadRow[]>;

/** As many callers as reconcile at once: when all of them wait, no further call can come. */
const ENOUGH_CALLS = 32;
/** Larger than any single call; keeps the parameter of a shared statement at some ten megabytes. */
const MAX_RECORDS = 10_000;

interface Call {
  readonly records: readonly Keyed[];
  /** How often connections had broken when the call was made. */
  readonly breaks: number;
  resolve(rows: WorkloadRow[]): void;
  reject(error: unknown): void;
}

interface Batch {
  readonly statement: string;
  readonly fence: number;
  readonly uids: Set<string>;
  readonly calls: Call[];
  readonly urgent: boolean;
}

/**
 * @param gatherMs shortest time between two rounds of statements in milliseconds, unless all callers wait: calls of one kind during
 *   that time share a statement of the next round; a call after a rest is written at once
 * @param disconnects counts broken idle connections
 * @returns a serial `run`; of several records with one uid in a call the last counts. A call during whose wait a
 *   connection broke fails: the database may have been restored since, and its rows may be others than the caller knew.
 */
export function serialWriter(run: Run, gatherMs = 0, disconnects: () => number = () => 0): Write {
  const writer = new SerialWriter(run, gatherMs, disconnects);
  return (...call) => writer.write(...call);
}

class SerialWriter {
  private readonly waiting: Batch[] = [];
  private failures = 0;
  private calls = 0;
  private busy = false;
  /** When the last round began. */
  private last = Number.NEGATIVE_INFINITY;
  private stopGathering: () => void = () => undefined;

  constructor(
    private readonly run: Run,
    private readonly gatherMs: number,
    private readonly disconnects: () => number,
  ) {}

  write(
    statement: string,
    fence: number,
    records: readonly Keyed[],
    { urgent = false }: WriteOptions = {},
  ): Promise<WorkloadRow[]> {
    return new Promise((resolve, reject) => {
      const { waiting } = this;
      const distinct = [...new Map(records.map((r) => [r.uid, r])).values()];
      const call: Call = { records: distinct, breaks: this.breaks(), resolve, reject };
      add(
        sharedBatch(waiting, statement, fence, call) ?? newBatch(waiting, statement, fence, call, urgent),
        call,
      );
      this.calls += 1;
      if (this.calls >= ENOUGH_CALLS || urgent) this.stopGathering();
      if (!this.busy) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.busy = true;
    while (this.waiting.length > 0) {
      const early = this.last + this.gatherMs - performance.now();
      if (this.waiting[0]!.urgent) await this.writeFirst();
      else if (early > 0 && this.calls < ENOUGH_CALLS) await this.gather(early);
      else await this.writeRound();
    }
    this.busy = false;
  }

  /** A round has a statement of each kind: were each of them to gather, a call would wait for all of them. */
  private async writeRound(): Promise<void> {
    this.last = performance.now();
    const end = this.waiting.at(-1);
    while ((await this.writeFirst()) !== end);
  }

  private async writeFirst(): Promise<Batch> {
    const batch = this.waiting.shift()!;
    this.calls -= batch.calls.length;
    const calls = rejectOutdated(batch.calls, this.breaks());
    await settle((...statement) => this.runOnce(...statement), { ...batch, calls });
    return batch;
  }

  private async runOnce(...statement: Parameters<Run>): Promise<WorkloadRow[]> {
    try {
      return await this.run(...statement);
    } catch (error) {
      if (hasCode(error, 'FLUXQ_DATABASE_DOWN')) this.failures += 1;
      throw error;
    }
  }

  private gather(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.stopGathering = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private breaks(): number {
    return this.disconnects() + this.failures;
  }
}

function newBatch(waiting: Batch[], statement: string, fence: number, call: Call, urgent: boolean): Batch {
  const batch: Batch = { statement, fence, uids: new Set(), calls: [], urgent };
  waiting.splice(urgent ? urgentIndex(waiting, call) : waiting.length, 0, batch);
  return batch;
}

/** Behind other urgent batches, and behind batches about one of its uids. */
function urgentIndex(waiting: readonly Batch[], { records }: Call): number {
  return waiting.findLastIndex(({ urgent, uids }) => urgent || records.some(({ uid }) => uids.has(uid))) + 1;
}

/** The waiting batch that the call may share: it must not overtake a statement about one of its uids. */
function sharedBatch(
  waiting: readonly Batch[],
  statement: string,
  fence: number,
  call: Call,
): Batch | undefined {
  for (const batch of waiting.toReversed()) {
    if (call.records.some(({ uid }) => batch.uids.has(uid))) {
      return undefined;
    }
    const fits = batch.uids.size + call.records.length <= MAX_RECORDS;
    if (batch.statement === statement && batch.fence === fence && fits) {
      return batch;
    }
  }
  return undefined;
}

function add(batch: Batch, call: Call): void {
  batch.calls.push(call);
  for (const { uid } of call.records) {
    batch.uids.add(uid);
  }
}

/** @returns the other calls */
function rejectOutdated(calls: readonly Call[], breaks: number): Call[] {
  const outdated = calls.filter((call) => call.breaks !== breaks);
  for (const { reject } of outdated)
    reject(
      new FluxqError('FLUXQ_DATABASE_DOWN', 'database connections broke while the write waited', {
        field: 'database.url',
        remedy: 'check that Postgres runs and can be reached; the call is retried and nothing is lost',
        retryable: true,
      }),
    );
  return calls.filter((call) => call.breaks === breaks);
}

async function settle(run: Run, { statement, fence, calls }: Batch): Promise<void> {
  if (calls.length === 0) return;
  try {
    const rows = await run(
      statement,
      fence,
      calls.flatMap(({ records }) => records),
    );
    const byUid = new Map(rows.map((row) => [row.uid, row]));
    for (const { records, resolve } of calls) {
      resolve(records.flatMap(({ uid }) => byUid.get(uid) ?? []));
    }
  } catch (error) {
    // A record that the database refuses must fail its own caller only.
    const separately = calls.length > 1 && hasCode(error, 'FLUXQ_DATABASE_REFUSED');
    for (const call of calls) {
      if (separately) {
        await settle(run, { statement, fence, uids: new Set(), calls: [call], urgent: true });
      } else {
        call.reject(error);
      }
    }
  }
}
