// Own cluster: attackers change what is cluster-wide.
/** Every attack in one form of admission; `npm run -s attacks` plays both. This form has the webhook's token too. */
import { describeOwnCluster } from '../cluster/suite';
import { seedOfToday } from '../seed';
import { ALPHA, STRICT } from './attack';
import { ATTACKS } from './corpus';
import { partOf, playEndings } from './endings/play';
import { walk } from './generated/play';
import { create } from './objects';
import { type Played, play } from './play';
import { CLUSTER, World } from './world';

const HOST = { image: 'flux', volumes: { scratch: { hostPath: '/scratch', path: '/scratch' } } };

test('every attack has a name of its own, and there are enough of them', () => {
  const names = ATTACKS.map(({ role, name }) => `${role}: ${name}`);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(60);
});

describeOwnCluster(
  'the attacks',
  (getCluster) => {
    let world: World;
    let played: readonly Played[] = [];
    beforeAll(async () => {
      world = await World.on(getCluster(), 'webhook');
      played = await play(world, 'webhook', ATTACKS);
    });
    afterAll(() => world?.stop());

    test.each([
      ['a MiniCluster', ALPHA, {}],
      ['one with a path of the node, where Pod Security allows it', ALPHA, { containers: [HOST] }],
      ['one with services', ALPHA, { services: [{ name: 'db', image: 'db', ports: [80] }] }],
      ['one that lasts', ALPHA, { workload: 'StatefulSet', interactive: true }],
      ['a restricted one under Pod Security', STRICT, { pod: { restricted: true } }],
    ])('a user with edit creates %s', async (_, namespace, spec) => {
      const containers = [{ image: 'flux' }];
      const act = create('MiniCluster', 'x', { spec: { containers, ...spec } }, namespace);
      expect(await world.send('editor', act)).toMatchObject({ message: '', status: 201 });
    });

    test('no change that the schema of the apiserver knows breaks a promise; today a part of them', async () => {
      const walked = await walk(world, { every: 180, from: seedOfToday() });
      expect(walked.broken).toEqual([]);
      expect(walked.requests).toBeGreaterThan(200);
      expect(walked.accepted).toBeGreaterThan(20);
    });

    test('no end that its user gives to a workload breaks a promise; today a part of them', async () => {
      const ended = await playEndings(world, partOf(43, seedOfToday()));
      expect(ended.broken).toEqual([]);
      expect(ended.cases).toBeGreaterThan(40);
      expect(ended.accepted).toBeGreaterThan(20);
    });

    test('none of them succeeds', () => {
      expect(played.length).toBe(ATTACKS.length);
      const succeeded = played.filter(({ outcome }) => outcome === 'succeeded');
      expect(succeeded.map(({ attack: { role, name }, answer }) => `${role}: ${name}: ${answer}`)).toEqual(
        [],
      );
    });
  },
  CLUSTER,
);
