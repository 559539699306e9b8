/**
 * The positions of waiting workloads in their queues; 1 is next. Computed on demand after a change. Of many workloads they
 * are computed at most once per second: sorting 10,000 takes longer than to write a FluxJob.
 */
import type { WorkloadCache } from '../queue/workload-cache';
import { inOrder, type Precedence } from '../scheduler/pass/order';

/** The positions of so many workloads per queue are refreshed periodically, and those behind them when they are wrong. */
const REFRESHED = 100;
/** A position is wrong that differs from the true one by more than this part of it. */
const WRONG_PART = 1 / 10;
/** So many waiting workloads are sorted after every change. */
const FEW = 500;
/** Seconds for which the positions of more workloads are used. */
const USED_SECONDS = 1;

export class QueuePositions {
  private positions: ReadonlyMap<string, number> = new Map();
  private isCurrent = false;
  /** Unix seconds. */
  private computedAt = Number.NEGATIVE_INFINITY;

  /** @param precedence the order in which a pass would consider rows now */
  constructor(
    private readonly workloadCache: Pick<WorkloadCache, 'active' | 'byUid'>,
    private readonly precedence: () => Precedence,
    /** Unix seconds. */
    private readonly now: () => number,
  ) {}

  invalidate(): void {
    this.isCurrent = false;
  }

  /** Undefined for a row that is not waiting, or that began to wait less than a second ago behind many others. */
  of(uid: string): number | undefined {
    return this.workloadCache.byUid(uid)?.phase === 'Waiting' ? this.all().get(uid) : undefined;
  }

  /** The uids at the front of each queue. */
  *front(): Iterable<string> {
    for (const [uid, position] of this.all()) if (position <= REFRESHED) yield uid;
  }

  /**
   * The uids behind the front whose users are shown a wrong position, those first that are furthest from the truth.
   * @param shownOf the position that a FluxJob shows
   */
  wrong(shownOf: (uid: string) => number | undefined): readonly string[] {
    const found: { readonly uid: string; readonly error: number }[] = [];
    for (const [uid, position] of this.all()) {
      const shown = position > REFRESHED ? shownOf(uid) : undefined;
      const error = Math.abs((shown ?? position) - position) / position;
      if (error > WRONG_PART) found.push({ uid, error });
    }
    return found.sort((a, b) => b.error - a.error).map(({ uid }) => uid);
  }

  private all(): ReadonlyMap<string, number> {
    const isRecent = this.positions.size > FEW && this.now() - this.computedAt < USED_SECONDS;
    if (this.isCurrent || isRecent) return this.positions;
    const waiting = inOrder(
      [...this.workloadCache.active()].filter(({ phase }) => phase === 'Waiting'),
      this.precedence(),
    );
    const last = new Map<string, number>();
    const positions = new Map<string, number>();
    for (const { uid, queue } of waiting) {
      const position = (last.get(queue) ?? 0) + 1;
      last.set(queue, position);
      positions.set(uid, position);
    }
    this.positions = positions;
    this.isCurrent = true;
    this.computedAt = this.now();
    return positions;
  }
}
