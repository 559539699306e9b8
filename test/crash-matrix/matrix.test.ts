/** The crash matrix in a reduced form; all of it: `npm run -s crash-matrix -- --json`. */
import { describeStack } from '../stack/suite';
import { playMatrix } from './matrix';
import { allPoints, type Point } from './fault-points';
import { SIZE } from './scenario';

const POINTS: readonly Point[] = [
  { call: 'queue.allocate', deed: 'kill' },
  { call: 'client.patch jobs', deed: 'kill' },
  { call: 'queue.finish', deed: 'database' },
  { call: 'queue.released', deed: 'apiserver' },
  { call: 'fluxion.match', deed: 'fluxion' },
  { call: 'fluxion.cancel', deed: 'fluxion-restart' },
];

test('the whole matrix has every call and every deed', () => {
  expect(allPoints().length).toBeGreaterThanOrEqual(60);
  for (const point of POINTS) expect(allPoints()).toContainEqual(point);
});

describeStack(
  'the crash matrix',
  (getFixture) => {
    test('no point of it breaks an invariant', async () => {
      const result = await playMatrix(getFixture(), POINTS, () => undefined);
      expect(result.violations).toEqual([]);
      expect(result.missed).toEqual([]);
      expect(result.points).toBe(POINTS.length);
    }, 120_000);
  },
  { cluster: { nodes: SIZE, nodeShape: { cpu: String(SIZE), memory: '64Gi' } } },
);
