/** Plain pods of one group through their whole life: which of them are the group, and what happens to them together. */
import { GROUP_MEMBER_ANNOTATION, HOLD, JOBID_ANNOTATION, WALLTIME } from '../../constructs/api/labels';
import { unrecordedGrant } from '../../runtime/workloads/adoption';
import { adapters } from '../../runtime/workloads/index';
import { GroupWorld, KEY, type Leader, runRing } from './group-world';

let world: GroupWorld;
let leader: Leader;
const reconcile = (of = leader) => of.reconciler.reconcile(KEY);

beforeEach(async () => {
  world = await GroupWorld.create();
  leader = world.leader();
});

const running = (owner?: string) => runRing(world, leader, owner);

describe('a group that waits', () => {
  test('is one row from its first pod on, which is granted nothing until it is complete', async () => {
    world.pod('a');
    await reconcile();
    expect(world.row).toMatchObject({ pods: 1, held: true, user: 'ada' });
    expect(world.row.jobspec.attributes.user?.incomplete?.message).toBe('1 of its 3 pods is there');
    world.pod('b');
    world.pod('c');
    await reconcile();
    expect(world.row).toMatchObject({ pods: 3, held: false });
    expect(world.row.jobspec.attributes.user).not.toHaveProperty('incomplete');
  });

  test('has one pod set for each thing that its pods ask for, whatever else they differ in', async () => {
    world.pod('a', { cpu: '4', labels: { role: 'driver' } });
    world.pod('b', { labels: { index: '0' } });
    world.pod('c', { labels: { index: '1' } });
    await reconcile();
    const { resources, attributes } = world.row.jobspec;
    expect(resources.map(({ count }) => count)).toEqual([1, 2]);
    expect(attributes.user?.podSets?.[1]?.labels).not.toHaveProperty('index');
  });

  test('has one pod set for pods with rules about each other that differ by their own name alone', async () => {
    const labelSelector = { matchLabels: { app: 'ring' } };
    const term = { labelSelector, topologyKey: 'kubernetes.io/hostname' };
    for (let i = 0; i < 20; i++) {
      const own = {
        'statefulset.kubernetes.io/pod-name': `ring-${i}`,
        'apps.kubernetes.io/pod-index': `${i}`,
      };
      const pod = world.pod(`ring-${i}`, { size: '20', labels: { app: 'ring', ...own } });
      const preferred = [{ weight: 1, podAffinityTerm: term }];
      const affinity = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
      world.pods.set({ ...pod, spec: { ...pod.spec, affinity: affinity as never } });
    }
    await reconcile();
    expect(world.row).toMatchObject({ pods: 20, held: false });
    expect(world.row.jobspec.attributes.user).not.toHaveProperty('invalid');
  });

  test('leaves out what is beyond its size, and takes it in when a place is free', async () => {
    for (const name of ['a', 'b', 'c', 'd']) world.pod(name);
    await reconcile();
    await reconcile();
    expect(world.row).toMatchObject({ pods: 3, held: false });
    expect(world.events).toEqual([
      {
        on: 'd',
        note: {
          type: 'Warning',
          reason: 'NotInGroup',
          message: 'pod d is beyond the 3 pods of its group: it waits until a place in the group is free',
        },
      },
    ]);
    world.delete('b');
    await reconcile();
    expect(world.row.held).toBe(false);
    await world.grant(['node-1', 3]);
    await reconcile();
    expect(Object.keys(world.placed)).toEqual(['a', 'c', 'd']);
  });

  test.each([
    ['user', { user: 'eve' }, 'its user is eve, and that of pod a ada'],
    ['walltime', { settings: { [WALLTIME]: '2h' } }, `its ${WALLTIME} is 2h, and that of pod a none`],
    [
      'end',
      { restartPolicy: 'Always' },
      'its end is none (restartPolicy: Always), and that of pod a its walltime',
    ],
    ['size', { size: '4' }, 'its fluxqueue/group-size is 4, and that of pod a 3'],
  ] as const)('is incomplete for a pod of another %s, and says so', async (_, shape, sentence) => {
    world.pod('a');
    world.pod('b', shape);
    world.pod('c');
    await reconcile();
    expect(world.row.held).toBe(true);
    expect(world.row.jobspec.attributes.user?.incomplete?.message).toBe(
      `2 of its 3 pods are there; pod b is left out of the group: ${sentence}; all pods of a group have the same user and settings`,
    );
    // It keeps nobody from starting without it.
    world.pod('d');
    await reconcile();
    expect(world.row).toMatchObject({ held: false, user: 'ada' });
  });

  test('is invalid without a size', async () => {
    world.pod('a', { size: 'many' });
    await reconcile();
    expect(world.row.jobspec.attributes.user?.invalid).toMatch(/pod a has no valid fluxqueue\/group-size/);
  });

  test('is held while one of its pods is held', async () => {
    for (const name of ['a', 'b']) world.pod(name);
    world.pod('c', { settings: { [HOLD]: 'true' } });
    await reconcile();
    expect(world.row.held).toBe(true);
  });

  test('ends with its last pod', async () => {
    world.pod('a');
    await reconcile();
    world.delete('a');
    await reconcile();
    expect(world.rows).toEqual([]);
  });

  test('gives its grant back if a pod is deleted before its release', async () => {
    for (const name of ['a', 'b', 'c']) world.pod(name);
    await reconcile();
    await world.grant(['node-1', 3]);
    world.delete('c');
    await reconcile();
    expect(world.row).toMatchObject({ phase: 'Waiting', held: true });
    expect(world.placed).toEqual({});
  });
});

