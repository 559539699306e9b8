/** The places of evicted pods, which outlive their leader. */
import type { Succession } from '../../runtime/queue/successions';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { submission } from './submission';

const NOW = 1_800_000_000;

function succession(uid: string, at = NOW): Succession {
  const avoid = { 'node-1': NOW + 300 };
  return {
    controller: 'web',
    predecessor: {
      uid,
      submittedAt: 1000.5,
      requeues: 2,
      clusterRequeues: 1,
      message: 'did not run',
      notBefore: NOW + 10,
      avoid,
    },
    at,
  };
}

describePostgres('successions', (getPostgres) => {
  const fixture = useQueue(getPostgres);

  test('are kept for the next leader, the oldest first', async () => {
    const { queue, fence } = fixture;
    await queue.rememberSuccession(fence, succession('b', NOW + 1));
    await queue.rememberSuccession(fence, succession('a', NOW));
    await queue.acquireFence('next');
    expect(await queue.successions()).toEqual([succession('a', NOW), succession('b', NOW + 1)]);
  });

  test('replace that of the same pod', async () => {
    const { queue, fence } = fixture;
    for (const at of [NOW, NOW + 700]) await queue.rememberSuccession(fence, succession('a', at));
    expect(await queue.successions()).toEqual([succession('a', NOW + 700)]);
  });

  test('are removed ten minutes later, with the next one', async () => {
    const { queue, fence } = fixture;
    await queue.rememberSuccession(fence, succession('a', NOW));
    await queue.rememberSuccession(fence, succession('b', NOW + 601));
    expect((await queue.successions()).map(({ predecessor }) => predecessor.uid)).toEqual(['b']);
  });

  test('end with the submission of the successor, which takes over the place', async () => {
    const { queue, fence } = fixture;
    for (const uid of ['a', 'b']) await queue.rememberSuccession(fence, succession(uid));
    const { uid: predecessor, ...place } = succession('a').predecessor;
    const [row] = await queue.submit(fence, [{ ...submission('c'), ...place, predecessor }, submission('d')]);
    expect(row).toMatchObject({ uid: 'c', ...place });
    expect(row).not.toHaveProperty('predecessor');
    expect(row).toMatchObject({ isAfterMet: false });
    expect((await queue.successions()).map((each) => each.predecessor.uid)).toEqual(['b']);
  });

  test('stand where the predecessor stood among those of its second', async () => {
    const { queue, fence } = fixture;
    const inSecond = (uid: string, name = uid) => submission(uid, { submittedAt: 20, name });
    const [, lost] = await queue.submit(fence, [inSecond('before'), inSecond('lost'), inSecond('after')]);
    await queue.finish(fence, [{ uid: 'lost', result: 'Cancelled', finishedAt: 25 }]);
    const { seq } = lost!;
    const [next] = await queue.submit(fence, [
      { ...inSecond('next', 'lost'), seq, predecessor: 'lost' },
      inSecond('last'),
    ]);
    expect(next).toMatchObject({ uid: 'next', seq });
    expect((await queue.active()).map(({ uid }) => uid)).toEqual(['before', 'next', 'after', 'last']);
    // Both have the same name, time and place.
    await queue.finish(fence, [{ uid: 'next', result: 'Succeeded', finishedAt: 30 }]);
    const { namespace, name } = next!;
    expect(await queue.outcomes([{ namespace, name }])).toMatchObject([
      { jobid: next!.jobid, result: 'Succeeded' },
    ]);
  });

  test('tell which dependencies the predecessor had met', async () => {
    const { queue, fence } = fixture;
    const after = [{ type: 'afterok', name: 'prep' }] as const;
    const { uid: predecessor, ...place } = succession('a').predecessor;
    const given = { ...place, metAfter: after, predecessor };
    const [same, changed] = await queue.submit(fence, [
      { ...submission('c', { after }), ...given },
      { ...submission('d', { after: [{ type: 'afterok', name: 'other' }] }), ...given },
    ]);
    expect([same!.isAfterMet, changed!.isAfterMet]).toEqual([true, false]);
  });

  test('are neither written nor removed by an old leader', async () => {
    const { queue, fence } = fixture;
    await queue.rememberSuccession(fence, succession('a'));
    await queue.acquireFence('next');
    await expect(queue.rememberSuccession(fence, succession('b'))).rejects.toMatchObject({
      code: 'FLUXQ_FENCED',
    });
    const late = { ...submission('c'), predecessor: 'a' };
    await expect(queue.submit(fence, [late])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    expect((await queue.successions()).map((each) => each.predecessor.uid)).toEqual(['a']);
  });
});
