/**
 * Group commit: single items in, one bulk statement out. While a statement is
 * under way the next items gather, so the batch grows with the load and no
 * item ever waits for a timer.
 */
export class GroupCommit<Item, Result> {
  private waiting: Pending<Item, Result>[] = [];
  private underWay = false;

  /**
   * @param write the bulk statement; resolves to what it said of each item, by the item's key
   * @param keyOf the key of an item
   */
  constructor(
    private readonly write: (items: readonly Item[]) => Promise<ReadonlyMap<string, Result>>,
    private readonly keyOf: (item: Item) => string,
  ) {}

  /** Resolves once the item is committed, to undefined when it was left alone; rejects with the statement's error. */
  add(item: Item): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.underWay) {
        this.underWay = true;
        // The current turn of the event loop may add more: one macrotask later they go together.
        setImmediate(() => void this.flush());
      }
    });
  }

  private async flush(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        const results = await this.write(batch.map(({ item }) => item));
        for (const { item, resolve } of batch) resolve(results.get(this.keyOf(item)));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.underWay = false;
  }
}

interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | undefined) => void;
  readonly reject: (error: unknown) => void;
}
