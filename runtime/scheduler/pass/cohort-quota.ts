/**
 * What the queues of a cohort own, lend and keep. A queue owns its quota; of a resource that only others of its cohort
 * have a quota of, it owns nothing. It lends what it owns up to its lending limit and keeps the rest, used or not.
 */
import type { QueueSettings, Quota } from '../../queue/settings';
import type { Planner } from '../../resources/planner';
import { DIMENSIONS, limitsOf, type Usage } from './usage';

type Member = Pick<QueueSettings, 'name' | 'quota' | 'lending'>;

const KINDS = [...DIMENSIONS, 'nodes'] as const;

export function byCohort(queues: readonly QueueSettings[]): Map<string, QueueSettings[]> {
  const lenders = queues.filter(({ cohort }) => cohort !== null);
  return Map.groupBy(lenders, ({ cohort }) => cohort!);
}

/** A resource that no queue of the cohort has a quota of is not limited. */
export function ownedQuota(quota: Quota, members: readonly Pick<Member, 'quota'>[]): Quota {
  const named = namedKinds.get(members) ?? kindsOf(members);
  namedKinds.set(members, named);
  return each((kind) => quota[kind] ?? (named.has(kind) ? 0 : Infinity));
}

/** Each of a thousand members asks for it. */
const namedKinds = new WeakMap<readonly Pick<Member, 'quota'>[], ReadonlySet<string>>();

function kindsOf(members: readonly Pick<Member, 'quota'>[]): ReadonlySet<string> {
  return new Set(KINDS.filter((kind) => members.some((member) => member.quota[kind] !== undefined)));
}

/** What the queues of a cohort own together. */
export function totalOf(members: readonly Pick<Member, 'quota'>[]): Quota {
  const owned = members.map(({ quota }) => ownedQuota(quota, members));
  return each((kind) => owned.reduce((sum, quota) => sum + (quota[kind] ?? Infinity), 0));
}

/** What the queues of a cohort lend each other, by dimension. */
export function lendableOf(members: readonly Member[]): Usage {
  const sum = new Float64Array(DIMENSIONS.length);
  for (const member of members) {
    const owned = limitsOf(ownedQuota(member.quota, members));
    const kept = keptBy(member);
    for (let i = 0; i < sum.length; i++) sum[i]! += owned[i]! - kept[i]!;
  }
  return sum;
}

/** @param owned see `ownedQuota` */
export function withBorrowing(owned: Quota, borrowing: Quota): Quota {
  return each((kind) => (owned[kind] ?? Infinity) + (borrowing[kind] ?? Infinity));
}

function each(amount: (kind: (typeof KINDS)[number]) => number): Quota {
  return Object.fromEntries(KINDS.map((kind) => [kind, amount(kind)]).filter(([, n]) => n !== Infinity));
}

/** The usage and the limits of a cohort as one of its queues sees them. */
export interface Lent {
  readonly planner: Planner;
  readonly limits: Usage;
}

interface Keeper {
  readonly name: string;
  readonly used: Planner;
  readonly kept: Usage;
}

/**
 * What a cohort lends to each of its queues: what the others keep is not in its limits, and what they use of that not in
 * its usage.
 */
export class Lending {
  private readonly keepers: readonly Keeper[];
  private readonly views = new Map<string, Lent>();

  /** @param used what each queue uses */
  constructor(
    members: readonly Member[],
    used: (queue: string) => Planner,
    private readonly cohort: Lent,
    private readonly now: number,
  ) {
    this.keepers = members
      .map((member) => ({ name: member.name, used: used(member.name), kept: keptBy(member) }))
      .filter(({ kept }) => kept.some((amount) => amount > 0));
  }

  /** A queue of the cohort uses more or less than before. */
  markChanged(): void {
    this.views.clear();
  }

  /** @returns undefined if no other queue keeps anything */
  to(queue: string): Lent | undefined {
    const others = this.keepers.filter(({ name }) => name !== queue);
    if (others.length === 0) return undefined;
    const known = this.views.get(queue);
    if (known !== undefined) return known;
    const planner = this.cohort.planner.clone();
    const limits = this.cohort.limits.slice();
    for (const { used, kept } of others) {
      kept.forEach((amount, i) => {
        limits[i]! -= amount;
      });
      takeOut(planner, used, kept, this.now);
    }
    const view = { planner, limits };
    this.views.set(queue, view);
    return view;
  }
}

function keptBy({ quota, lending }: Member): Usage {
  const owned = limitsOf(quota);
  const lent = limitsOf(lending);
  return owned.map((amount, i) => (amount === Infinity ? 0 : Math.max(0, amount - lent[i]!)));
}

/** Takes what a queue uses of its kept quota out of the usage of the cohort. */
function takeOut(planner: Planner, used: Planner, kept: Usage, now: number): void {
  const points = [now, ...used.pointsAfter(now)];
  points.forEach((from, i) => {
    const own = kept.map((amount, k) => -Math.min(amount, used.usedAt(k, from, now)));
    const start = i === 0 ? Number.NEGATIVE_INFINITY : from;
    planner.add(start, points[i + 1] ?? Number.POSITIVE_INFINITY, own);
  });
}
