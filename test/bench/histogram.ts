/** Computes figures from the difference of two readings of a Prometheus histogram. */

export interface HistogramFigures {
  readonly count: number;
  readonly meanMs: number;
  /** Interpolated within the bucket, because a histogram has no exact values. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Upper bound of the bucket that contains the 99th percentile. */
  readonly p99AtMostMs: number;
}

/** The sums over all series of a histogram with these labels. */
export class HistogramReading {
  private constructor(
    /** Number of observations by upper bound in seconds. */
    private readonly buckets: ReadonlyMap<number, number>,
    private readonly sum: number,
    private readonly count: number,
  ) {}

  static of(metrics: string, name: string, labels: Readonly<Record<string, string>> = {}): HistogramReading {
    const buckets = new Map<number, number>();
    let [sum, count] = [0, 0];
    for (const [, suffix, series = '', value] of metrics.matchAll(
      new RegExp(`^${name}_(bucket|sum|count)\\{(.*)\\} (\\S+)$`, 'gm'),
    )) {
      const label = (key: string) => new RegExp(`(?:^|,)${key}="([^"]*)"`).exec(series)?.[1];
      if (Object.entries(labels).some(([key, wanted]) => label(key) !== wanted)) continue;
      if (suffix === 'sum') sum += Number(value);
      else if (suffix === 'count') count += Number(value);
      else {
        const bound = label('le') === '+Inf' ? Number.POSITIVE_INFINITY : Number(label('le'));
        buckets.set(bound, (buckets.get(bound) ?? 0) + Number(value));
      }
    }
    return new HistogramReading(buckets, sum, count);
  }

  since(earlier: HistogramReading): HistogramFigures {
    const buckets = [...this.buckets]
      .map(([bound, total]) => ({ bound, total: total - (earlier.buckets.get(bound) ?? 0) }))
      .sort((a, b) => a.bound - b.bound);
    const count = this.count - earlier.count;
    return {
      count,
      meanMs: ((this.sum - earlier.sum) / count) * 1000,
      p50Ms: interpolated(buckets, count * 0.5) * 1000,
      p99Ms: interpolated(buckets, count * 0.99) * 1000,
      p99AtMostMs: (buckets.find(({ total }) => total >= count * 0.99)?.bound ?? Number.NaN) * 1000,
    };
  }
}

/** Interpolates linearly within the bucket of the rank, as histogram_quantile of Prometheus does. */
function interpolated(buckets: readonly { bound: number; total: number }[], rank: number): number {
  const at = buckets.findIndex(({ total }) => total >= rank);
  const bucket = buckets[at];
  if (bucket === undefined) return Number.NaN;
  const below = buckets[at - 1] ?? { bound: 0, total: 0 };
  if (bucket.bound === Number.POSITIVE_INFINITY) return below.bound;
  const within = bucket.total - below.total;
  return below.bound + (bucket.bound - below.bound) * (within === 0 ? 1 : (rank - below.total) / within);
}
