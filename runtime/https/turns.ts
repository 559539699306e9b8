/**
 * Requests to a server that authenticates nobody take turns by the address of their client: so many at once, so many of one
 * address, and the next turn is of whoever used the server least. Used is the time from the beginning to the end of a turn, and half
 * of it is forgotten in ten seconds. So a client that sends large bodies, or sends them slowly, waits for itself.
 */
import { GroupSlots } from '../group-slots';

interface Waiting {
  readonly isGone: () => boolean;
  readonly begin: () => void;
}

const HALF_LIFE_MS = 10_000;
/** Less than this is forgotten. Milliseconds. */
const NOTHING_MS = 0.1;

export class Turns {
  #isScheduled = false;
  readonly #slots: GroupSlots;
  readonly #waiting = new Map<string, Waiting[]>();
  /** Milliseconds, as of `usedAt`. */
  readonly #used = new Map<string, number>();
  #usedAt: number;

  /** @param now milliseconds */
  constructor(
    { all, address }: { readonly all: number; readonly address: number },
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#slots = new GroupSlots(all, address);
    this.#usedAt = now();
  }

  /** Whether somebody waits only because all turns are taken. */
  get isFull(): boolean {
    return this.#slots.isFull && this.#leastUsing() !== undefined;
  }

  /** Whether requests of this address wait for its own ones. */
  waitsForItself(address: string): boolean {
    return this.#waiting.has(address) && !this.#slots.hasShare(address);
  }

  /**
   * Resolves when a turn of this address begins, or never, if the client has gone before.
   * @returns ends the turn
   */
  take(address: string, isGone: () => boolean): Promise<() => void> {
    return new Promise((resolve) => {
      const begin = () => resolve(this.#begin(address));
      const own = this.#waiting.get(address) ?? [];
      own.push({ isGone, begin });
      this.#waiting.set(address, own);
      this.#nextSoon();
    });
  }

  #begin(address: string): () => void {
    const began = this.now();
    this.#slots.use(address);
    return () => {
      this.#slots.free(address);
      this.#forget();
      this.#used.set(address, (this.#used.get(address) ?? 0) + this.now() - began);
      this.#nextSoon();
    };
  }

  /** What has arrived meanwhile is read first: the next turn may be of another address. */
  #nextSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#next();
    });
  }

  #next(): void {
    while (!this.#slots.isFull) {
      const address = this.#leastUsing();
      if (address === undefined) return;
      const own = this.#waiting.get(address)!;
      const first = own.shift();
      if (own.length === 0) this.#waiting.delete(address);
      if (first?.isGone() === false) first.begin();
    }
  }

  #leastUsing(): string | undefined {
    let [found, least]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const address of this.#waiting.keys()) {
      const used = this.#used.get(address) ?? 0;
      if (used < least && this.#slots.hasShare(address)) [found, least] = [address, used];
    }
    return found;
  }

  #forget(): void {
    const now = this.now();
    const rest = 0.5 ** ((now - this.#usedAt) / HALF_LIFE_MS);
    this.#usedAt = now;
    for (const [address, used] of this.#used)
      if (used * rest < NOTHING_MS) this.#used.delete(address);
      else this.#used.set(address, used * rest);
  }
}
