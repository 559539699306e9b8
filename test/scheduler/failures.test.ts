/** A workload at which the scheduler fails, as by a fault of its own, costs the others two passes. */
import { FluxqError } from '../../runtime/errors';
import type { Surroundings } from '../../runtime/scheduler/pass/placed-pods';
import { submission } from '../queue/submission';
import { startLoop } from './loop-fixture';
import { HOST, other, web } from './pass/rules';

const NODES = [{ name: 'n0', units: { core: 2 } }];

/** A loop that fails as it looks at the workload `bad`. */
async function failing(error: Error) {
  const tries: number[] = [];
  let isMended = false;
  const surroundings: Surroundings = {
    unmanaged: () => [],
    repelling: () => [other('n0', { rules: { apart: [{ topologyKey: HOST, selector: web, self: true }] } })],
    unmanagedOn: () => 0,
    amountsOf: () => ({}),
    traitsOf: ({ uid, namespace }) => {
      if (uid === 'bad' && !isMended) {
        tries.push(Math.round(world.clock.now() / 1000));
        throw error;
      }
      return { namespace, labels: {} };
    },
  };
  const world = await startLoop('info', (_, setNodes) => setNodes(NODES), { surroundings });
  await world.workloadCache.submit(submission('bad', { shape: 'bad', priority: 1 }));
  await world.workloadCache.submit(submission('good'));
  world.loop.trigger();
  const mend = () => {
    isMended = true;
  };
  return { ...world, tries, mend };
}

test('it is left out, less and less often tried again, and says so', async () => {
  const { clock, loop, granted, workloadCache, tries, mend } = await failing(new TypeError('no such node'));
  await clock.advance(5_000);
  expect(granted).toEqual(['good']);
  expect(workloadCache.byUid('bad')).toMatchObject({
    reason: 'Busy',
    message: 'the scheduler failed as it placed it, and tries again later; its log says why',
  });
  await clock.advance(400_000);
  const gaps = tries.slice(1).map((at, i) => at - tries[i]!);
  expect(gaps[0]).toBeLessThanOrEqual(2);
  expect(gaps[1]).toBeGreaterThanOrEqual(60);
  expect(gaps[2]).toBeGreaterThanOrEqual(120);
  mend();
  await clock.advance(600_000);
  expect(granted).toEqual(['good', 'bad']);
  await loop.stop();
});

test('an error that is tried again by itself blames no workload', async () => {
  const error = new FluxqError('FLUXQ_FLUXION_DOWN', 'no answer', { retryable: true });
  const { clock, loop, granted, mend } = await failing(error);
  await clock.advance(10_000);
  expect(granted).toEqual([]);
  mend();
  await clock.advance(5_000);
  expect(granted).toEqual(['bad', 'good']);
  await loop.stop();
});
