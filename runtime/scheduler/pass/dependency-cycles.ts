/** Workloads that wait for each other, or for one that can never start: their users are told. */
import { isNewer, type WorkloadRow } from '../../queue/workload';
import { NEVER_MET, type OutcomeOf, unmet } from './dependencies';

type Row = Pick<
  WorkloadRow,
  | 'uid'
  | 'namespace'
  | 'name'
  | 'submittedAt'
  | 'seq'
  | 'jobid'
  | 'phase'
  | 'after'
  | 'isAfterMet'
  | 'reason'
  | 'message'
>;

export class DependencyCycles {
  private found: Components | undefined;

  /** @param rows all active rows of all queues; asked for only if a workload waits for another one */
  constructor(
    private readonly rows: () => readonly Row[],
    private readonly outcomeOf: OutcomeOf = () => undefined,
  ) {}

  /** `waits for b, which waits for a in turn; change …`; undefined for a workload that is in no cycle. */
  textOf({ uid, name }: Pick<WorkloadRow, 'uid' | 'name'>): string | undefined {
    const other = this.components().partnerOf(uid);
    if (other === undefined) return undefined;
    return other === name
      ? 'waits for itself; change its fluxqueue/after'
      : `waits for ${other}, which waits for ${name} in turn; change fluxqueue/after of one of them`;
  }

  /** Whether this one waits for what can never come, at the end of a chain of any length too. */
  neverStarts(namespace: string, name: string): boolean {
    return this.components().neverStarts(namespace, name);
  }

  private components(): Components {
    this.found ??= new Components(this.rows(), this.outcomeOf);
    return this.found;
  }
}

/** A pass searches so many dependencies at most, about 15 ms: of more, cycles are not told, and still wait. */
const MOST_DEPENDENCIES = 100_000;

/** A row that the search has reached. */
interface Visit {
  readonly row: Row;
  readonly targets: readonly Row[];
  /** How many targets have been looked at. */
  looked: number;
  readonly index: number;
  /** The lowest index that can be reached from here. */
  lowest: number;
}

/** Tarjan's strongly connected components, without recursion: each row and each dependency is visited once. */
class Components {
  /** uid -> name of a workload that it waits for, and that waits for it. */
  private readonly partners = new Map<string, string>();
  private readonly never = new Set<Row>();
  private readonly visits = new Map<Row, Visit>();
  private readonly open: Visit[] = [];
  private readonly isOpen = new Set<Row>();
  private readonly byNamespace = new Map<string, Map<string, Row>>();

  constructor(
    rows: readonly Row[],
    private readonly outcomeOf: OutcomeOf,
  ) {
    const dependencies = rows.reduce((sum, { after }) => sum + after.length, 0);
    if (dependencies > MOST_DEPENDENCIES) return;
    for (const row of rows) this.index(row);
    for (const row of rows) if (isWaiting(row) && !this.visits.has(row)) this.search(row);
  }

  partnerOf(uid: string): string | undefined {
    return this.partners.get(uid);
  }

  neverStarts(namespace: string, name: string): boolean {
    const row = this.byNamespace.get(namespace)?.get(name);
    return row !== undefined && this.never.has(row);
  }

  /** Of several workloads of one name the newest counts. */
  private index(row: Row): void {
    const names = this.byNamespace.get(row.namespace) ?? new Map<string, Row>();
    this.byNamespace.set(row.namespace, names);
    const known = names.get(row.name);
    if (known === undefined || isNewer(row, known)) names.set(row.name, row);
  }

  private search(start: Row): void {
    const path = [this.enter(start)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const target = top.targets[top.looked++];
      if (target !== undefined) this.look(target, top, path);
      else this.leave(path);
    }
  }

  private look(target: Row, from: Visit, path: Visit[]): void {
    const known = this.visits.get(target);
    if (known === undefined) path.push(this.enter(target));
    else if (this.isOpen.has(target)) from.lowest = Math.min(from.lowest, known.index);
  }

  private leave(path: Visit[]): void {
    const visit = path.pop()!;
    const parent = path.at(-1);
    if (parent !== undefined) parent.lowest = Math.min(parent.lowest, visit.lowest);
    if (visit.lowest === visit.index) this.close(visit);
  }

  private enter(row: Row): Visit {
    const names = this.byNamespace.get(row.namespace)!;
    const after = isWaiting(row) ? row.after : [];
    const targets = after.map(({ name }) => names.get(name)).filter((target) => target !== undefined);
    const index = this.visits.size;
    const visit = { row, targets, looked: 0, index, lowest: index };
    this.visits.set(row, visit);
    this.open.push(visit);
    this.isOpen.add(row);
    return visit;
  }

  /**
   * The rows that were entered since this one and are still open are one component with it. What they wait for outside of
   * it is closed already.
   */
  private close(first: Visit): void {
    const component = this.open.splice(this.open.lastIndexOf(first));
    const members = new Set(component.map(({ row }) => row));
    for (const { row, targets } of component) {
      this.isOpen.delete(row);
      const partner = targets.find((target) => members.has(target));
      if (partner !== undefined) this.partners.set(row.uid, partner.name);
      if (partner !== undefined || targets.some((target) => this.never.has(target)) || this.isRefused(row))
        this.never.add(row);
    }
  }

  private isRefused(row: Row): boolean {
    const { phase, reason, message, after, namespace } = row;
    const said = isWaiting(row) ? unmet(after, namespace, this.outcomeOf) : undefined;
    const ofQuota = phase === 'Waiting' && reason === 'QuotaExceeded' ? message : undefined;
    return [said, ofQuota].some((text) => text?.startsWith(NEVER_MET));
  }
}

function isWaiting({ phase, after, isAfterMet }: Row): boolean {
  return phase === 'Waiting' && after.length > 0 && !isAfterMet;
}
