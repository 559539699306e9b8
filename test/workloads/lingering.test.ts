/** When a pod that was deleted counts as one that does not end. */
import type { Pod } from '../../runtime/kubernetes/types';
import { isLingering, secondsUntilLingerChange } from '../../runtime/workloads/lingering';

/** Unix seconds at which the pod was deleted. */
const DELETED = 1_800_000_000;
const HOUR = 3600;

function deleted(grace: number, own?: number): Pod {
  return {
    metadata: {
      name: 'p',
      namespace: 'science',
      uid: 'p',
      resourceVersion: '1',
      creationTimestamp: '',
      deletionTimestamp: new Date((DELETED + grace) * 1000).toISOString(),
      deletionGracePeriodSeconds: grace,
    },
    spec: {
      containers: [],
      nodeName: 'n1',
      ...(own !== undefined && { terminationGracePeriodSeconds: own }),
    },
    status: { phase: 'Running' },
  };
}

/** What it is at its deletion, and at each moment at which that may change. */
function states(pod: Pod): [seconds: number, lingers: boolean][] {
  const found: [number, boolean][] = [];
  let now: number | undefined = DELETED;
  while (now !== undefined) {
    found.push([now - DELETED, isLingering(pod, now)]);
    const left = secondsUntilLingerChange(pod, now);
    now = left === undefined ? undefined : now + left;
  }
  return found;
}

test('a pod that was given two hours to end, of its own 30 seconds, lingers from then on until it ends', () => {
  const pod = deleted(2 * HOUR, 30);
  for (const seconds of [0, HOUR - 1, HOUR + 1, 2 * HOUR, 2 * HOUR + 299, 3 * HOUR])
    expect(isLingering(pod, DELETED + seconds)).toBe(true);
  expect(states(deleted(2 * HOUR))).toEqual([
    [0, true],
    [2 * HOUR, true],
  ]);
});

test('a pod that itself asks for two hours lingers once it is five minutes late', () => {
  expect(states(deleted(2 * HOUR, 2 * HOUR))).toEqual([
    [0, false],
    [2 * HOUR + 300, true],
  ]);
});

test('a pod that was given half an hour lingers once it is five minutes late', () => {
  expect(states(deleted(HOUR / 2, 30))).toEqual([
    [0, false],
    [HOUR / 2 + 300, true],
  ]);
});

test('a pod that nobody deleted, that has ended, or that never had a node does not linger', () => {
  const pod = deleted(2 * HOUR, 30);
  const { deletionTimestamp: _, ...metadata } = pod.metadata;
  for (const other of [
    { ...pod, metadata },
    { ...pod, status: { phase: 'Succeeded' as const } },
    { ...pod, spec: { containers: [] } },
  ])
    expect(states(other)).toEqual([[0, false]]);
});
