/**
 * Writes go to the database one after the other: there is one writer, so two
 * bulk statements can't lock each other's rows in opposite order. Calls of the
 * same kind that wait their turn share one statement: many small writes cost
 * one commit.
 */
import { hasCode } from '../errors';
import type { WorkloadRow } from './workload';

export interface Keyed {
  readonly uid: string;
}

/** Runs one statement for these records. */
export type Run = (statement: string, fence: number, records: readonly Keyed[]) => Promise<WorkloadRow[]>;

/** The same; an urgent one goes before all that waits, as soon as it may, and is not gathered for. */
type Write = (
  statement: string,
  fence: number,
  records: readonly Keyed[],
  urgent?: boolean,
) => Promise<WorkloadRow[]>;

/** As many callers as reconcile at once: when all of them wait, nobody is left to wait for. */
const ENOUGH_CALLS = 32;
/** Larger than any single call of ours; keeps a shared statement's parameter at some ten megabytes. */
const MOST_RECORDS = 10_000;

interface Call {
  readonly records: readonly Keyed[];
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
 * @param gatherMs at least so long from one statement to the next, milliseconds, unless all callers wait: what is called
 *   meanwhile goes with it; what comes after a rest goes at once
 * @returns a function like `run`, serial; of several records of one uid in a call the last counts
 */
export function serialWriter(run: Run, gatherMs = 0): Write {
  const waiting: Batch[] = [];
  let calls = 0;
  let busy = false;
  let last = Number.NEGATIVE_INFINITY;
  let enough: () => void = () => undefined;

  function gathered(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      enough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function work(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const early = last + gatherMs - performance.now();
      if (early > 0 && calls < ENOUGH_CALLS && !waiting[0]!.urgent) {
        await gathered(early);
      }
      last = performance.now();
      const batch = waiting.shift()!;
      calls -= batch.calls.length;
      await settle(run, batch);
    }
    busy = false;
  }

  return (statement, fence, records, urgent = false) =>
    new Promise((resolve, reject) => {
      const call: Call = { records: [...new Map(records.map((r) => [r.uid, r])).values()], resolve, reject };
      const shared = sharedBatch(waiting, statement, fence, call);
      if (shared === undefined) {
        const batch: Batch = { statement, fence, uids: new Set(), calls: [], urgent };
        add(batch, call);
        waiting.splice(urgent ? placeOfUrgent(waiting, call) : waiting.length, 0, batch);
      } else {
        add(shared, call);
      }
      calls += 1;
      if (calls >= ENOUGH_CALLS || urgent) {
        enough();
      }
      if (!busy) {
        void work();
      }
    });
}

/** Behind other urgent ones, and behind what is about one of its uids. */
function placeOfUrgent(waiting: readonly Batch[], { records }: Call): number {
  return waiting.findLastIndex(({ urgent, uids }) => urgent || records.some(({ uid }) => uids.has(uid))) + 1;
}

/** The waiting batch this call may go with: it must not overtake a statement about one of its uids. */
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
    const room = batch.uids.size + call.records.length <= MOST_RECORDS;
    if (batch.statement === statement && batch.fence === fence && room) {
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

async function settle(run: Run, { statement, fence, calls }: Batch): Promise<void> {
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
    // One caller's record that the database refuses must not fail the others.
    const apart = calls.length > 1 && hasCode(error, 'FLUXQ_DATABASE_REFUSED');
    for (const call of calls) {
      if (apart) {
        await settle(run, { statement, fence, uids: new Set(), calls: [call], urgent: true });
      } else {
        call.reject(error);
      }
    }
  }
}
