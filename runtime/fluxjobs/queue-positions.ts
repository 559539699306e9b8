/** The positions of waiting workloads in their queues; 1 is next. Computed on demand, once per change. */
import type { WorkloadCache } from '../queue/workload-cache';
import { inOrder, type Precedence } from '../scheduler/pass/order';

/** The positions of so many workloads per queue are refreshed periodically; the others with their next status write. */
const REFRESHED = 100;

export class QueuePositions {
  private positions: ReadonlyMap<string, number> | undefined;

  /** @param precedence the order in which a pass would consider rows now */
  constructor(
    private readonly workloadCache: Pick<WorkloadCache, 'active'>,
    private readonly precedence: () => Precedence,
  ) {}

  invalidate(): void {
    this.positions = undefined;
  }

  /** Undefined for a row that is not waiting. */
  of(uid: string): number | undefined {
    return this.all().get(uid);
  }

  /** The uids at the front of each queue. */
  *front(): Iterable<string> {
    for (const [uid, position] of this.all()) if (position <= REFRESHED) yield uid;
  }

  private all(): ReadonlyMap<string, number> {
    if (this.positions !== undefined) return this.positions;
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
    return positions;
  }
}
