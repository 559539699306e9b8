/** Places in the queues: 1 is next. Computed when asked, once per change. */
import type { WorkloadCache } from '../queue/workload-cache';
import { inOrder, type Precedence } from '../scheduler/pass/order';

/** Only the first in line are shown anew all the time; the others when something else of them changes. */
const SHOWN = 100;

export class Positions {
  private places: ReadonlyMap<string, number> | undefined;

  /** @param precedence as passes order by it now */
  constructor(
    private readonly workloadCache: WorkloadCache,
    private readonly precedence: () => Precedence,
  ) {}

  changed(): void {
    this.places = undefined;
  }

  /** Undefined for a row that does not wait. */
  of(uid: string): number | undefined {
    return this.all().get(uid);
  }

  /** uids of the first in line. */
  *first(): Iterable<string> {
    for (const [uid, place] of this.all()) if (place <= SHOWN) yield uid;
  }

  private all(): ReadonlyMap<string, number> {
    if (this.places !== undefined) return this.places;
    const waiting = inOrder(
      [...this.workloadCache.active()].filter(({ phase }) => phase === 'Waiting'),
      this.precedence(),
    );
    const next = new Map<string, number>();
    const places = new Map<string, number>();
    for (const { uid, queue } of waiting) {
      const place = (next.get(queue) ?? 0) + 1;
      next.set(queue, place);
      places.set(uid, place);
    }
    this.places = places;
    return places;
  }
}
