/** The quota that a workload lacks, and what others would return of it. */
import type { WorkloadRow } from '../../queue/workload';
import type { Lack } from './quota-account';
import { plus, type Usage } from './usage';
import type { Room } from './victims';

type Owner = Pick<WorkloadRow, 'queue' | 'user'>;

export interface QuotaHolder {
  readonly row: Owner;
  /** What the row holds, by dimension. */
  readonly holds: Usage;
  /** Whether it leaves because its queue has borrowed: only what was borrowed is returned. @default true */
  readonly isBorrower?: boolean;
}

export interface Charges<A> {
  /** Whether the account counts what the row holds. */
  isCharged(row: Owner, account: A): boolean;
  /** How much more than its own quota the queue holds, by dimension. */
  borrowedBy(queue: string): Usage;
}

interface Returned {
  readonly most: Usage;
  readonly amounts: Usage;
}

interface Open<A> {
  readonly account: A;
  readonly short: Usage;
  /** Dimensions that are lacking. */
  readonly lacking: readonly number[];
  /** What is still lacking without those that are released; below 0: more than enough. */
  readonly left: Usage;
  /** By queue. */
  readonly returned: Map<string, Returned>;
}

/** Another queue returns no more than it borrowed: the rest is its own. */
export class QuotaRoom<C extends QuotaHolder, A = Lack['account']> implements Room<C> {
  private readonly lacks: readonly Open<A>[];
  /** By queue: what its workloads hold that have to leave already. */
  private readonly leaving = new Map<string, Usage>();

  /** @param lacks what each account of the row lacks */
  constructor(
    private readonly row: Pick<Owner, 'queue'>,
    lacks: readonly { readonly account: A; readonly short: Usage }[],
    private readonly charges: Charges<A>,
  ) {
    this.lacks = lacks
      .filter(({ short }) => short.some((amount) => amount > 0))
      .map(({ account, short }) => ({
        account,
        short,
        lacking: [...short.keys()].filter((i) => short[i]! > 0),
        left: short.slice(),
        returned: new Map(),
      }));
  }

  /** The sum over accounts and dimensions, each in parts of what it lacked at first. */
  get missing(): number {
    let sum = 0;
    for (const { short, lacking, left } of this.lacks)
      for (const i of lacking) sum += Math.max(0, left[i]!) / short[i]!;
    return sum;
  }

  release(holder: C): void {
    this.shift(holder, 1);
  }

  /** Notes one that has to leave already: what it returns, its queue does not owe any more. */
  noteLeaving({ row, holds }: C): void {
    const before = this.leaving.get(row.queue);
    this.leaving.set(row.queue, plus(holds, before));
  }

  take(holder: C): void {
    this.shift(holder, -1);
  }

  /** Whether every other queue would still have borrowed something without the largest victim that it loses. */
  isLawful(chosen: readonly C[]): boolean {
    const borrowers = chosen.filter(({ isBorrower }) => isBorrower !== false);
    const byQueue = Map.groupBy(borrowers, ({ row }) => row.queue);
    return [...byQueue.values()].every((own) =>
      own.some((last) =>
        this.mayLose(
          last,
          own.filter((one) => one !== last),
        ),
      ),
    );
  }

  /** Of each queue the first that together are what it borrowed: of these, every set is lawful. */
  lawfulOf<V extends C>(candidates: readonly V[]): readonly V[] {
    const before = new Map<string, V[]>();
    return candidates.filter((candidate) => {
      if (candidate.isBorrower === false) return true;
      const own = before.get(candidate.row.queue) ?? [];
      before.set(candidate.row.queue, own);
      if (!this.mayLose(candidate, own)) return false;
      own.push(candidate);
      return true;
    });
  }

  /** Whether the queue of the row has still borrowed some of what is lacking when others of it are gone. */
  private mayLose({ row }: C, gone: readonly C[]): boolean {
    return this.lacks.some(({ account, short }) => {
      if (!this.charges.isCharged(row, account)) return false;
      const most = this.mostOf(row.queue, short.length);
      const leaving = this.leaving.get(row.queue);
      return short.some(
        (amount, i) =>
          amount > 0 && gone.reduce((sum, { holds }) => sum + holds[i]!, leaving?.[i] ?? 0) < most[i]!,
      );
    });
  }

  private shift({ row, holds }: C, sign: 1 | -1): void {
    for (const { account, lacking, left, returned } of this.lacks) {
      if (!this.charges.isCharged(row, account)) continue;
      const known = returned.get(row.queue) ?? this.nothingFrom(row.queue, holds.length);
      returned.set(row.queue, known);
      const { most, amounts } = known;
      for (const i of lacking) {
        const before = Math.min(most[i]!, amounts[i]!);
        amounts[i]! += sign * holds[i]!;
        left[i]! -= Math.min(most[i]!, amounts[i]!) - before;
      }
    }
  }

  private nothingFrom(queue: string, dimensions: number): Returned {
    return { most: this.mostOf(queue, dimensions), amounts: new Float64Array(dimensions) };
  }

  private mostOf(queue: string, dimensions: number): Usage {
    if (queue === this.row.queue) return new Float64Array(dimensions).fill(Infinity);
    return this.charges.borrowedBy(queue).map((amount) => Math.max(0, amount));
  }
}
