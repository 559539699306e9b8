/** The database is restored from a backup, on a simulated cluster: running workloads keep the nodes that they really use. */
import { ADMITTED_LABEL, ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { pause } from '../../runtime/clock';
import type { Pod } from '../../runtime/kubernetes/types';
import type { Snapshot } from '../fuzz/queue-model';
import { RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';
import { doubleGrants } from '../invariants/log';

describe.each(['while no controller runs', 'while the controller runs'])('a restore %s', (when) => {
  let controller: SimulatedController;

  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(async () => {
    expect(doubleGrants(controller.queue.events)).toEqual([]);
    await controller.close();
  });

  /** Submits a Job that runs on one whole node. @param runs seconds */
  async function running(name: string, runs = 300): Promise<void> {
    controller.submit(name, { runs });
    await controller.seconds(5);
    expect(controller.row(name)).toMatchObject({ phase: 'Running' });
  }

  async function restore(backup: Snapshot): Promise<void> {
    if (when === 'while no controller runs') {
      await controller.stop();
      controller.queue.restore(backup);
      await controller.start();
    } else controller.queue.restore(backup);
    controller.submit('trigger', { runs: 1 });
    await controller.seconds(8);
  }

  function suspend(name: string): void {
    const job = controller.job(name);
    controller.label(name, { 'fluxqueue/hold': 'true' });
    controller.apiserver.store.put('jobs', {
      ...controller.job(name),
      spec: { ...job.spec, suspend: true },
    });
  }

  /** The Job runs on without a requeue, and Fluxion holds units for it that its node has. */
  async function expectAdopted(name: string, node: string): Promise<void> {
    const row = controller.row(name)!;
    expect(row).toMatchObject({ phase: 'Running', requeues: 0 });
    expect(row.allocation!.nodes).toMatchObject([{ name: node, units: { core: '0-39' } }]);
    expect(await controller.held()).toContain(row.jobid);
    expect(controller.job(name).spec.suspend).toBe(false);
    expect(controller.queue.events.filter(({ event }) => event === 'Adopted').length).toBeGreaterThan(0);
  }

  test.each<[string, number, () => void]>([
    ['is deleted', 300, () => controller.delete('old')],
    ['has ended', 12, () => undefined],
    ['was suspended', 300, () => suspend('old')],
  ])('adopts a workload on the units of a row whose workload %s', async (_, runs, end) => {
    await running('other');
    await running('old', runs);
    const backup = controller.queue.backup();
    controller.submit('new', { runs: 300 });
    end();
    await controller.seconds(20);
    const { startedAt, allocation } = controller.row('new')!;
    const node = allocation!.nodes[0]!.name;
    expect(node).toBe(backup.rows.get(controller.row('old')?.uid ?? '')!.allocation!.nodes[0]!.name);
    await restore(backup);
    await expectAdopted('new', node);
    // Kubernetes truncates times to seconds.
    expect(Math.floor(controller.row('new')!.startedAt!)).toBe(Math.floor(startedAt!));
    const restored = controller.row('new')!.allocation!;
    expect(restored.start).toBe(Math.floor(startedAt!));
    expect(restored.end - restored.start).toBe(allocation!.end - allocation!.start);
  });

  test('moves a row whose workload was requeued and granted again since', async () => {
    await running('a');
    const { name: before } = controller.row('a')!.allocation!.nodes[0]!;
    const backup = controller.queue.backup();
    controller.removeNode(before);
    await controller.seconds(15);
    const { name: after } = controller.row('a')!.allocation!.nodes[0]!;
    expect(after).not.toBe(before);
    controller.addNode(before);
    await restore(backup);
    await expectAdopted('a', after);
  });

  test('requeues a grant that is not released if its units are used by now', async () => {
    await running('other');
    await running('old');
    const row = controller.row('old')!;
    const unreleased = { ...row, phase: 'Ready', releasedAt: null, startedAt: null } as const;
    const backup = controller.queue.backup();
    const rows = new Map([...backup.rows, [row.uid, unreleased]]);
    suspend('old');
    await controller.seconds(5);
    await running('new');
    await restore({ ...backup, rows });
    await expectAdopted('new', row.allocation!.nodes[0]!.name);
    expect(controller.row('old')).toMatchObject({ phase: 'Waiting' });
  });
});

/** Lets each patch take three seconds, once that is wanted. */
function slowReleases({ clock, apiserver }: SimulatedController): { areSlow: boolean } {
  const releases = { areSlow: false };
  const client = apiserver.client();
  const patch = client.patch.bind(client);
  client.patch = (async (...args: Parameters<typeof patch>) => {
    if (releases.areSlow) await pause(clock, 3_000);
    return patch(...args);
  }) as typeof patch;
  apiserver.client = () => client;
  return releases;
}

test('a grant that is being released is kept while another one on its node is adopted', async () => {
  const controller = new SimulatedController();
  const { queue } = controller;
  const releases = slowReleases(controller);
  await controller.start();
  controller.submit('lost', { cores: 2, runs: 300 });
  await controller.seconds(5);
  releases.areSlow = true;
  controller.submit('late', { cores: 2, runs: 300 });
  await controller.seconds(1);
  const { jobid, allocation } = controller.row('late')!;
  expect(controller.row('late')).toMatchObject({ phase: 'Ready', releasedAt: null });
  expect(controller.job('late').spec.suspend).toBe(true);
  expect(allocation!.nodes[0]!.name).toBe(controller.row('lost')!.allocation!.nodes[0]!.name);
  const backup = queue.backup();
  const rows = new Map([...backup.rows].filter(([, { name }]) => name !== 'lost'));
  queue.restore({ ...backup, rows });
  controller.submit('trigger', { cores: 1, runs: 1 });
  await controller.seconds(10);
  expect(controller.row('late')).toMatchObject({ phase: 'Running', jobid, requeues: 0 });
  expect(controller.row('lost')).toMatchObject({ phase: 'Running' });
  expect(doubleGrants(queue.events)).toEqual([]);
  await controller.close();
});

test('a Job whose pods have ended is no lost grant when they are deleted before its controller has counted them', async () => {
  const controller = new SimulatedController();
  const { queue, apiserver } = controller;
  const releases = slowReleases(controller);
  await controller.start();
  for (const name of ['other', 'a', 'b']) controller.submit(name, { runs: 300 });
  await controller.seconds(5);
  expect(controller.row('b')).toMatchObject({ phase: 'Waiting' });
  controller.stopCluster();
  releases.areSlow = true;
  const [pod] = apiserver.store.list<Pod>('pods').filter(({ metadata: { name } }) => name.startsWith('a-'));
  const ended = { ...pod!, status: { ...pod!.status, phase: 'Succeeded' } };
  apiserver.store.put('pods', ended);
  await controller.seconds(1);
  expect(controller.row('a')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  const { jobid } = controller.row('b')!;
  expect(controller.row('b')).toMatchObject({ phase: 'Ready', releasedAt: null });
  const deletionTimestamp = new Date(controller.now() * 1000).toISOString();
  // Its finalizer keeps it until the Job controller has counted it.
  apiserver.store.put('pods', { ...ended, metadata: { ...ended.metadata, deletionTimestamp } });
  await controller.seconds(10);
  expect(queue.events.filter(({ event }) => event === 'Requeued')).toEqual([]);
  expect(controller.row('b')).toMatchObject({ phase: 'Ready', jobid, releasedAt: expect.any(Number) });
  expect(await controller.repairs()).toEqual({});
  await controller.close();
});

test.each([
  ['kube-system', 0],
  ['science', 1],
])(
  'a Job that carries a grant is adopted where admission reserves its labels: %s',
  async (namespace, rows) => {
    const controller = new SimulatedController();
    await controller.start();
    const annotations = {
      [ASSIGNMENT_ANNOTATION]: '0/1:node-0',
      [JOBID_ANNOTATION]: '2000000000000000',
      [RUNS]: '20',
    };
    const forged = (name: string) => ({
      metadata: { name, namespace, labels: { [ADMITTED_LABEL]: 'true' } },
      spec: {
        suspend: false,
        parallelism: 1,
        completions: 1,
        completionMode: 'Indexed',
        template: {
          metadata: { annotations },
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] },
        },
      },
    });
    const rowsOf = (name: string) =>
      [...controller.queue.backup().rows.values()].filter((row) => row.name === name);
    controller.apiserver.store.create('jobs', forged('forged'));
    await controller.seconds(10);
    expect(rowsOf('forged')).toHaveLength(rows);
    // One that has ended would be charged to its queue.
    await controller.seconds(20);
    controller.queue.restore({ ...controller.queue.backup(), rows: new Map() });
    await controller.seconds(75);
    expect(rowsOf('forged')).toHaveLength(rows);
    await controller.close();
  },
);
