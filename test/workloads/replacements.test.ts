/** Which pod takes over the place of a lost pod, and for how long its units are kept. */
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { podAdapter } from '../../runtime/workloads/pod';
import { Replacements } from '../../runtime/workloads/replacements';
import { ManualClock } from '../kubernetes/manual-clock';
import { rowIn } from '../queue/rows';

const pod = (uid: string, kind = 'StatefulSet', owner = 'set'): Pod => ({
  metadata: {
    name: 'db-0',
    uid,
    resourceVersion: '1',
    creationTimestamp: '',
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'db', uid: owner, controller: true }],
  },
  spec: { containers: [] },
});
const running = rowIn('Running', { uid: 'old', name: 'db-0', kind: 'Pod', submittedAt: 50, requeues: 2 });

const client = { get: async () => ({ metadata: { uid: 'set' }, spec: {} }) as never };

function noted(object: Pod, row = running) {
  const clock = new ManualClock();
  const replacements = new Replacements({ clock, client });
  replacements.note({ object, adapter: podAdapter as unknown as WorkloadAdapter, row });
  return { replacements, clock };
}

test('the replacement of a StatefulSet gets the place of the lost pod', () => {
  const { replacements } = noted(pod('old'));
  expect(replacements.placeFor(pod('new'), running)).toMatchObject({
    uid: 'old',
    submittedAt: 50,
    requeues: 2,
  });
});

test.each([
  ['another StatefulSet', noted(pod('old')).replacements, pod('new', 'StatefulSet', 'other')],
  ['a ReplicaSet', noted(pod('old', 'ReplicaSet')).replacements, pod('new', 'ReplicaSet')],
])('a pod of %s gets none', (_, replacements, object) => {
  expect(replacements.placeFor(object, running)).toBeUndefined();
});

test('a pod that waits or is evicted keeps no units', async () => {
  const { replacements } = noted(pod('old'));
  expect(await replacements.awaited(rowIn('Waiting', { uid: 'old', kind: 'Pod' }))).toBeUndefined();
  expect(await replacements.awaited({ ...running, evictionReason: 'preempted' })).toBeUndefined();
});

test('units are kept for ten seconds', async () => {
  const { replacements, clock } = noted(pod('old'));
  expect(await replacements.awaited(running)).toEqual({ after: 250 });
  clock.freeze(9_900);
  expect(await replacements.awaited(running)).toEqual({ after: 250 });
  clock.freeze(100);
  expect(await replacements.awaited(running)).toBeUndefined();
});

describe('a pod that was gone before the term of this controller began', () => {
  const unseen = (set: object = { metadata: { name: 'db', uid: 'set' }, spec: {} }) => {
    const get = async () => set as never;
    return new Replacements({ clock: new ManualClock(), client: { get } });
  };

  test('is replaced by the pod of its name of a StatefulSet', () => {
    expect(unseen().placeFor(pod('new'), running)).toMatchObject({ uid: 'old', submittedAt: 50 });
    expect(unseen().placeFor(pod('new', 'ReplicaSet'), running)).toBeUndefined();
  });

  test('keeps its units if a StatefulSet makes one of its name', async () => {
    expect(await unseen().awaited(running)).toEqual({ after: 250 });
  });

  test('keeps them for a bounded time if nobody says so', async () => {
    const clock = new ManualClock();
    const get = () => Promise.reject(new Error('no answer'));
    const replacements = new Replacements({ clock, client: { get } });
    expect(await replacements.awaited(running)).toEqual({ after: 250 });
    clock.freeze(10_000);
    expect(await replacements.awaited(running)).toBeUndefined();
  });

  test.each<[string, object, string]>([
    ['has another name', { metadata: { uid: 'set' }, spec: {} }, 'db'],
    ['is beyond its replicas', { metadata: { uid: 'set' }, spec: { replicas: 0 } }, 'db-0'],
    ['is of one that is deleted', { metadata: { uid: 'set', deletionTimestamp: '1' }, spec: {} }, 'db-0'],
  ])('keeps none if it %s', async (_, set, name) => {
    expect(await unseen(set).awaited({ ...running, name })).toBeUndefined();
  });
});
