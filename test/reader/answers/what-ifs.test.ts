/** What would become of a workload, on a simulated cluster whose two nodes have four cores each. */
import type { FluxqError } from '../../../runtime/errors';
import { withMoreNodes } from '../../../runtime/reader/answers/situation';
import type { WhatIf } from '../../../runtime/reader/kinds';
import { SimulatedReader } from './simulated-reader';

type Spec = Record<string, unknown>;

function job(over: { pods?: number; cores?: number; annotations?: object; spec?: object } = {}) {
  const { pods = 1, cores = 4, annotations = {}, spec = {} } = over;
  const resources = { requests: { cpu: String(cores) } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'asked', annotations: { 'fluxqueue/walltime': '300s', ...annotations } },
    spec: {
      parallelism: pods,
      completions: pods,
      completionMode: 'Indexed',
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none', resources }] },
      },
      ...spec,
    },
  };
}

const pod = (cores: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'asked' },
  spec: { containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: String(cores) } } }] },
});

const miniCluster = (size: number, spec: object = {}) => ({
  apiVersion: 'flux-framework.org/v1alpha2',
  kind: 'MiniCluster',
  metadata: { name: 'asked' },
  spec: {
    size,
    containers: [
      { image: 'none', command: 'sleep 1', resources: { requests: { cpu: '3' }, limits: { cpu: '3' } } },
    ],
    ...spec,
  },
});

test('nodes that there are more of take no name that a node has', () => {
  const node = (name: string) => [name, { name, units: { core: 4 }, properties: [] }] as const;
  const nodes = new Map([node('more-1'), node('more-3')]);
  const all = withMoreNodes(nodes, 2);
  expect([...all.keys()]).toEqual(['more-1', 'more-3', 'more-2', 'more-4']);
  expect(all.get('more-1')).toBe(nodes.get('more-1'));
});

