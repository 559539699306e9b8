/** Answers of the apiserver that hold for a short time, by key; the oldest ones are forgotten. */

interface Cached<T> {
  /** Seconds. */
  readonly until: number;
  readonly answer: Promise<T>;
}

export interface AnswerCacheOptions {
  /** Seconds for which an answer is given again. */
  readonly seconds: number;
  /** The most answers that are kept. */
  readonly most: number;
  /** Seconds of a clock. */
  readonly now: () => number;
}

export class AnswerCache<T> {
  /** Oldest first. */
  private readonly known = new Map<string, Cached<T>>();

  constructor(private readonly options: AnswerCacheOptions) {}

  /** The answer for the key; who asks at the same time shares one request. */
  get(key: string, ask: () => Promise<T>): Promise<T> {
    const { seconds, most, now } = this.options;
    const cached = this.known.get(key);
    if (cached !== undefined && cached.until > now()) return cached.answer;
    const entry = { until: now() + seconds, answer: ask() };
    this.known.delete(key);
    this.known.set(key, entry);
    // An apiserver that did not answer says nothing.
    entry.answer.catch(() => {
      if (this.known.get(key) === entry) this.known.delete(key);
    });
    const [oldest] = this.known.keys();
    if (this.known.size > most && oldest !== undefined) this.known.delete(oldest);
    return entry.answer;
  }
}
