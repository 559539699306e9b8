import type { Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import { SurplusQuotaObserver } from './surplus-quota';

/** A workload that has two cores of one node. */
const row = (i: number, exclusive = false) => {
  const nodes = [{ name: `node-${i}`, units: { core: '0-1' }, ...(exclusive && { exclusive }) }];
  return rowIn('Running', {
    uid: `w${i}`,
    jobid: i,
    queue: 'q',
    allocation: { jobid: i, start: 0, end: 60, nodes },
  });
};

/** One of its pods, which requests as much. */
const pod = (i: number, cpu: number, metadata: object = {}, node = `node-${i}`) =>
  ({
    metadata: { name: 'p', uid: 'p', ownerReferences: [{ uid: `w${i}` }], ...metadata },
    spec: { nodeName: node, containers: [{ name: 'main', resources: { requests: { cpu: String(cpu) } } }] },
    status: { phase: 'Running' },
  }) as unknown as Pod;

/** The violations of a second grant beside the first, of which these pods have run for so many seconds, with a quota of five cores. */
function granted(pods: readonly Pod[], seconds = 20, isExcused = false, exclusive = false): number {
  const observer = new SurplusQuotaObserver(1);
  const first = row(0, exclusive);
  const look = (at: number, rows: readonly (typeof first)[]) =>
    observer.observe(
      at,
      { rows, pods },
      () => 5,
      () => isExcused,
    );
  look(0, [first]);
  look(seconds, [first]);
  return look(seconds + 1, [first, row(1)]).length;
}

test.each<[string, readonly Pod[], number]>([
  ['no pod beyond its grant', [pod(0, 2)], 0],
  ['one that is larger', [pod(0, 4)], 1],
  ['one core for which there is room', [pod(0, 3)], 0],
  ['a second pod', [pod(0, 2), pod(0, 2)], 1],
  ['a pod on another node', [pod(0, 2, {}, 'node-7')], 1],
  ['a pod that ends', [pod(0, 4, { deletionTimestamp: 'now' })], 0],
  ['a pod of nobody', [pod(9, 4)], 0],
])('a grant beside %s', (_, pods, violations) => {
  expect(granted(pods)).toBe(violations);
});

test('says nothing of a surplus that the controller may not have seen, or of a whole node', () => {
  expect(granted([pod(0, 4)], 5)).toBe(0);
  expect(granted([pod(0, 4)], 20, true)).toBe(0);
  expect(granted([pod(0, 4)], 20, false, true)).toBe(0);
});

test('says nothing of what was granted before the surplus, or before the quota', () => {
  const observer = new SurplusQuotaObserver(1);
  const rows = [row(0), row(1)];
  const look = (at: number, quota: number) =>
    observer.observe(
      at,
      { rows, pods: [pod(0, 4)] },
      () => quota,
      () => false,
    ).length;
  expect([look(0, 5), look(20, 5), look(40, 1), look(60, 1)]).toEqual([0, 0, 0, 0]);
});