describe('a group that is granted', () => {
  test('has each pod released onto the node of its pod set, marked with its grant, with one walltime', async () => {
    world.pod('a', { cpu: '4', settings: { [WALLTIME]: '600' } });
    for (const name of ['b', 'c']) world.pod(name, { settings: { [WALLTIME]: '600' } });
    await reconcile();
    await world.grant(['node-1', 1, 0], ['node-2', 0, 2]);
    await reconcile();
    expect(world.placed).toEqual({ a: 'node-1', b: 'node-2', c: 'node-2' });
    const { uid, jobid } = world.row;
    for (const pod of world.pods.list()) {
      expect(pod.metadata.annotations?.[GROUP_MEMBER_ANNOTATION]).toMatch(new RegExp(`^${uid}/pods-`));
      expect(pod.metadata.annotations?.[JOBID_ANNOTATION]).toBe(`${jobid}`);
      expect(pod.spec.activeDeadlineSeconds).toBe(600 + 3_600);
    }
  });

  test('is released without time for its start while the guard of an earlier version is there', async () => {
    world.hasEarlierGuard = true;
    for (const name of ['a', 'b', 'c']) world.pod(name, { settings: { [WALLTIME]: '600' } });
    await reconcile();
    await world.grant(['node-1', 3]);
    await reconcile();
    expect(world.placed).toEqual({ a: 'node-1', b: 'node-1', c: 'node-1' });
    for (const pod of world.pods.list()) expect(pod.spec.activeDeadlineSeconds).toBe(600);
  });

  test('goes on under the next leader if the first one dies in the middle of the release', async () => {
    for (const name of ['a', 'b', 'c']) world.pod(name);
    await reconcile();
    await world.grant(['node-1', 3]);
    const stopped = world.get('c')!;
    world.pods.set({ ...stopped, metadata: { ...stopped.metadata, resourceVersion: '0' } });
    await reconcile();
    const { uid } = world.row;
    world.delete('a');
    await reconcile(world.leader());
    expect(world.row).toMatchObject({ uid, phase: 'Ready' });
    expect(Object.keys(world.placed)).toEqual(['b', 'c']);
  });

  test('lets the replacement of a lost pod take its place, with the walltime that is left, and nobody else', async () => {
    await running('set');
    world.now += 100;
    const { walltime, startedAt } = world.row;
    world.pod('eve', { user: 'eve' });
    world.pod('large', { cpu: '8', owner: 'set' });
    world.set('c', {}, 'node-2');
    world.pod('new', { owner: 'set' });
    await reconcile();
    expect(Object.keys(world.placed)).toEqual(['a', 'b', 'c']);
    world.delete('c');
    await reconcile();
    expect(world.placed).toEqual({ a: 'node-1', b: 'node-1', new: 'node-2' });
    expect(world.get('new')?.spec.activeDeadlineSeconds).toBe(Math.ceil(startedAt! + walltime - world.now));
    expect(world.events.map(({ on, note }) => `${on} ${note.reason}`)).toEqual(
      expect.arrayContaining(['eve NotInGroup', 'large NotInGroup']),
    );
  });

  test('keeps the place of a pod that is being deleted until it is gone', async () => {
    await running('set');
    const leaving = world.get('c')!;
    world.pods.set({
      ...leaving,
      metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T01:00:00Z' },
    });
    world.pod('new', { owner: 'set' });
    await reconcile();
    expect(Object.keys(world.placed)).toEqual(['a', 'b', 'c']);
  });

  test('succeeds once each place has had a pod that succeeded, and frees nodes as their pods end', async () => {
    await running();
    world.end('c', 'Succeeded');
    await reconcile();
    expect(world.row.allocation?.nodes.map(({ name }) => name)).toEqual(['node-1']);
    world.end('a', 'Succeeded');
    world.end('b', 'Succeeded');
    const { uid, jobid } = world.row;
    await reconcile();
    expect(world.rows).toEqual([]);
    expect(world.freed).toEqual([jobid]);
    const [row] = await world.queue.byUid([uid]);
    expect(row).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    // The pods of the next group of the name are no pods of this one.
    world.pod('next', { size: '1' });
    await reconcile();
    expect(world.row).toMatchObject({ phase: 'Waiting', pods: 1, held: false });
    expect(world.row.uid).not.toBe(uid);
  });

  test('fails with a bare pod, and waits for the replacement of one that a controller makes', async () => {
    await running();
    for (const name of ['a', 'b']) world.end(name, 'Succeeded');
    world.end('c', 'Failed');
    const { uid } = world.row;
    await reconcile();
    expect((await world.queue.byUid([uid]))[0]).toMatchObject({ result: 'Failed' });

    world = await GroupWorld.create();
    leader = world.leader();
    await running('set');
    for (const name of ['a', 'b']) world.end(name, 'Succeeded');
    world.end('c', 'Failed');
    expect(await reconcile()).toEqual({ after: 10_000 });
    world.pod('d', { owner: 'set' });
    await reconcile();
    expect(world.placed.d).toBe('node-2');
    world.runAll();
    world.end('d', 'Succeeded');
    const own = world.row.uid;
    await reconcile();
    expect((await world.queue.byUid([own]))[0]).toMatchObject({ result: 'Succeeded' });
  });

  test('is over at its walltime, whatever its controller makes again', async () => {
    await running('set');
    for (const name of ['a', 'b', 'c']) world.end(name, 'Failed', 'DeadlineExceeded');
    world.pod('d', { owner: 'set' });
    const { uid } = world.row;
    // No pod changes when its row ends, so nothing else would have the next group queued.
    expect(await reconcile()).toEqual({ after: 1 });
    expect((await world.queue.byUid([uid]))[0]).toMatchObject({ result: 'TimedOut' });
    await reconcile();
    expect(world.row).toMatchObject({ phase: 'Waiting', held: true });
  });

  test('is over at its walltime where its controller deletes each pod that failed, as a StatefulSet does', async () => {
    const settings = { [WALLTIME]: '600' };
    for (const name of ['a', 'b', 'c']) world.pod(name, { owner: 'set', settings });
    await reconcile();
    await world.grant(['node-1', 3]);
    await reconcile();
    world.runAll();
    await reconcile();
    const { uid } = world.row;
    world.now += 600;
    for (const name of ['a', 'b', 'c']) {
      world.delete(name);
      world.pod(name, { owner: 'set', settings });
      await reconcile();
    }
    expect(world.placed).toEqual({});
    expect((await world.queue.byUid([uid]))[0]).toMatchObject({ phase: 'Finished', result: 'TimedOut' });
    await reconcile();
    expect(world.row).toMatchObject({ phase: 'Waiting', held: false });
  });
});

