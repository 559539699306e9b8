/** The cases of docs/recovery.md on a simulated cluster: changes that no controller saw are found and repaired. */

import type { WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { Signal } from '../../runtime/signal';
import { SimulatedController } from '../fuzz/simulated-controller';
import { doubleGrants } from '../invariants/log';

describe('recovery', () => {
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
  async function running(name: string, runs = 30): Promise<void> {
    controller.submit(name, { runs });
    await controller.seconds(5);
    expect(controller.row(name)).toMatchObject({ phase: 'Running' });
  }

  test('finishes a workload that ended while the controller was down', async () => {
    await running('a', 10);
    await controller.stop();
    await controller.seconds(20);
    expect(controller.row('a')).toMatchObject({ phase: 'Running' });
    await controller.start();
    await controller.seconds(1);
    expect(controller.row('a')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    expect(await controller.repairs()).toEqual({ 'workload-ended': 1 });
    expect(await controller.held()).toEqual([]);
  });

  test.each(['allocate', 'every write'])(
    'a listener of rows that throws at %s holds up no workload',
    async (when) => {
      const { onChange } = WorkloadCache.prototype;
      const broken = (row: WorkloadRow) => {
        if (row.name === 'a' && (when === 'every write' || row.phase === 'Ready')) throw new Error('broken');
      };
      // The first of all listeners.
      WorkloadCache.prototype.onChange = function (listener) {
        onChange.call(this, broken);
        onChange.call(this, listener);
      };
      try {
        await controller.stop();
        await controller.start();
        await running('a', 10);
        await controller.seconds(10);
        expect(controller.row('a')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
      } finally {
        WorkloadCache.prototype.onChange = onChange;
      }
    },
  );

  test('releases a granted workload of which nobody told the reconciler', async () => {
    const { emit } = Signal.prototype;
    const lost = new Set(['Ready']);
    const isHint = (value: unknown) => {
      const name = (value as { name?: string } | undefined)?.name;
      return name === 'a' && lost.has(controller.row('a')?.phase ?? '');
    };
    Signal.prototype.emit = function (this: Signal<unknown>, value) {
      if (!isHint(value)) emit.call(this, value as never);
    };
    try {
      controller.submit('a', { runs: 300 });
      await controller.seconds(30);
      expect(controller.row('a')).toMatchObject({ phase: 'Ready', releasedAt: null });
    } finally {
      Signal.prototype.emit = emit;
    }
    // Before the next audit.
    await controller.seconds(31);
    expect(controller.row('a')).toMatchObject({ phase: 'Running' });
    expect(await controller.repairs()).toEqual({});
  });

  test('cancels a workload that was deleted while the controller was down', async () => {
    await running('a');
    await controller.stop();
    controller.delete('a');
    await controller.seconds(5);
    await controller.start();
    await controller.seconds(2);
    expect(controller.row('a')).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect(await controller.repairs()).toEqual({ 'workload-gone': 1 });
    expect(await controller.held()).toEqual([]);
  });

  test('schedules a workload that was edited while the controller was down by its new settings', async () => {
    await running('first', 20);
    await running('second', 20);
    controller.submit('a');
    await controller.seconds(1);
    await controller.stop();
    controller.label('a', { 'fluxqueue/hold': 'true' });
    await controller.seconds(30);
    await controller.start();
    await controller.seconds(10);
    expect(controller.row('a')).toMatchObject({ phase: 'Waiting', reason: 'Held' });
    expect(await controller.repairs()).toMatchObject({ 'workload-edited': 1, 'workload-ended': 2 });
  });

  /** Submits a Job whose granted node a pod outside the queue takes before its pod is bound. */
  async function refused(name: string): Promise<string> {
    controller.submit(name, { runs: 600 });
    while (controller.row(name)?.phase !== 'Ready') await controller.seconds(0.02);
    const node = controller.row(name)!.allocation!.nodes[0]!.name;
    controller.unmanagedPod('intruder', { node, cores: 2, runs: 3_600 });
    return node;
  }

  test('requeues a workload whose pod kube-scheduler refuses, onto another node', async () => {
    const node = await refused('a');
    await controller.seconds(25);
    expect(controller.row('a')).toMatchObject({ phase: 'Ready', evictionReason: null });
    await controller.seconds(25);
    const row = controller.row('a')!;
    expect(row).toMatchObject({ phase: 'Running', requeues: 1, avoid: { [node]: expect.any(Number) } });
    expect(row.allocation!.nodes[0]!.name).not.toBe(node);
    expect(await controller.held()).toEqual([row.jobid]);
  });

  test('completes an eviction whose reason was committed before the controller stopped', async () => {
    const node = await refused('a');
    const request = controller.queue.requestEviction;
    let stopped: Promise<void> | undefined;
    controller.queue.requestEviction = async (...call) => {
      await request(...call);
      stopped ??= controller.stop();
      throw new Error('the answer was lost');
    };
    while (stopped === undefined) await controller.seconds(0.02);
    await stopped;
    controller.queue.requestEviction = request;
    expect(controller.row('a')).toMatchObject({ phase: 'Ready', evictionCause: 'cluster' });
    expect(controller.job('a').spec.suspend).toBe(false);
    await controller.start();
    await controller.seconds(20);
    const row = controller.row('a')!;
    expect(row).toMatchObject({ phase: 'Running', requeues: 1, evictionReason: null });
    expect(row.allocation!.nodes[0]!.name).not.toBe(node);
  });

  test('requeues a workload whose node was deleted while the controller was down', async () => {
    await running('a', 60);
    const lost = controller.row('a')!.allocation!.nodes[0]!.name;
    await controller.stop();
    controller.removeNode(lost);
    await controller.seconds(1);
    await controller.start();
    await controller.seconds(15);
    expect(controller.row('a')).toMatchObject({ phase: 'Running', requeues: 1 });
    expect(controller.row('a')!.allocation!.nodes).not.toContainEqual(
      expect.objectContaining({ name: lost }),
    );
    expect(await controller.repairs()).toEqual({ 'node-gone': 1 });
  });

  test('counts pods outside the queue on granted units once these are free', async () => {
    await running('a', 20);
    const node = controller.row('a')!.allocation!.nodes[0]!.name;
    controller.unmanagedPod('unknown', { node, cores: 3, runs: 60 });
    await controller.seconds(5);
    controller.submit('wide', { pods: 2, cores: 4 });
    await controller.seconds(30);
    expect(controller.row('a')).toMatchObject({ phase: 'Finished' });
    expect(controller.row('wide')).toMatchObject({ phase: 'Waiting' });
    await controller.seconds(40);
    expect(controller.row('wide')).toMatchObject({ phase: 'Running' });
  });

  test('counts pods outside the queue until they end', async () => {
    controller.unmanagedPod('unknown', { node: 'node-0', cores: 3, runs: 20 });
    await controller.seconds(4);
    controller.submit('wide', { pods: 2, cores: 4 });
    await controller.seconds(5);
    expect(controller.row('wide')).toMatchObject({ phase: 'Waiting' });
    await controller.seconds(25);
    expect(controller.row('wide')).toMatchObject({ phase: 'Running' });
  });

  test('rebuilds the graph of a Fluxion that was restarted', async () => {
    await running('a');
    await controller.fluxion.close();
    controller.submit('b', { pods: 2 });
    await controller.seconds(5);
    expect(controller.row('b')).toMatchObject({ phase: 'Waiting' });
    expect(await controller.repairs()).toEqual({ 'fluxion-rebuilt': 1 });
    expect(await controller.held()).toContain(controller.row('a')!.jobid);
  });

  test('the periodic audit finds a lost allocation and one without a workload in Fluxion', async () => {
    await running('a', 300);
    const { jobid, jobspec } = controller.row('a')!;
    const now = 1_800_000_020;
    await controller.fluxion.cancel(jobid);
    await controller.fluxion.match({ jobid: 4711, jobspec, operation: 'allocate', now });
    await controller.seconds(100);
    expect(await controller.held()).toEqual([jobid]);
    expect(await controller.repairs()).toMatchObject({ 'fluxion-differs': 1 });
  });

  test('adopts running workloads after the database was restored from an empty backup, with their job ids', async () => {
    const empty = controller.queue.backup();
    await running('a', 200);
    controller.submit('b', { runs: 200 });
    controller.submit('c');
    await controller.seconds(5);
    const before = { a: controller.row('a')!, b: controller.row('b')! };
    await controller.stop();
    controller.queue.restore(empty);
    await controller.start();
    await controller.seconds(5);
    for (const name of ['a', 'b'] as const) {
      const row = controller.row(name)!;
      expect(row).toMatchObject({ phase: 'Running' });
      expect(row.allocation!.nodes.map(({ name: node }) => node)).toEqual(
        before[name].allocation!.nodes.map(({ name: node }) => node),
      );
      expect(row.jobid).toBe(before[name].jobid);
      expect(controller.job(name).spec.suspend).toBe(false);
    }
    expect(controller.row('c')).toMatchObject({ phase: 'Waiting' });
    expect(await controller.repairs()).toEqual({ adopted: 2 });
    await controller.seconds(300);
    for (const name of ['a', 'b', 'c'])
      expect(controller.row(name)).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });

  test('adopts a running workload after the database was restored to a time when it waited', async () => {
    await running('first', 14);
    await running('second', 14);
    controller.submit('a', { runs: 60 });
    await controller.seconds(1);
    const backup = controller.queue.backup();
    await controller.seconds(15);
    expect(controller.row('a')).toMatchObject({ phase: 'Running' });
    await controller.stop();
    controller.queue.restore(backup);
    await controller.start();
    await controller.seconds(2);
    expect(controller.row('a')).toMatchObject({ phase: 'Running', requeues: 0 });
    expect(await controller.repairs()).toMatchObject({ adopted: 1 });
    expect(controller.queue.events.filter(({ event }) => event === 'Requeued')).toEqual([]);
  });

  test('suspends a workload again that an earlier leader released too late', async () => {
    await running('a', 60);
    const late = controller.job('a');
    // Its user suspends it: it waits with a new job id behind a job that fills the cluster.
    controller.submit('b', { pods: 2, runs: 20 });
    await controller.seconds(1);
    controller.label('a', { 'fluxqueue/hold': 'true' });
    controller.apiserver.store.put('jobs', { ...controller.job('a'), spec: { ...late.spec, suspend: true } });
    await controller.seconds(10);
    expect(controller.row('a')).toMatchObject({ phase: 'Waiting', reason: 'Held' });
    controller.apiserver.store.put('jobs', { ...controller.job('a'), spec: late.spec });
    await controller.seconds(5);
    expect(controller.job('a').spec.suspend).toBe(true);
    expect(controller.row('a')).toMatchObject({ phase: 'Waiting' });
    expect(await controller.repairs()).toEqual({});
  });

  test.each([
    ['forwards', 30 * 24 * 3600],
    ['backwards', -30 * 24 * 3600],
  ])(
    'no workload ends, times out or is granted twice when the clock jumps %s, also across a restart',
    async (_, jump) => {
      await running('a', 100);
      controller.submit('wide', { pods: 2, runs: 5 });
      await controller.seconds(2);
      controller.drift = jump;
      await controller.seconds(20);
      expect(controller.row('a')).toMatchObject({ phase: 'Running' });
      expect(controller.row('wide')).toMatchObject({ phase: 'Waiting' });
      await controller.stop();
      await controller.start();
      controller.submit('small', { runs: 5 });
      await controller.seconds(20);
      expect(controller.row('a')).toMatchObject({ phase: 'Running' });
      expect(controller.row('wide')).toMatchObject({ phase: 'Waiting' });
      await controller.seconds(120);
      for (const name of ['a', 'wide', 'small'])
        expect(controller.row(name)).toMatchObject({ phase: 'Finished', result: 'Succeeded', requeues: 0 });
    },
  );
});
