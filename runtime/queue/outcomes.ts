import type { Outcome, Result, WorkloadName, WorkloadRow } from './workload';

type Namesake = Pick<WorkloadRow, 'uid' | 'submittedAt' | 'seq'>;

interface Entry {
  /** Active rows of this name, by uid. */
  readonly active: Map<string, Namesake>;
  /** The newest that has finished; undefined: none is known. */
  finished: Outcome | undefined;
  /** How many active rows wait for this name. */
  waiting: number;
  /** Whether the finished ones have been looked up. */
  known: boolean;
}

const UNKNOWN = { finished: undefined, waiting: 0, known: false };

export class Outcomes {
  private readonly entries = new Map<string, Entry>();
  /** Those to look up. */
  private readonly unknown = new Map<string, Entry>();

  /** Follows a row: what it was in the mirror, and what it is now. */
  follow(before: WorkloadRow | undefined, now: WorkloadRow): void {
    const entry = this.entryOf(now);
    for (const name of namesIn(now)) this.join(name);
    if (now.phase === 'Finished') {
      entry.active.delete(now.uid);
      if (entry.waiting > 0 && isNewer(now, entry.finished)) entry.finished = outcomeOf(now);
    } else entry.active.set(now.uid, now);
    for (const name of before === undefined ? [] : namesIn(before)) this.leave(name);
    this.drop(now);
  }

  /** Looks up what has finished of the names that rows have begun to wait for. */
  async learn(lookUp: (names: readonly WorkloadName[]) => Promise<readonly Outcome[]>): Promise<void> {
    if (this.unknown.size === 0) return;
    const asked = new Map(this.unknown);
    this.unknown.clear();
    const found = await lookUp([...asked.keys()].map(nameIn)).catch((error: unknown) => {
      for (const [key, entry] of asked) if (this.entries.get(key) === entry) this.unknown.set(key, entry);
      throw error;
    });
    // An entry that was made anew meanwhile may have missed an end: it is looked up again.
    for (const entry of asked.values()) entry.known = true;
    for (const outcome of found) {
      const entry = asked.get(keyOf(outcome));
      if (entry !== undefined && isNewer(outcome, entry.finished)) entry.finished = outcome;
    }
  }

  /** Of the newest workload of this name; undefined: none was ever submitted. */
  of(name: WorkloadName): Result | 'active' | undefined {
    const entry = this.entries.get(keyOf(name));
    if (entry === undefined) return undefined;
    // Until it has been looked up it may be there.
    if (!entry.known && entry.waiting > 0) return 'active';
    const newest = [...entry.active.values()].some((namesake) => isNewer(namesake, entry.finished));
    return newest ? 'active' : entry.finished?.result;
  }

  clear(): void {
    this.entries.clear();
    this.unknown.clear();
  }

  private join(name: WorkloadName): void {
    const entry = this.entryOf(name);
    entry.waiting += 1;
    if (entry.waiting === 1) this.unknown.set(keyOf(name), entry);
  }

  private leave(name: WorkloadName): void {
    const entry = this.entryOf(name);
    entry.waiting -= 1;
    if (entry.waiting === 0) {
      this.entries.set(keyOf(name), { ...UNKNOWN, active: entry.active });
      this.unknown.delete(keyOf(name));
    }
    this.drop(name);
  }

  private entryOf(name: WorkloadName): Entry {
    const key = keyOf(name);
    const entry = this.entries.get(key) ?? { ...UNKNOWN, active: new Map() };
    this.entries.set(key, entry);
    return entry;
  }

  private drop(name: WorkloadName): void {
    const entry = this.entries.get(keyOf(name));
    if (entry?.active.size === 0 && entry.waiting === 0) this.entries.delete(keyOf(name));
  }
}

/** The names that an active row waits for. */
function namesIn({ phase, namespace, after }: WorkloadRow): WorkloadName[] {
  return phase === 'Finished' ? [] : after.map(({ name }) => ({ namespace, name }));
}

function outcomeOf({ namespace, name, submittedAt, seq, result }: WorkloadRow): Outcome {
  return { namespace, name, submittedAt, seq, result: result! };
}

function isNewer(
  a: Pick<WorkloadRow, 'submittedAt' | 'seq'>,
  b: Pick<WorkloadRow, 'submittedAt' | 'seq'> | undefined,
): boolean {
  return (
    b === undefined || a.submittedAt > b.submittedAt || (a.submittedAt === b.submittedAt && a.seq > b.seq)
  );
}

/** Neither part can hold a slash. */
function keyOf({ namespace, name }: WorkloadName): string {
  return `${namespace}/${name}`;
}

function nameIn(key: string): WorkloadName {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
