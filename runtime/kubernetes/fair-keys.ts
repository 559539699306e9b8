/** What waits, in groups that take turns: a group with thousands of keys does not keep the key of another one waiting. */
export class FairKeys<K = string> {
  /** The keys of each group in order of arrival; the groups in the order of their turns. */
  readonly #groups = new Map<string, Set<K>>();
  #size = 0;

  constructor(private readonly groupOf: (key: K) => string) {}

  get size(): number {
    return this.#size;
  }

  has(key: K): boolean {
    return this.#groups.get(this.groupOf(key))?.has(key) ?? false;
  }

  *[Symbol.iterator](): Iterator<K> {
    for (const keys of this.#groups.values()) yield* keys;
  }

  add(key: K): void {
    const group = this.groupOf(key);
    const keys = this.#groups.get(group) ?? new Set();
    this.#size += keys.has(key) ? 0 : 1;
    this.#groups.set(group, keys.add(key));
  }

  delete(key: K): void {
    const group = this.groupOf(key);
    const keys = this.#groups.get(group);
    if (keys?.delete(key) !== true) return;
    this.#size -= 1;
    if (keys.size === 0) this.#groups.delete(group);
  }

  /** Removes the first key of the next group that may have a turn. @returns undefined if none may */
  take(mayRun: (group: string) => boolean): K | undefined {
    for (const [group, keys] of this.#groups) {
      if (!mayRun(group)) continue;
      const [key] = keys;
      this.delete(key!);
      // Its next turn comes after those of all others.
      if (this.#groups.delete(group)) this.#groups.set(group, keys);
      return key;
    }
    return undefined;
  }

  clear(): void {
    this.#groups.clear();
    this.#size = 0;
  }
}
