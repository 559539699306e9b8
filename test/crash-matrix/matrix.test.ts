/** A part of the crash matrix; `npm run -s crash-matrix -- --json` runs all of it. */
import { describeStack } from '../stack/suite';
import { allFaultPoints, type FaultPoint } from './fault-points';
import { playMatrix } from './matrix';
import { SIZE } from './scenario';

const POINTS: readonly FaultPoint[] = [
  { call: 'queue.allocate', fault: 'kill' },
  { call: 'client.patch jobs', fault: 'kill' },
  { call: 'queue.finish', fault: 'database' },
  { call: 'queue.released', fault: 'apiserver' },
  { call: 'fluxion.match', fault: 'fluxion' },
  { call: 'fluxion.cancel', fault: 'fluxion-restart' },
  { call: 'lease.create', fault: 'kill' },
  { call: 'lease.fence', fault: 'apiserver' },
  { call: 'lease.release', fault: 'kill' },
  { call: 'queue.requestEviction', fault: 'kill', during: 'deleted' },
  { call: 'client.create pods/eviction', fault: 'kill', during: 'pinned' },
];

test('the matrix has a fault point for every call and every fault', () => {
  expect(allFaultPoints().length).toBeGreaterThanOrEqual(180);
  for (const point of POINTS) expect(allFaultPoints()).toContainEqual(point);
});

describeStack(
  'the crash matrix',
  (getFixture) => {
    test('keeps all invariants at each fault point', async () => {
      const result = await playMatrix(getFixture(), POINTS, () => undefined);
      expect(result.violations).toEqual([]);
      expect(result.missed).toEqual([]);
      expect(result.points).toBe(POINTS.length);
    }, 600_000);
  },
  { createsMiniClusters: false, cluster: { nodes: SIZE, nodeShape: { cpu: String(SIZE), memory: '64Gi' } } },
);
