import { jobspecOf } from '../../runtime/jobspec/jobspec';
import type { Result, Submission } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';
import { allocationOf, submission } from './submission';

const ALL = { from: 0, until: 3e9 };

describePostgres('the trace of what has ended', (getPostgres) => {
  const fixture = useQueue(getPostgres);

  async function ran(uid: string, at: number, over: Partial<Submission> = {}, result: Result = 'Succeeded') {
    const { queue, fence } = fixture;
    const [row] = await queue.submit(fence, [submission(uid, { submittedAt: at, ...over })]);
    await queue.allocate(fence, [{ uid, allocation: allocationOf(row!) }]);
    await queue.running(fence, [{ uid, startedAt: at + 10 }]);
    await queue.finish(fence, [{ uid, result, finishedAt: at + 100 }]);
  }

  const requesting = (cpu: string, pods: number): Partial<Submission> => {
    const pod = { containers: [{ resources: { requests: { cpu } } }] };
    return { pods, jobspec: jobspecOf({ pod, pods, walltime: 60 }) };
  };

  test('has what started and ended, in the order of submission, also after it was archived', async () => {
    const { queue, fence } = fixture;
    await ran('second', 2_000, requesting('1500m', 3), 'Failed');
    await ran('first', 1_000, { user: 'bob', queue: 'science/gpu' });
    await ran('late', 5_000);
    await fixture.rowIn('Waiting');
    await fixture.rowIn('Running');
    await queue.submit(fence, [submission('cancelled')]);
    await queue.finish(fence, [{ uid: 'cancelled', result: 'Cancelled', finishedAt: 3_000 }]);
    const before = await queue.traced(ALL);
    expect(before).toMatchObject([
      {
        submittedAt: 1_000,
        startedAt: 1_010,
        finishedAt: 1_100,
        cores: 1,
        user: 'bob',
        queue: 'science/gpu',
      },
      { submittedAt: 2_000, cores: 5, result: 'Failed', walltime: 60, namespace: 'science' },
      { submittedAt: 5_000 },
    ]);
    expect(await queue.archive(fence, 3_000)).toBeGreaterThan(0);
    expect(await queue.traced(ALL)).toEqual(before);
    expect(await queue.traced({ from: 2_000, until: 5_100 })).toMatchObject([{ submittedAt: 2_000 }]);
  });
});
