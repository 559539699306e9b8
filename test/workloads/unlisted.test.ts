/** What becomes of grants of a kind whose objects cannot be listed. */
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { Unlisted } from '../../runtime/workloads/unlisted';
import { rowIn } from '../queue/rows';

const KEY = { kind: 'JobSet', namespace: 'science', name: 'a' };

function setUp(change: Partial<WorkloadRow> = {}) {
  const world = { now: 1_800_000_000, pods: [] as Pod[], taken: [] as string[] };
  const row = rowIn('Ready', { ...KEY, jobid: 7, releasedAt: null, allocatedAt: 1_700_000_000, ...change });
  const unlisted = new Unlisted({
    workloadCache: { byName: () => [row] },
    podsOf: () => world.pods,
    now: () => world.now,
    eviction: { takeBack: async () => row },
    onEnd: ({ jobid }: WorkloadRow) => world.taken.push(`${jobid}`),
  } as unknown as ConstructorParameters<typeof Unlisted>[0]);
  const after = async (seconds: number) => {
    world.now += seconds;
    return unlisted.keep(KEY);
  };
  return { world, after };
}

test('a grant that was not released is taken back after a minute without pods', async () => {
  const { world, after } = setUp();
  expect(await after(0)).toEqual({ after: 60_000 });
  expect(await after(59)).toEqual({ after: 1_000 });
  expect(world.taken).toEqual([]);
  expect(await after(1)).toBeUndefined();
  expect(world.taken).toEqual(['7']);
});

test('a grant that another leader has released keeps its nodes once its pods come', async () => {
  const { world, after } = setUp();
  await after(0);
  world.pods = [{} as Pod];
  expect(await after(600)).toBeUndefined();
  world.pods = [];
  expect(await after(600)).toEqual({ after: 60_000 });
  expect(world.taken).toEqual([]);
});

test('what was released stays, and so does what waits', async () => {
  for (const change of [{ releasedAt: 1 }, { phase: 'Waiting' }] as const) {
    const { world, after } = setUp(change);
    for (let i = 0; i < 3; i++) expect(await after(100)).toBeUndefined();
    expect(world.taken).toEqual([]);
  }
});
