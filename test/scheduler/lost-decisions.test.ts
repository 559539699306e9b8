/** What a pass decided and nobody committed never happened: the next one decides it again. */
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import { submission } from '../queue/submission';
import { NODE, startLoop } from './loop-fixture';
import { PREEMPTS, queueSettings } from './pass/settings';

/** Two cores. */
const LARGE = jobspecOf({
  pod: { containers: [{ resources: { requests: { cpu: 2 } } }] },
  pods: 1,
  walltime: 60,
});

test('commits no decision on rows that became stale during the pass, and decides again', async () => {
  let restored = 0;
  const { clock, queue, workloadCache, granted, loop } = await startLoop('info', (tables) => {
    if (restored > 0 || tables.all.length === 0) return;
    restored += 1;
    tables.restore(tables.backup());
  });
  await clock.advance(1_000);
  await workloadCache.submit(submission('a'));
  loop.trigger();
  await clock.advance(10);
  expect(restored).toBe(1);
  expect(queue.events.filter(({ event }) => event === 'Allocated')).toEqual([]);
  await clock.advance(2_000);
  expect(granted).toEqual(['a']);
  await loop.stop();
});

test('evicts for a workload again if the first eviction was not committed', async () => {
  let restored = 0;
  const settings = queueSettings(PREEMPTS);
  const { clock, workloadCache, loop } = await startLoop(
    'info',
    (tables) => {
      if (restored > 0 || tables.all.length < 2) return;
      restored += 1;
      tables.restore(tables.backup());
    },
    { queueSettings: () => settings, queues: () => [settings] },
  );
  await clock.advance(1_000);
  await workloadCache.submit(submission('victim', { preemptible: true, walltime: 36_000 }));
  loop.trigger();
  await clock.advance(1_000);
  await workloadCache.submit(submission('urgent', { priority: 1 }));
  loop.trigger();
  await clock.advance(10);
  expect(restored).toBe(1);
  expect(workloadCache.byUid('victim')).toMatchObject({ evictionReason: null });
  await clock.advance(2_000);
  expect(workloadCache.byUid('victim')).toMatchObject({
    evictionReason: expect.stringContaining('preempted by'),
  });
  await loop.stop();
});

test('looks again at what nodes were too few for if it was not committed that they are enough', async () => {
  let isGrown = false;
  let snapshots = 0;
  const { clock, workloadCache, loop } = await startLoop('info', (tables, setNodes) => {
    if (!isGrown) return;
    snapshots += 1;
    if (snapshots === 1) setNodes([NODE, { name: 'n1', units: { core: 2 } }]);
    // During the first pass that knows the new node.
    if (snapshots === 2) tables.restore(tables.backup());
  });
  await clock.advance(1_000);
  await workloadCache.submit(submission('large', { jobspec: LARGE, shape: shapeOf(LARGE) }));
  loop.trigger();
  await clock.advance(1_000);
  expect(workloadCache.byUid('large')).toMatchObject({ reason: 'Unsatisfiable' });
  isGrown = true;
  loop.trigger();
  await clock.advance(60_000);
  expect(snapshots).toBeGreaterThan(2);
  expect(workloadCache.byUid('large')).toMatchObject({ phase: 'Ready' });
  await loop.stop();
});
