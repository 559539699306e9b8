import { type Curve, curvesOf } from '../../runtime/simulation/curves';

const jobs = [
  { submittedAt: 0, startedAt: 0, endedAt: 1800, processors: 4, delayed: false },
  { submittedAt: 0, startedAt: 1800, endedAt: 3600, processors: 8, delayed: false, firstEstimate: 1700 },
  { submittedAt: 1800, startedAt: 3600, endedAt: 7200, processors: 3, delayed: false, firstEstimate: 3600 },
];

test('curves of a replay', () => {
  const { waits, utilisation, backlog, widths, errors } = curvesOf(jobs, 8);
  expect(waits.x).toEqual([0, 1800]);
  expect(waits.y.at(-1)).toBe(100);
  // Half of the machine, all of it, and three eighths for half of the time.
  const quarter = (curve: { y: readonly number[] }, i: number) => curve.y.slice(50 * i, 50 * (i + 1));
  expect(new Set(quarter(utilisation, 0).map(Math.round))).toEqual(new Set([50]));
  expect(new Set(quarter(utilisation, 1).map(Math.round))).toEqual(new Set([100]));
  expect(new Set(quarter(utilisation, 3).map((share) => Math.round(share * 10)))).toEqual(new Set([375]));
  expect(utilisation.x.at(-1)).toBeCloseTo(2, 1);
  expect(new Set(quarter(backlog, 0).map(Math.round))).toEqual(new Set([8]));
  expect(new Set(quarter(backlog, 1).map(Math.round))).toEqual(new Set([3]));
  expect(new Set(quarter(backlog, 2).map(Math.round))).toEqual(new Set([0]));
  // 3 and 4 cores are one width.
  expect(widths).toEqual({ x: [4, 8], y: [900, 1800] });
  expect(errors).toEqual({ x: [0, 100], y: [0, 100] });
});

test('x grows, however many values are equal, and there are few points', () => {
  const many = Array.from({ length: 3000 }, (_, i) => ({
    ...jobs[0]!,
    submittedAt: -(i % 7) * 10,
    endedAt: 500 + i,
  }));
  for (const { x } of Object.values<Curve>({ ...curvesOf(many, 100_000) })) {
    expect(x.length).toBeLessThan(202);
    expect(x.every((value, i) => i === 0 || value > x[i - 1]!)).toBe(true);
  }
});

test('a trace without jobs has no curves', () => {
  for (const { x, y } of Object.values<Curve>({ ...curvesOf([], 8) })) expect([x, y]).toEqual([[], []]);
});
