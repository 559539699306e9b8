import { jobspecOf } from '../../runtime/jobspec/jobspec';
import { rowIn } from '../queue/rows';
import { type CountedQuota, closedNodeGrants, QuotaObserver, unlawfulPreemptions } from './limits';
import type { LoggedEvent } from './observation';

const running = (count: number) =>
  Array.from({ length: count }, (_, i) => {
    const nodes = [{ name: `node-${i}`, units: { core: '0-3', memory: '0-9' } }];
    const allocation = { jobid: i, start: 0, end: 60, nodes };
    return rowIn('Running', { uid: `w${i}`, queue: 'q', pods: 3, allocation });
  });

describe('quota', () => {
  /** Observes numbers of running workloads, one per 10 seconds, and returns the number of violations of the last. */
  function observe(
    quotas: readonly (CountedQuota | undefined)[],
    held: readonly number[],
    excused: (at: number) => boolean = () => false,
  ): number {
    const observer = new QuotaObserver(0.5);
    let found = 0;
    for (const [i, count] of held.entries()) {
      // The quota is known for a while before the count is checked.
      for (const at of [i * 10, i * 10 + 6])
        found = observer.observe(
          at,
          at % 10 === 0 ? running(held[i - 1] ?? 0) : running(count),
          () => quotas[Math.min(i, quotas.length - 1)],
          () => excused(at),
        ).length;
    }
    return found;
  }
  const two: CountedQuota = { jobs: 2 };
  const one: CountedQuota = { jobs: 1 };

  test.each<[string, readonly (CountedQuota | undefined)[], readonly number[], number]>([
    ['a queue within its quota', [two], [1, 2], 0],
    ['a queue beyond its quota', [two], [1, 3], 1],
    ['a queue without a quota', [undefined], [1, 9], 0],
    ['what it held when the quota became smaller', [two, one], [2, 2], 0],
    ['a further workload after the quota became smaller', [two, one], [1, 1, 2], 1],
    ['one more after it fell below its former use', [two, one], [2, 1, 2], 1],
    ['more nodes than its quota', [{ nodes: 1 }], [1, 2], 1],
    ['as many pods as its quota', [{ pods: 6 }], [1, 2], 0],
    ['more pods than its quota', [{ pods: 5 }], [1, 2], 1],
    ['as many cores as its quota', [{ cores: '4' }], [1, 2], 0],
    ['more cores than its quota', [{ cores: '3' }], [1, 2], 1],
  ])('checks %s', (_, quotas, held, violations) => {
    expect(observe(quotas, held)).toBe(violations);
  });

  test.each([
    ['the pods that an array has at once', true, 0],
    ['all pods of a gang', false, 1],
  ])('counts %s', (_, array, violations) => {
    const observer = new QuotaObserver(1);
    const pod = { containers: [{ resources: { requests: { cpu: 2 } } }] };
    const jobspec = jobspecOf({ pod, pods: 3, walltime: 60, array });
    const rows = running(1).map((row) => ({ ...row, jobspec }));
    const quota = { pods: 2 };
    const look = (at: number, seen: typeof rows) =>
      observer.observe(
        at,
        seen,
        () => quota,
        () => false,
      );
    // The quota is known for a while before the count is checked.
    look(
      0,
      rows.map((row) => ({ ...row, pods: 1 })),
    );
    expect(look(6, rows)).toHaveLength(violations);
  });

  test('reports nothing while a fault may keep the quota from the controller', () => {
    expect(observe([two], [1, 3], () => true)).toBe(0);
  });

  test('counts what a queue holds after an adoption as lawful, and nothing beyond', () => {
    const adopted = (at: number) => at === 16;
    expect(observe([two], [1, 3, 3], adopted)).toBe(0);
    expect(observe([two], [1, 3, 4], adopted)).toBe(1);
  });
});

describe('nodes that take no pods', () => {
  const grant: LoggedEvent = {
    at: 100,
    uid: 'a',
    event: 'Allocated',
    detail: { nodes: [{ name: 'n1', units: { core: '0' } }] },
  };

  test.each<[string, ReadonlyMap<string, number>, number]>([
    ['an open node', new Map(), 0],
    ['a node that has just been closed', new Map([['n1', 97]]), 0],
    ['a node that was closed long before', new Map([['n1', 50]]), 1],
    ['another node than the closed one', new Map([['n2', 50]]), 0],
  ])('checks a grant of %s', (_, closed, violations) => {
    expect(closedNodeGrants([grant], closed)).toHaveLength(violations);
  });
});

test('only preemptible workloads are preempted', () => {
  const requeued = (uid: string, preemptions: number): LoggedEvent => ({
    at: 0,
    uid,
    event: 'Requeued',
    detail: { preemptions },
  });
  const rows = [rowIn('Running', { uid: 'a', preemptible: true }), rowIn('Running', { uid: 'b' })];
  expect(unlawfulPreemptions([requeued('a', 1), requeued('b', 0)], rows)).toEqual([]);
  expect(unlawfulPreemptions([requeued('b', 1)], rows)).toMatchObject([{ invariant: 'preemption' }]);
});