test('a group in a namespace that left the queue goes on without it: what waits starts, what runs stays', async () => {
  for (const name of ['a', 'b', 'c']) world.pod(name);
  await reconcile();
  world.hasLeft = true;
  await reconcile();
  world.clock.freeze(10_000);
  await reconcile();
  expect(world.rows).toEqual([]);
  expect(world.placed).toEqual({ a: undefined, b: undefined, c: undefined });
});

test('a group whose row was lost carries its grant, by node and pod set', async () => {
  world.pod('a', { cpu: '4' });
  for (const name of ['b', 'c']) world.pod(name);
  await reconcile();
  await world.grant(['node-1', 1, 1], ['node-2', 0, 1]);
  await reconcile();
  world.runAll();
  const group = leader.objects.get(KEY)!;
  const { jobid, jobspec } = world.row;
  const [large, small] = jobspec.attributes.user!.podSets!.map(({ name }) => name);
  const adapter = adapters.get(KEY.kind)!;
  expect(
    unrecordedGrant(
      group,
      adapter,
      undefined,
      leader.objects.podsOf({ ...group.metadata, kind: KEY.kind }),
      world.now,
    ),
  ).toEqual({
    jobid,
    placement: [
      { node: 'node-1', pods: 2, podSets: { [large!]: 1, [small!]: 1 } },
      { node: 'node-2', pods: 1, podSets: { [small!]: 1 } },
    ],
  });
});
