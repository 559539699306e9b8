/**
 * Preemption by fair share: a workload that lacks quota of its cohort takes the place of workloads of other queues, if its queue has then
 * a smaller share of what the cohort lends than each of these had. So the largest share of those that are compared becomes smaller with
 * each such eviction, and two queues never take the same quota from each other in turn.
 */
import type { FairSharing } from '../../../constructs/api/policies';
import { plus, type Usage } from './usage';
import { cheapestFirst, type EvictionCandidate, type Room, togetherIn, victims } from './victims';

export interface SharingVictim extends EvictionCandidate {
  readonly row: { readonly queue: string };
  readonly holds: Usage;
}

export interface Shares {
  /** What the queue holds beyond its own quota, by dimension. */
  beyondOf(queue: string): Usage;
  /** The share of a queue that holds so much beyond its own quota. */
  shareOf(queue: string, beyond: Usage): number;
  /** The queue of the workload that lacks quota. */
  readonly queue: string;
  /** What this queue would hold beyond its own quota with the workload. */
  readonly wanted: Usage;
}

export interface Sharing<C> {
  readonly shares: Shares;
  readonly strategy: Exclude<FairSharing, 'Never'>;
  /** What is missing for a start. */
  readonly room: Room<C>;
  /** Workloads of its own queue that it may evict by priority. */
  readonly own: readonly C[];
  readonly others: readonly C[];
}

export interface SharingChoice<C> {
  readonly victims: readonly C[];
  /** Whether the workload may hold so much more than was wanted. */
  allows(more: Usage): boolean;
}

/** Shares are quotients: sums in another order may differ by this. */
export const ROUNDING = 1e-9;

/** @returns undefined if too little would be free, or its queue would have too large a share */
export function sharingVictims<C extends SharingVictim>(sharing: Sharing<C>): SharingChoice<C> | undefined {
  const { room, own, shares } = sharing;
  for (const victim of own) room.release(victim);
  const { gathered, isLawful } = gather(sharing);
  const isEnough = room.missing === 0;
  for (const victim of [...own, ...gathered]) room.take(victim);
  if (!isEnough) return undefined;
  const chosen = victims(togetherIn(room, new OwnShare<C>(shares, isLawful)), [...own, ...gathered]);
  if (chosen === undefined) return undefined;
  const left = minus(
    shares.wanted,
    chosen.filter(({ row }) => row.queue === shares.queue),
  );
  const allows = (more: Usage) => isLawful(shares.shareOf(shares.queue, plus(left, more)));
  return { victims: chosen, allows };
}

interface Gathered<C> {
  readonly gathered: readonly C[];
  isLawful(share: number): boolean;
}

/** Of the queue with the largest share one after the other, until there is enough room. */
function gather<C extends SharingVictim>({ shares, strategy, room, own, others }: Sharing<C>): Gathered<C> {
  const share = shares.shareOf(shares.queue, minus(shares.wanted, own));
  const lines = [...Map.groupBy(others, ({ row }) => row.queue)].map(
    ([queue, all]) => new Line(shares, queue, inOrder(shares, all), { strategy, share }),
  );
  const gathered: C[] = [];
  while (room.missing > 0) {
    const open = lines.filter((line) => line.next !== undefined);
    if (open.length === 0) break;
    const largest = open.reduce((best, line) => (line.share > best.share ? line : best));
    const victim = largest.take();
    room.release(victim);
    gathered.push(victim);
  }
  return { gathered, isLawful: (one) => lines.every((line) => line.allows(one)) };
}

/** The lowest priority first, then those that lose least work for the share that they hold, of equal ones the youngest. */
function inOrder<C extends SharingVictim>({ shareOf }: Shares, all: readonly C[]): readonly C[] {
  const prices = new Map(all.map((one) => [one, one.loss / shareOf(one.row.queue, one.holds)]));
  return all.toSorted(
    (a, b) => a.priority - b.priority || prices.get(a)! - prices.get(b)! || cheapestFirst(a, b),
  );
}

/** The workloads of one queue that may go, as long as its share stays the larger one. */
class Line<C extends SharingVictim> {
  private readonly beyond: Usage;
  private index = 0;
  /** The share of the newcomer has to be less than that which the queue had before its last victim. */
  private below = Infinity;
  /** And at most what the queue has left. */
  private atMost = Infinity;

  constructor(
    private readonly shares: Shares,
    private readonly queue: string,
    private readonly candidates: readonly C[],
    private readonly newcomer: { readonly strategy: Sharing<C>['strategy']; readonly share: number },
  ) {
    this.beyond = shares.beyondOf(queue).slice();
    this.skip();
  }

  get share(): number {
    return this.shares.shareOf(this.queue, this.beyond);
  }

  get next(): C | undefined {
    return this.candidates[this.index];
  }

  take(): C {
    const victim = this.next!;
    this.below = this.share;
    if (this.isFinal) this.atMost = this.shareWithout(victim);
    victim.holds.forEach((amount, i) => {
      this.beyond[i]! -= amount;
    });
    this.index += 1;
    this.skip();
    return victim;
  }

  allows(share: number): boolean {
    return share < this.below - ROUNDING && share <= this.atMost + ROUNDING;
  }

  private get isFinal(): boolean {
    return this.newcomer.strategy === 'LessThanOrEqualToFinalShare';
  }

  private shareWithout(victim: C): number {
    return this.shares.shareOf(this.queue, minus(this.beyond, [victim]));
  }

  /** Who may not go now may not go later either: the share of its queue only becomes smaller. */
  private skip(): void {
    const { share } = this.newcomer;
    while (this.next !== undefined) {
      const isSmaller = share < this.share - ROUNDING;
      if (isSmaller && (!this.isFinal || share <= this.shareWithout(this.next) + ROUNDING)) return;
      this.index += 1;
    }
  }
}

/** Without victims of its own queue the workload may come to too large a share. */
class OwnShare<C extends SharingVictim> implements Room<C> {
  private readonly left: Usage;

  constructor(
    private readonly shares: Shares,
    private readonly isLawful: (share: number) => boolean,
  ) {
    this.left = shares.wanted.slice();
  }

  get missing(): number {
    const share = this.shares.shareOf(this.shares.queue, this.left);
    return this.isLawful(share) ? 0 : 1 + share;
  }

  release(victim: C): void {
    this.shift(victim, -1);
  }

  take(victim: C): void {
    this.shift(victim, 1);
  }

  private shift({ row, holds }: C, sign: 1 | -1): void {
    if (row.queue !== this.shares.queue) return;
    holds.forEach((amount, i) => {
      this.left[i]! += sign * amount;
    });
  }
}

function minus(usage: Usage, victims: readonly { readonly holds: Usage }[]): Usage {
  const left = usage.slice();
  for (const { holds } of victims) for (let i = 0; i < left.length; i++) left[i]! -= holds[i]!;
  return left;
}
