/** What runs at the same time: so many in all, and so many of one group. */
export class GroupSlots {
  readonly #usedBy = new Map<string, number>();
  #used = 0;

  constructor(
    private readonly most: number,
    private readonly mostOfGroup = most,
  ) {}

  get isFull(): boolean {
    return this.#used >= this.most;
  }

  readonly isFree = (group: string): boolean => !this.isFull && this.hasShare(group);

  /** Whether the group uses fewer than it may. */
  hasShare(group: string): boolean {
    return (this.#usedBy.get(group) ?? 0) < this.mostOfGroup;
  }

  use(group: string): void {
    this.#used += 1;
    this.#usedBy.set(group, (this.#usedBy.get(group) ?? 0) + 1);
  }

  free(group: string): void {
    this.#used -= 1;
    const used = (this.#usedBy.get(group) ?? 0) - 1;
    if (used > 0) this.#usedBy.set(group, used);
    else this.#usedBy.delete(group);
  }
}
