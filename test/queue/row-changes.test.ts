import type { Queue } from '../../runtime/queue/store';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { allocationOf, changed, submission } from './submission';

describePostgres('changes of a row', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  let queue: Queue;
  let fence: number;

  beforeEach(() => {
    ({ queue, fence } = fixture);
  });

  test('an update that changes nothing writes nothing, and a new shape gets a new job id', async () => {
    const before = await fixture.rowIn('Waiting');
    expect(await queue.update(fence, [changed(before, {})])).toEqual([]);
    const [held] = await queue.update(fence, [changed(before, { held: true })]);
    expect(held).toMatchObject({ held: true, reason: 'Held', jobid: before.jobid });
    const { jobspec, shape, pods } = submission('x', { pods: 4 });
    const [wider] = await queue.update(fence, [changed(before, { jobspec, shape, pods })]);
    expect(wider).toMatchObject({ held: false, reason: 'Submitted', pods: 4, jobspec });
    expect(wider!.jobid).toBeGreaterThan(before.jobid);
    // A pass with the old row in its snapshot cannot commit its allocation.
    expect(await queue.allocate(fence, [{ uid: 'Waiting', allocation: allocationOf(before) }])).toEqual([]);
    expect(await queue.allocate(fence, [{ uid: 'Waiting', allocation: allocationOf(wider!) }])).toHaveLength(
      1,
    );
  });

  test('a row that was held during a pass is neither allocated nor called busy', async () => {
    const before = await fixture.rowIn('Waiting');
    await queue.update(fence, [changed(before, { held: true })]);
    expect(await queue.allocate(fence, [{ uid: 'Waiting', allocation: allocationOf(before) }])).toEqual([]);
    expect(
      await queue.wait(fence, [{ uid: 'Waiting', reason: 'Busy', message: '', estimatedStart: null }]),
    ).toEqual([]);
    const held = {
      uid: 'Waiting',
      reason: 'Held',
      message: 'held until its user releases it',
      estimatedStart: null,
    } as const;
    expect(await queue.wait(fence, [held])).toHaveLength(1);
  });

  test('a requeued row keeps its place, gets a new job id, and refuses its old allocation', async () => {
    const before = await fixture.rowIn('Ready');
    const [again] = await queue.requeue(fence, [{ uid: 'Ready', cause: 'failure', message: 'node-1 died' }]);
    expect(again).toMatchObject({ seq: before.seq, submittedAt: before.submittedAt, requeues: 1 });
    expect(again!.jobid).toBeGreaterThan(before.jobid);
    expect(await queue.allocate(fence, [{ uid: 'Ready', allocation: allocationOf(before) }])).toEqual([]);
  });

  test('a second release changes nothing', async () => {
    await fixture.rowIn('Ready');
    expect(await queue.released(fence, ['Ready'])).toHaveLength(1);
    expect(await queue.released(fence, ['Ready'])).toEqual([]);
    expect(await fixture.events('Ready')).toEqual(['Submitted', 'Allocated', 'Released']);
  });

  test('a release is recorded at the time at which the apiserver accepted it, and never before its grant', async () => {
    const { allocatedAt } = await fixture.rowIn('Ready');
    const [late] = await queue.released(fence, ['Ready'], allocatedAt! + 0.25);
    expect(late!.releasedAt).toBeCloseTo(allocatedAt! + 0.25, 3);
    const other = await fixture.rowIn('Ready', 'other');
    const [early] = await queue.released(fence, ['other'], other.allocatedAt! - 5);
    expect(early!.releasedAt).toBe(other.allocatedAt);
    const unknown = await fixture.rowIn('Ready', 'unknown');
    const [now] = await queue.released(fence, ['unknown']);
    expect(now!.releasedAt).toBeGreaterThan(unknown.allocatedAt!);
  });

  test('shrink accepts an allocation of the same job only, and records the usage of the freed nodes', async () => {
    const before = await fixture.rowIn('Running');
    const less = allocationOf(before, ['node-2']);
    expect(await queue.shrink(fence, [{ uid: 'Running', allocation: { ...less, jobid: 99_999 } }])).toEqual(
      [],
    );
    expect(await queue.shrink(fence, [{ uid: 'Running', allocation: less }])).toMatchObject([
      { allocation: less },
    ]);
    expect(await queue.shrink(fence, [{ uid: 'Running', allocation: less }])).toEqual([]);
    await queue.finish(fence, [{ uid: 'Running', result: 'Succeeded', finishedAt: Date.now() / 1000 + 60 }]);
    expect(
      await fixture.sql(
        `SELECT jobid::float8, queue, nodes->0->>'name' AS node FROM fluxqueue.usage ORDER BY id`,
      ),
    ).toEqual([
      { jobid: before.jobid, queue: 'default', node: 'node-1' },
      { jobid: before.jobid, queue: 'default', node: 'node-2' },
    ]);
  });

  test('shrink records the usage of units that are freed on a node that is kept', async () => {
    const before = await fixture.rowIn('Running');
    const [node] = before.allocation!.nodes;
    const keeps = allocationOf(before, [node!.name]);
    const freed = [{ name: node!.name, units: { core: '6-7' } }];
    expect(await queue.shrink(fence, [{ uid: 'Running', allocation: keeps, freed }])).toHaveLength(1);
    expect(await fixture.sql('SELECT nodes, cores::float8 FROM fluxqueue.usage ORDER BY id')).toMatchObject([
      { nodes: freed },
    ]);
  });

  test('the event log has all changes of a row in order', async () => {
    await fixture.rowIn('Running', 'a');
    await queue.requeue(fence, [{ uid: 'a', cause: 'failure', message: 'node-2 died' }]);
    await queue.wait(fence, [
      { uid: 'a', reason: 'Reserved', message: 'soon', estimatedStart: 1_800_000_000 },
    ]);
    await queue.finish(fence, [{ uid: 'a', result: 'Cancelled', finishedAt: 500 }]);
    const history = await queue.history('a');
    expect(history.map(({ event }) => event)).toEqual([
      'Submitted',
      'Allocated',
      'Running',
      'Requeued',
      'Waiting',
      'Finished',
    ]);
    expect(history[1]!.detail).toEqual({
      jobid: expect.any(Number),
      start: 100,
      end: 160,
      nodes: [
        { name: 'node-1', units: { core: '0' } },
        { name: 'node-2', units: { core: '0' } },
      ],
    });
    expect(history[3]!.detail).toEqual({ message: 'node-2 died', requeues: 1, preemptions: 0 });
    expect(history[4]!.detail).toEqual({
      reason: 'Reserved',
      message: 'soon',
      estimatedStart: 1_800_000_000,
    });
    expect(history.map(({ at }) => at)).toEqual(history.map(({ at }) => at).sort((x, y) => x - y));
    expect(Math.abs(history[0]!.at - Date.now() / 1000)).toBeLessThan(3600);
    expect(await queue.history('nobody')).toEqual([]);
  });
});
