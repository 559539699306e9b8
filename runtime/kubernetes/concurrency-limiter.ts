import { GroupSlots } from '../group-slots';
import { FairKeys } from './fair-keys';

type Priority = 'normal' | 'low';

interface Waiting {
  readonly group: string;
  readonly start: () => void;
}

const groupOf = ({ group }: Waiting) => group;

/**
 * Limits the writes in flight: a pass that releases 5,000 workloads must not open 5,000 connections. Groups take turns, and one of
 * them has at most half of the writes in flight: slow answers to those of one namespace must not keep all others waiting. Writes
 * of low priority (Events) run while no other write can.
 */
export class ConcurrencyLimiter {
  readonly #slots: GroupSlots;
  readonly #waiting: Readonly<Record<Priority, FairKeys<Waiting>>> = {
    normal: new FairKeys(groupOf),
    low: new FairKeys(groupOf),
  };

  constructor(limit: number) {
    this.#slots = new GroupSlots(limit, Math.ceil(limit / 2));
  }

  /** The number of writes that wait for others to finish. */
  get waiting(): number {
    return this.#waiting.normal.size + this.#waiting.low.size;
  }

  /** Runs the write as soon as the limit allows, in the order of calls of its group. */
  async run<T>(priority: Priority, group: string, write: () => Promise<T>): Promise<T> {
    if (this.#slots.isFree(group)) this.#slots.use(group);
    else await new Promise<void>((start) => this.#waiting[priority].add({ group, start }));
    try {
      return await write();
    } finally {
      this.#slots.free(group);
      this.#startNext();
    }
  }

  #startNext(): void {
    const { isFree } = this.#slots;
    const next = this.#waiting.normal.take(isFree) ?? this.#waiting.low.take(isFree);
    if (next === undefined) return;
    this.#slots.use(next.group);
    next.start();
  }
}