describe('what if', () => {
  let world: SimulatedReader;
  beforeEach(async () => {
    world = new SimulatedReader();
    await world.controller.start();
  });
  afterEach(() => world.close());

  const ask = (spec: Spec, namespace = 'science') =>
    world.ask<WhatIf>('whatifs', { namespace, body: { apiVersion: 'v1', kind: 'WhatIf', spec } });
  const inSeconds = (iso: string | undefined) => Math.round(Date.parse(iso!) / 1000 - world.controller.now());

  test.each([
    ['a Job', job({ pods: 2 }), 2],
    ['a Pod', pod(2), 1],
    ['a MiniCluster', miniCluster(2), 2],
  ])('%s starts at once on an empty cluster', async (_, object, nodes) => {
    const { status, kind } = await ask({ object });
    expect(kind).toBe('WhatIf');
    expect(status).toMatchObject({ message: 'it would start at once', delays: [] });
    expect(Math.abs(inSeconds(status!.start))).toBeLessThan(3);
    expect(status!.nodes).toHaveLength(nodes);
  });

  test('says when it likely starts behind workloads whose users ask for more time than they need', async () => {
    const { controller } = world;
    controller.submit('before', { pods: 2, runs: 30 });
    await controller.seconds(60);
    controller.submit('running', { pods: 2, runs: 500 });
    await controller.seconds(5);
    const { status } = await ask({ object: job({ pods: 2 }) });
    expect(inSeconds(status!.start)).toBeGreaterThan(500);
    expect(inSeconds(status!.likelyStart)).toBeLessThan(40);
    expect((await ask({ object: job(), moreNodes: 2 })).status).not.toHaveProperty('likelyStart');
  });

  test('stores and sends nothing', async () => {
    const { controller } = world;
    await controller.seconds(60);
    const { events } = controller.queue;
    const before = [events.length, controller.apiserver.store.latest];
    await ask({ object: job() });
    expect([controller.queue.events.length, controller.apiserver.store.latest]).toEqual(before);
  });

  describe('on a full cluster', () => {
    beforeEach(async () => {
      const { controller } = world;
      controller.submit('running', { pods: 2, runs: 900 });
      await controller.seconds(5);
      controller.submit('promised', { pods: 2 });
      await controller.seconds(2);
      controller.submit('second', { pods: 2 });
      await controller.seconds(2);
    });

    test('it waits behind the others, and delays nobody', async () => {
      const { status } = await ask({ object: job({ pods: 2 }) });
      // Three times ten minutes.
      expect(inSeconds(status!.start)).toBeGreaterThan(1_750);
      expect(inSeconds(status!.start)).toBeLessThanOrEqual(1_800);
      expect(inSeconds(status!.end) - inSeconds(status!.start)).toBe(300);
      expect(status).toMatchObject({ message: expect.stringContaining('it would wait: '), delays: [] });
    });

    test('with a higher priority it comes first, and says whom it delays', async () => {
      const { status } = await ask({ object: job({ pods: 2 }), priority: 100 });
      expect(inSeconds(status!.start)).toBeLessThan(1_250);
      expect(status!.delays.map(({ name }) => name)).toContain('second');
      for (const { from, to } of status!.delays) expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
    });

    test('with more nodes it starts at once', async () => {
      const { status } = await ask({ object: job({ pods: 2 }), moreNodes: 6 });
      expect(Math.abs(inSeconds(status!.start))).toBeLessThan(3);
      expect(status!.nodes.every((name) => /^more-\d$/.test(name))).toBe(true);
    });

    test('by first come, first served even a small one waits for those ahead', async () => {
      const { controller } = world;
      controller.addNode('node-2');
      await controller.seconds(5);
      const object = job({ cores: 1 });
      const { status: easy } = await ask({ object });
      expect(Math.abs(inSeconds(easy!.start))).toBeLessThan(3);
      const { status: fcfs } = await ask({ object, policy: 'fcfs' });
      expect(inSeconds(fcfs!.start)).toBeGreaterThan(500);
    });

    test('the policy decides whether it may overtake all but the first', async () => {
      const { controller } = world;
      controller.addNode('node-2');
      controller.submit('all', { pods: 3 });
      await controller.seconds(5);
      const object = job({ annotations: { 'fluxqueue/walltime': '4000s' } });
      const { status: easy } = await ask({ object });
      expect(Math.abs(inSeconds(easy!.start))).toBeLessThan(3);
      expect(easy!.delays.map(({ name }) => name)).toEqual(['all']);
      for (const policy of ['conservative', 'hybrid']) {
        const { status } = await ask({ object, policy });
        // Three times ten minutes for those that use two nodes, and once for the one that uses all.
        expect(inSeconds(status!.start)).toBeGreaterThan(2_350);
        expect(status!.delays).toEqual([]);
      }
    });

    test('an answer names nothing of another namespace', async () => {
      const { controller } = world;
      const labels = { 'fluxqueue/enabled': 'true' };
      controller.apiserver.store.create('namespaces', { metadata: { name: 'secret', labels } });
      controller.submitIn('secret', 'hidden', { pods: 2 });
      await controller.seconds(5);
      const answer = await ask({ object: job({ pods: 2 }), priority: 1000 });
      expect(JSON.stringify(answer)).not.toMatch(/secret|hidden/);
      expect(answer.status!.delays.map(({ name }) => name)).toContain('second');
    });
  });

  test('an answer does not name the workload of another namespace that should have ended', async () => {
    const { controller } = world;
    const labels = { 'fluxqueue/enabled': 'true' };
    controller.apiserver.store.create('namespaces', { metadata: { name: 'secret', labels } });
    controller.submitIn('secret', 'hidden', { pods: 2, runs: 9_000 });
    await controller.seconds(10);
    controller.stopCluster();
    await controller.seconds(700);
    const { status } = await ask({ object: job({ pods: 2 }) });
    expect(status!.start).toBeUndefined();
    expect(status!.message).toContain(
      'behind a workload of another namespace, which should have ended by now',
    );
    expect(status!.message).not.toMatch(/secret|hidden/);
    const { status: own } = await ask(
      { object: { ...job({ pods: 2 }), metadata: { name: 'asked' } } },
      'secret',
    );
    expect(own!.message).toContain('behind secret/hidden');
  });

  test.each([
    ['more than a node has', { object: job({ cores: 64 }) }, 'asks for'],
    [
      'more nodes than there are',
      { object: job({ pods: 5, annotations: { 'fluxqueue/gang-size': '5' } }) },
      'asks for',
    ],
    [
      'a hold',
      { object: job({ annotations: { 'fluxqueue/hold': 'true' } }) },
      'held until its user releases it',
    ],
    [
      'a queue that does not exist',
      { object: job({ annotations: { 'fluxqueue/queue': 'none' } }) },
      'which does not exist',
    ],
    ['another workload first', { object: job({ annotations: { 'fluxqueue/after': 'nobody' } }) }, 'nobody'],
  ])('says why it would not start with %s', async (_, spec, message) => {
    const { status } = await ask(spec);
    expect(status!.start).toBeUndefined();
    expect(status!.message).toContain(message);
  });

  test('says that no more are planned behind the first 200', async () => {
    const { controller } = world;
    for (let i = 0; i < 210; i++) controller.submit(`j${i}`);
    await controller.seconds(20);
    const { status } = await ask({ object: job() });
    expect(status).toMatchObject({ nodes: [], delays: [], message: expect.stringContaining('first 200') });
    expect(status!.start).toBeUndefined();
  });

  test('reduces what its queue does not allow, and says so', async () => {
    await world.close();
    world = new SimulatedReader({ queue: { priority: { min: 0, max: 10 }, maxWalltimeSeconds: 60 } });
    await world.controller.start();
    const { status } = await ask({ object: job(), priority: 500 });
    expect(status!.message).toMatch(/^it would start at once\. Besides, .*10/);
    expect(inSeconds(status!.end) - inSeconds(status!.start)).toBe(60);
  });

  test('tells no end of a service, which has none', async () => {
    const service = pod(2);
    const { status } = await ask({
      object: { ...service, spec: { ...service.spec, restartPolicy: 'Always' } },
    });
    expect(status).toMatchObject({ message: 'it would start at once', start: expect.any(String) });
    expect(status).not.toHaveProperty('end');
    expect((await ask({ object: job() })).status).toHaveProperty('end');
  });

  test.each<[string, Spec, string]>([
    [
      'an invalid setting',
      { object: job({ annotations: { 'fluxqueue/walltime': 'soon' } }) },
      'fluxqueue/walltime',
    ],
    [
      'what something else starts',
      { object: job({ spec: { managedBy: 'example.com/other' } }) },
      'is not taken by the queue',
    ],
    ['another kind', { object: { ...job(), kind: 'CronJob' } }, 'is not a kind of workload'],
    ['a MiniCluster without containers', { object: miniCluster(1, { containers: [] }) }, 'containers'],
    [
      'a StatefulSet',
      { object: miniCluster(1, { workload: 'StatefulSet', interactive: true }) },
      'makes a StatefulSet',
    ],
    ['no manifest', {}, 'spec.object: must be a manifest'],
    ['no containers', { object: job({ spec: { template: {} } }) }, 'must be a list of containers'],
    [
      'another namespace',
      { object: { ...job(), metadata: { name: 'a', namespace: 'x' } } },
      'is not the namespace of the question',
    ],
    ['a policy that is none', { object: job(), policy: 'random' }, 'spec.policy: must be one of'],
    ['half a node', { object: job(), moreNodes: 0.5 }, 'spec.moreNodes: must be a whole number'],
    ['a priority that is none', { object: job(), priority: 1e12 }, 'spec.priority: must be a whole number'],
  ])('refuses %s with one sentence', async (_, spec, message) => {
    const refused = await ask(spec).catch((error: FluxqError) => error);
    expect(refused).toMatchObject({ retryable: false });
    expect((refused as FluxqError).message).toContain(message);
    expect((refused as FluxqError).message).not.toContain('\n');
  });

  describe('of a namespace', () => {
    const place = (name: string, labels?: Readonly<Record<string, string>>) =>
      world.controller.apiserver.store.create('namespaces', {
        metadata: { name, ...(labels && { labels }) },
      });
    const queue = (name: string, max: string) =>
      world.controller.apiserver.store.create('fluxsetups', {
        metadata: { name, namespace: 'team' },
        spec: { walltime: { max } },
      } as never);

    test('asks the queue that its label names', async () => {
      place('team', { 'fluxqueue/enabled': 'true', 'fluxqueue/queue': 'short' });
      queue('long', '60s');
      queue('short', '30s');
      const { status } = await ask({ object: job() }, 'team');
      expect(inSeconds(status!.end) - inSeconds(status!.start)).toBe(30);
      const own = await ask({ object: job({ annotations: { 'fluxqueue/queue': 'long' } }) }, 'team');
      expect(inSeconds(own.status!.end) - inSeconds(own.status!.start)).toBe(60);
    });

    test.each([[undefined], [{ 'fluxqueue/enabled': 'false' }]])(
      'says that Kubernetes starts it if the queue has not the namespace (labels %j)',
      async (labels) => {
        place('elsewhere', labels);
        await expect(ask({ object: job() }, 'elsewhere')).rejects.toThrow(
          /^FLUXQ_WHATIF_INVALID: metadata.namespace: is not in the queue, so Kubernetes starts at once what is created there \(got "elsewhere"\); /,
        );
      },
    );
  });

  test('refuses what admission refuses, in its words', async () => {
    const { controller } = world;
    const annotations = { 'fluxqueue/walltime': 'soon' };
    const told = (() => {
      try {
        return controller.apiserver.create('/apis/batch/v1/namespaces/science/jobs', job({ annotations }));
      } catch (error) {
        return error;
      }
    })();
    const refused = await ask({ object: job({ annotations }) }).catch((error: FluxqError) => error);
    expect((told as Error).message).toContain((refused as FluxqError).message);
  });
});
