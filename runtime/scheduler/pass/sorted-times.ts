/** Times in ascending order, each as often as it was added: the plans of a pass ask again and again, and change few. */
export class SortedTimes {
  private readonly times: number[] = [];
  private readonly counts = new Map<number, number>();

  add(time: number): void {
    const count = this.counts.get(time) ?? 0;
    this.counts.set(time, count + 1);
    if (count === 0) this.times.splice(this.placeAfter(time), 0, time);
  }

  /** Only what was added. */
  remove(time: number): void {
    const count = this.counts.get(time)!;
    if (count > 1) return void this.counts.set(time, count - 1);
    this.counts.delete(time);
    this.times.splice(this.placeAfter(time) - 1, 1);
  }

  /** The different times after this one. */
  after(time: number): readonly number[] {
    return this.times.slice(this.placeAfter(time));
  }

  /** How many are not later. */
  private placeAfter(time: number): number {
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle]! <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
