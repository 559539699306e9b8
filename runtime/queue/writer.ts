/**
 * Writes go to the database one after the other, so two bulk statements can't lock each other's rows in opposite order.
 * Waiting calls of the same kind share one statement: many small writes cost one commit.
 */
import { type Clock, systemClock } from '../clock';
import { FluxqError, hasCode } from '../errors';
import type { WorkloadRow } from './workload';

export interface Keyed {
  readonly uid: string;
}

/** Runs one statement for these records. */
export type Run = (statement: string, fence: number, records: readonly Keyed[]) => Promise<WorkloadRow[]>;

/**
 * `urgent` goes before all waiting calls about other rows, and does not wait for more calls. A `mark` records what has happened
 * already and nobody waits for: it waits for more calls four times as long as others.
 */
type Pace = 'urgent' | 'normal' | 'mark';

interface WriteOptions {
  /** @default normal */
  readonly pace?: Pace;
}

type Write = (
  statement: string,
  fence: number,
  records: readonly Keyed[],
  options?: WriteOptions,
) => Promise<WorkloadRow[]>;

/** As many callers as reconcile at once: when all of them wait, no further call can come. */
const ENOUGH_CALLS = 32;
const MARK_ROUNDS = 4;
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
  readonly pace: Pace;
}

interface SerialWriterOptions {
  /**
   * The shortest time between two rounds of statements in milliseconds, unless all callers wait: calls of one kind during that
   * time share a statement of the next round; a call after a rest is written at once.
   * @default 0
   */
  readonly gatherMs?: number | undefined;
  /** Counts broken idle connections. @default - none breaks */
  readonly disconnects?: () => number;
  /** @default - the clock of the machine */
  readonly clock?: Clock;
}

/**
 * @returns a serial `run`; of several records with one uid in a call the last counts. A call during whose wait a
 *   connection broke fails: the database may have been restored since, and its rows may be others than the caller knew.
 */
export function serialWriter(run: Run, options: SerialWriterOptions = {}): Write {
  const { gatherMs = 0, disconnects = () => 0, clock = systemClock } = options;
  const writer = new SerialWriter(run, gatherMs, disconnects, clock);
  return (...call) => writer.write(...call);
}

class SerialWriter {
  private readonly waiting: Batch[] = [];
  private failures = 0;
  private calls = 0;
  private busy = false;
  /** When the last round began, and the last one with marks. */
  private lastRound = Number.NEGATIVE_INFINITY;
  private lastMarks = Number.NEGATIVE_INFINITY;
  private stopGathering: () => void = () => undefined;

  constructor(
    private readonly run: Run,
    private readonly gatherMs: number,
    private readonly disconnects: () => number,
    private readonly clock: Clock,
  ) {}

  write(
    statement: string,
    fence: number,
    records: readonly Keyed[],
    { pace = 'normal' }: WriteOptions = {},
  ): Promise<WorkloadRow[]> {
    return new Promise((resolve, reject) => {
      const { waiting } = this;
      const distinct = [...new Map(records.map((r) => [r.uid, r])).values()];
      const call: Call = { records: distinct, breaks: this.breaks(), resolve, reject };
      add(
        sharedBatch(waiting, statement, fence, call) ?? newBatch(waiting, statement, fence, call, pace),
        call,
      );
      this.calls += 1;
      if (this.calls >= ENOUGH_CALLS || pace !== 'mark') this.stopGathering();
      if (!this.busy) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.busy = true;
    while (this.waiting.length > 0) {
      const now = this.clock.now();
      const round = this.due(now);
      if (round.length === 0) await this.gather(this.dueAt() - now);
      for (const batch of round) await this.writeBatch(batch);
    }
    this.busy = false;
  }

  /** What is written now: urgent batches, and a round if enough time has passed; with what must be written before. */
  private due(now: number): Batch[] {
    const { waiting } = this;
    const isFull = this.calls >= ENOUGH_CALLS;
    const isDue = ({ pace }: Batch) => pace === 'urgent' || isFull || this.timeOf(pace) <= now;
    const due = withEarlier(waiting, isDue);
    if (due.some(({ pace }) => pace === 'normal')) this.lastRound = now;
    if (due.some(({ pace }) => pace === 'mark')) this.lastMarks = now;
    return due;
  }

  private dueAt(): number {
    return Math.min(...this.waiting.map(({ pace }) => this.timeOf(pace)));
  }

  /** When a batch of this pace may be written, in milliseconds of the clock. */
  private timeOf(pace: Pace): number {
    if (pace === 'mark') return this.lastMarks + this.gatherMs * MARK_ROUNDS;
    return this.lastRound + this.gatherMs;
  }

  private async writeBatch(batch: Batch): Promise<void> {
    this.waiting.splice(this.waiting.indexOf(batch), 1);
    this.calls -= batch.calls.length;
    const calls = rejectOutdated(batch.calls, this.breaks());
    await settle((...statement) => this.runOnce(...statement), { ...batch, calls });
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
      const cancel = this.clock.after(milliseconds, resolve);
      this.stopGathering = () => {
        cancel();
        resolve();
      };
    });
  }

  private breaks(): number {
    return this.disconnects() + this.failures;
  }
}

/** The selected batches and those about one of their uids that were made before them, in order. */
function withEarlier(waiting: readonly Batch[], isSelected: (batch: Batch) => boolean): Batch[] {
  const uids = new Set<string>();
  const selected: Batch[] = [];
  for (const batch of waiting.toReversed()) {
    if (!isSelected(batch) && ![...batch.uids].some((uid) => uids.has(uid))) continue;
    for (const uid of batch.uids) uids.add(uid);
    selected.unshift(batch);
  }
  return selected;
}

function newBatch(waiting: Batch[], statement: string, fence: number, call: Call, pace: Pace): Batch {
  const batch: Batch = { statement, fence, uids: new Set(), calls: [], pace };
  waiting.splice(pace === 'urgent' ? urgentIndex(waiting, call) : waiting.length, 0, batch);
  return batch;
}

/** Behind other urgent batches, and behind batches about one of its uids. */
function urgentIndex(waiting: readonly Batch[], { records }: Call): number {
  return (
    waiting.findLastIndex(({ pace, uids }) => pace === 'urgent' || records.some(({ uid }) => uids.has(uid))) +
    1
  );
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
        await settle(run, { statement, fence, uids: new Set(), calls: [call], pace: 'urgent' });
      } else {
        call.reject(error);
      }
    }
  }
}
