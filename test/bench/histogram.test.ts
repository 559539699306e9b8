import { HistogramReading } from './histogram';

const page = (fast: number, slow: number) => `
# TYPE check_seconds histogram
check_seconds_bucket{policy="a",le="0.001"} ${fast}
check_seconds_bucket{policy="a",le="0.01"} ${fast + slow}
check_seconds_bucket{policy="a",le="+Inf"} ${fast + slow}
check_seconds_sum{policy="a"} ${fast * 0.0005 + slow * 0.005}
check_seconds_count{policy="a"} ${fast + slow}
check_seconds_bucket{policy="b",le="0.001"} 1000
check_seconds_bucket{policy="b",le="0.01"} 1000
check_seconds_bucket{policy="b",le="+Inf"} 1000
check_seconds_sum{policy="b"} 7
check_seconds_count{policy="b"} 1000
other_seconds_count{policy="a"} 5
`;

test('computes figures between two readings for the selected series', () => {
  const of = (text: string) => HistogramReading.of(text, 'check_seconds', { policy: 'a' });
  const figures = of(page(180, 25)).since(of(page(100, 5)));
  expect(figures.count).toBe(100);
  expect(figures.meanMs).toBeCloseTo((80 * 0.5 + 20 * 5) / 100);
  expect(figures.p50Ms).toBeCloseTo(50 / 80);
  expect(figures.p99Ms).toBeCloseTo(1 + (9 * 19) / 20);
  expect(figures.p99AtMostMs).toBe(10);
});

test('sums all series without a selection', () => {
  const nothing = HistogramReading.of('', 'check_seconds');
  expect(HistogramReading.of(page(10, 0), 'check_seconds').since(nothing).count).toBe(1010);
});
