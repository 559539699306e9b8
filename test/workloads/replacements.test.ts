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
