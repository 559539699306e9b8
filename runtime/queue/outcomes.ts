/**
 * Results of workloads that others depend on. Active rows are followed as they change; the result of a workload that
 * finished earlier is looked up once when the first row depends on its name.
 */
import { type Ended, endedAs, isNewer, type Outcome, type WorkloadName, type WorkloadRow } from './workload';

type Namesake = Pick<WorkloadRow, 'uid' | 'submittedAt' | 'seq' | 'jobid'>;

interface Entry {
  /** Active rows of this name, by uid. */
  readonly active: Map<string, Namesake>;
  /** The newest Finished one; undefined: none is known. */
  finished: Outcome | undefined;
  /** How many active rows depend on this name. */
  dependents: number;
  /** Whether the Finished ones have been looked up. */
  known: boolean;
}

const UNKNOWN = { finished: undefined, dependents: 0, known: false };

export class Outcomes {
  private readonly entries = new Map<string, Entry>();
  /** Entries to look up. */
  private readonly unknown = new Map<string, Entry>();

  /** Applies a change of a row. @param before undefined: the row is new */
  apply(before: WorkloadRow | undefined, now: WorkloadRow): void {
    const entry = this.entryOf(now);
    for (const name of namesIn(now)) this.addDependent(name);
    if (now.phase === 'Finished') {
      entry.active.delete(now.uid);
      if (entry.dependents > 0 && isNewer(now, entry.finished)) entry.finished = outcomeOf(now);
    } else entry.active.set(now.uid, now);
    for (const name of before === undefined ? [] : namesIn(before)) this.removeDependent(name);
    this.dropIfUnused(now);
  }

  /** Looks up the results of names that rows have begun to depend on. */
  async lookUp(query: (names: readonly WorkloadName[]) => Promise<readonly Outcome[]>): Promise<void> {
    if (this.unknown.size === 0) return;
    const asked = new Map(this.unknown);
    this.unknown.clear();
    const found = await query([...asked.keys()].map(nameIn)).catch((error: unknown) => {
      for (const [key, entry] of asked) if (this.entries.get(key) === entry) this.unknown.set(key, entry);
      throw error;
    });
    // An entry that was created during the query may have missed a result: it is looked up again.
    for (const entry of asked.values()) entry.known = true;
    for (const outcome of found) {
      const entry = asked.get(keyOf(outcome));
      if (entry !== undefined && isNewer(outcome, entry.finished)) entry.finished = outcome;
    }
  }

  /** Result of the newest workload of this name; undefined: none was ever submitted. */
  of(name: WorkloadName): Ended | 'active' | undefined {
    const entry = this.entries.get(keyOf(name));
    if (entry === undefined) return undefined;
    // Until the look-up it may exist.
    if (!entry.known && entry.dependents > 0) return 'active';
    const newest = [...entry.active.values()].some((namesake) => isNewer(namesake, entry.finished));
    return newest ? 'active' : entry.finished?.result;
  }

  clear(): void {
    this.entries.clear();
    this.unknown.clear();
  }

  private addDependent(name: WorkloadName): void {
    const entry = this.entryOf(name);
    entry.dependents += 1;
    if (entry.dependents === 1) this.unknown.set(keyOf(name), entry);
  }

  private removeDependent(name: WorkloadName): void {
    const entry = this.entryOf(name);
    entry.dependents -= 1;
    if (entry.dependents === 0) {
      this.entries.set(keyOf(name), { ...UNKNOWN, active: entry.active });
      this.unknown.delete(keyOf(name));
    }
    this.dropIfUnused(name);
  }

  private entryOf(name: WorkloadName): Entry {
    const key = keyOf(name);
    const entry = this.entries.get(key) ?? { ...UNKNOWN, active: new Map() };
    this.entries.set(key, entry);
    return entry;
  }

  private dropIfUnused(name: WorkloadName): void {
    const entry = this.entries.get(keyOf(name));
    if (entry?.active.size === 0 && entry.dependents === 0) this.entries.delete(keyOf(name));
  }
}

/** The names that an active row depends on. */
function namesIn({ phase, namespace, after }: WorkloadRow): WorkloadName[] {
  return phase === 'Finished' ? [] : after.map(({ name }) => ({ namespace, name }));
}

function outcomeOf(row: WorkloadRow): Outcome {
  const { namespace, name, submittedAt, seq, jobid } = row;
  return { namespace, name, submittedAt, seq, jobid, result: endedAs(row) };
}

/** Neither part can contain a slash. */
function keyOf({ namespace, name }: WorkloadName): string {
  return `${namespace}/${name}`;
}

function nameIn(key: string): WorkloadName {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
