/** A part of the crash matrix, with other fault points each day; `npm run -s crash-matrix -- --json` runs all of it. */
import { drawOf } from '../seed';
import { describeStack } from '../stack/suite';
import { allFaultPoints, type FaultPoint, nameOf } from './fault-points';
import { playMatrix } from './matrix';
import { SIZE } from './scenario';

const DRAWN = 3;
/** The calls that decide most. */
const ALWAYS: readonly FaultPoint[] = [
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
  for (const point of ALWAYS) expect(allFaultPoints()).toContainEqual(point);
});

describeStack(
  'the crash matrix',
  (getFixture) => {
    test('keeps all invariants at each fault point', async () => {
      const drawn = drawOf(allFaultPoints(), DRAWN).filter(
        (point) => !ALWAYS.map(nameOf).includes(nameOf(point)),
      );
      const points = [...ALWAYS, ...drawn];
      const result = await playMatrix(getFixture(), points, () => undefined);
      expect(result.violations).toEqual([]);
      expect(result.missed).toEqual([]);
      expect(result.points).toBe(points.length);
    });
  },
  { nodes: SIZE, nodeShape: { cpu: String(SIZE), memory: '64Gi' } },
);
