/** What pods that are left out of a group can do to it: nothing, whoever made them and whatever they say. */
import { ADMITTED_LABEL, GROUP, GROUP_SIZE, HOLD } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { groupOf } from '../../runtime/workloads/group-member';
import { GroupWorld, KEY, type Leader, runRing } from './group-world';

let world: GroupWorld;
let leader: Leader;
const reconcile = () => leader.reconciler.reconcile(KEY);

beforeEach(async () => {
  world = await GroupWorld.create();
  leader = world.leader();
});

function ring(names: readonly string[], owner?: string): void {
  for (const name of names) world.pod(name, { ...(owner !== undefined && { owner }) });
}

/** A node affinity as a pod has it that its user pinned. */
function pinned(pod: Pod, node: string): void {
  const values = [node];
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In' as const, values }] }];
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  world.pods.set({ ...pod, spec: { ...pod.spec, affinity: { nodeAffinity } } });
}

test('a pod that is left out does not hold the group', async () => {
  ring(['a', 'b', 'c']);
  world.pod('d', { user: 'eve', settings: { [HOLD]: 'true' } });
  world.pod('e', { settings: { [HOLD]: 'true' } });
  await reconcile();
  expect(world.row).toMatchObject({ user: 'ada', held: false, pods: 3 });
});

test('a pod that its user holds waits on when the namespace leaves the queue, and the others of its group start', async () => {
  ring(['a', 'b', 'c']);
  world.pod('d', { user: 'eve', settings: { [HOLD]: 'true' } });
  await reconcile();
  world.hasLeft = true;
  await reconcile();
  world.clock.freeze(10_000);
  await reconcile();
  expect(Object.keys(world.placed)).toEqual(['a', 'b', 'c']);
  await reconcile();
  expect(Object.keys(world.placed)).toEqual(['a', 'b', 'c']);
});

const BEYOND = 'is beyond the 3 pods of its group: it waits until a place in the group is free';

test('a group that runs says which pods wait for a place of it, as long as they do', async () => {
  await runRing(world, leader);
  expect(world.wait).toBeUndefined();
  world.pod('d');
  await reconcile();
  expect(world.wait).toMatchObject({ isPartial: true, pod: 'd', message: `pod d ${BEYOND}` });
  world.pod('e', { user: 'eve' });
  await reconcile();
  expect(world.wait!.message).toMatch(
    /^pod e is left out of the group: its user is eve.*; and 1 more pod waits$/,
  );
  for (const name of ['d', 'e']) world.delete(name);
  await reconcile();
  expect(world.wait).toBeUndefined();
});

test('a group of a Deployment says what its rollout waits for', async () => {
  const of = (hash: string) => ({ owner: `band-${hash}`, labels: { 'pod-template-hash': hash } });
  for (const name of ['a', 'b', 'c']) world.pod(name, of('1'));
  await reconcile();
  await world.grant(['node-1', 2], ['node-2', 1]);
  await reconcile();
  world.runAll();
  world.pod('d', of('2'));
  await reconcile();
  expect(world.wait!.message).toBe(
    `pod d ${BEYOND}; Deployment band keeps older pods until new ones run, so its rollout goes on with ` +
      'maxUnavailable of at least 1 or type Recreate in its strategy',
  );
});

test('a gated pod that is pinned by its user takes no place of the group', async () => {
  ring(['a', 'b', 'c']);
  pinned(world.pod('d', { user: 'eve' }), 'node-1');
  await reconcile();
  await world.grant(['node-1', 2], ['node-2', 1]);
  await reconcile();
  expect(world.placed).toEqual({ a: 'node-1', b: 'node-1', c: 'node-2' });
});

test('no pod of another user takes over the row of a group that is gone', async () => {
  ring(['a', 'b', 'c']);
  world.pod('d', { user: 'eve', size: '1' });
  await reconcile();
  const { uid } = world.row;
  for (const name of ['a', 'b', 'c']) world.delete(name);
  expect(await reconcile()).toEqual({ after: 1 });
  expect((await world.queue.byUid([uid]))[0]).toMatchObject({ user: 'ada', result: 'Cancelled' });
  await reconcile();
  expect(world.row).toMatchObject({ user: 'eve', pods: 1, phase: 'Waiting' });
  expect(world.row.uid).not.toBe(uid);
});

test('no pod of another user gets the nodes of a group all of whose pods were deleted', async () => {
  ring(['a', 'b', 'c']);
  await reconcile();
  await world.grant(['node-1', 2], ['node-2', 1]);
  await reconcile();
  world.runAll();
  await reconcile();
  for (const name of ['d', 'e', 'f']) world.pod(name, { user: 'eve' });
  await reconcile();
  for (const name of ['a', 'b', 'c']) world.delete(name);
  await reconcile();
  await reconcile();
  expect(world.placed).toEqual({});
  expect(world.row).toMatchObject({ user: 'eve', phase: 'Waiting' });
});

test('a group that is made again after its eviction keeps its place, although a pod of another user is older', async () => {
  ring(['a', 'b', 'c'], 'set');
  world.pod('d', { user: 'eve', size: '1' });
  await reconcile();
  await world.grant(['node-1', 3]);
  await reconcile();
  world.runAll();
  await reconcile();
  const { uid, submittedAt } = world.row;
  world.nodes.delete('node-1');
  await reconcile();
  await reconcile();
  ring(['e', 'f', 'g'], 'set');
  await reconcile();
  expect(world.row).toMatchObject({ uid, submittedAt, user: 'ada', pods: 3, phase: 'Waiting', requeues: 1 });
});

test('a pod that was released alone stays alone, whatever labels it gets', () => {
  const pod: Pod = {
    metadata: {
      name: 'lone',
      namespace: 'science',
      uid: 'lone',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { [ADMITTED_LABEL]: 'true', [GROUP]: 'ring' },
      annotations: { [GROUP_SIZE]: '3' },
    },
    spec: { containers: [{ name: 'main' }], nodeName: 'node-1' },
    status: { phase: 'Running' },
  };
  expect(groupOf(pod)).toBeUndefined();
});

test('an older pod of another user keeps the name of a group, until it is gone', async () => {
  world.pod('squat', { user: 'eve', size: '100' });
  ring(['a', 'b', 'c']);
  await reconcile();
  expect(world.row).toMatchObject({ user: 'eve', held: true, pods: 1 });
});
