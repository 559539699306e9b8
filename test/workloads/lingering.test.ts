/** When a pod that was deleted counts as one that does not end. */
import type { Pod } from '../../runtime/kubernetes/types';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import {
  isLingering,
  Lingering,
  lingeringAdvice,
  lingeringSentence,
  secondsUntilLingerChange,
} from '../../runtime/workloads/lingering';
import { QueueModel } from '../fuzz/queue-model';
import { submission } from '../queue/submission';
import { reconcilerOnTables } from './reconciler-on-tables';

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

test('a pod with a grace period that no timer can wait for is looked at as late as one can', () => {
  const lingering = new Lingering({ now: () => DELETED, onLingering: () => undefined });
  expect(lingering.follow({ uid: 'p', jobid: 7 }, [deleted(300_000_000)])).toEqual({ after: 2 ** 31 - 1 });
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

test.each([
  ['is a workload of its own', true],
  ['outlives its workload', false],
])('a pod that %s tells its user five minutes after it should have ended', async (_, isObject) => {
  let now = DELETED;
  const queue = new QueueModel(() => now);
  const workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
  const identity = { kind: 'Pod', namespace: 'science', name: 'p' };
  const { jobid } = (await workloadCache.submit(submission('p', { ...identity, walltime: 60 })))!;
  const nodes = [{ name: 'n1', units: { core: '0' } }];
  await workloadCache.allocate([
    { uid: 'p', allocation: { jobid, start: DELETED, end: DELETED + 60, nodes } },
  ]);
  await workloadCache.released('p');
  const pod = deleted(5);
  const said: [seconds: number, message: string | undefined][] = [];
  const reconciler = reconcilerOnTables(workloadCache, {
    client: { list: async () => ({ items: [pod], metadata: {} }) as never, patch: async () => ({}) as never },
    objectOf: () => (isObject ? pod : undefined),
    podsOf: () => [pod],
    now: () => now,
    onLingering: (_, sentence) => said.push([now - DELETED, sentence]),
  });
  const late = DELETED + 305;
  while (now < late) {
    const { after } = (await reconciler.reconcile(identity))!;
    now = Math.min(late, now + Math.max(1, after / 1000));
  }
  expect(said.every(([, message]) => message === undefined)).toBe(true);
  await reconciler.reconcile(identity);
  expect(said.at(-1)).toEqual([
    305,
    'pod p should have ended at 2027-01-15T08:00:05.000Z and still uses n1, which is charged until it has ended',
  ]);
});

test('what is said of several has all of their nodes', () => {
  const [first, second] = [deleted(30), deleted(30)];
  const other = { ...second!, spec: { ...second!.spec, nodeName: 'n2' } };
  expect(lingeringSentence([first!, second!], DELETED + 400)).toMatch(
    /^pod p and 1 more should have ended at \S+ and still use n1, which is charged until they have ended$/,
  );
  expect(lingeringSentence([first!, other], DELETED + 400)).toMatch(
    / and still use n1, n2, which are charged until they have ended$/,
  );
  expect(lingeringSentence([deleted(2 * HOUR), deleted(2 * HOUR)], DELETED)).toMatch(
    /^pod p and 1 more were deleted, and may run until /,
  );
});

test.each([
  ['p', 30, 400, 'pod p should have ended at '],
  ['p and 1 more', 30, 400, 'pod p and 1 more should have ended at '],
  ['p', 2 * HOUR, 0, 'pod p was deleted, and may run until '],
])('what is said of %s names the pod for the command that ends it', (_, grace, seconds, start) => {
  const pods = start.includes('more') ? [deleted(grace), deleted(grace)] : [deleted(grace, 30)];
  const sentence = lingeringSentence(pods, DELETED + seconds)!;
  expect(sentence).toMatch(new RegExp(`^${start}`));
  expect(lingeringAdvice(`running on n1; ${sentence}`, 'science')).toBe(
    'ask your administrator: if the node is off, or runs no container of it any more: kubectl -n science delete pod p --force --grace-period=0',
  );
});

test('a text of another kind has no such command', () => {
  expect(lingeringAdvice('pod p waits: 0/2 nodes are available', 'science')).toBeUndefined();
});
