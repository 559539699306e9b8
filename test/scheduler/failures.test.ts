/** A workload at which the scheduler fails, as by a fault of its own, costs the others two passes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { EmbeddedEngine } from '../../runtime/fluxion/matcher/engine';
import { startFluxionServer } from '../../runtime/fluxion/server/server';
import { inDoubt } from '../../runtime/fluxion/wire';
import { createLogger } from '../../runtime/observability/log';
import { newRow } from '../../runtime/queue/rows';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { FluxionSync } from '../../runtime/scheduler/fluxion-sync';
import { failureOf, PlacementFailures } from '../../runtime/scheduler/pass/failures';
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

/** A loop with the service of the sidecar, whose engine fails as it is asked for the walltime of the workload `bad`. */
async function behindService(error: Error) {
  const folder = await mkdtemp(join(tmpdir(), 'fluxion-'));
  const engine = new EmbeddedEngine();
  const faults = { tries: 0, areMended: false, isOut: false };
  const { init, match } = engine;
  engine.match = async (request) => {
    const { duration } = request.jobspec.attributes.system;
    if (faults.isOut || (duration === BAD_WALLTIME && !faults.areMended)) {
      faults.tries += 1;
      throw error;
    }
    return match.call(engine, request);
  };
  engine.init = async (request) => {
    if (faults.isOut) throw error;
    return init.call(engine, request);
  };
  const log = createLogger('test', 'silent');
  const server = await startFluxionServer({ address: `unix:${folder}/s.sock`, engine, log });
  const fluxion = connectFluxion({ address: server.address });
  const graph = new FluxionSync({
    fluxion,
    policy: 'lonode',
    fence: 1,
    logger: log,
    onRebuild: () => undefined,
  });
  const world = await startLoop('info', (_, setNodes) => setNodes(NODES), { graph });
  await world.workloadCache.submit(submission('bad', { shape: 'bad', priority: 1, walltime: BAD_WALLTIME }));
  await world.workloadCache.submit(submission('good'));
  /** Runs this many passes, each to its end. */
  const passes = async (count: number) => {
    for (let i = 0; i < count; i++) {
      world.loop.trigger();
      await world.clock.advance(1_000);
      await world.loop.inspect(async () => undefined);
    }
  };
  stop = async () => {
    await world.loop.stop();
    await fluxion.close();
    await server.stop();
    await rm(folder, { recursive: true });
  };
  return { ...world, faults, passes };
}

const idle = async () => {};
let stop = idle;
afterEach(async () => {
  await stop();
  stop = idle;
});

const BAD_WALLTIME = 61;
const row = (shape: string) => newRow(submission(shape, { shape }), 1);

test('it is left out also where the engine behind the service fails at it', async () => {
  const { granted, workloadCache, lines, faults, passes } = await behindService(
    new TypeError('no such node'),
  );
  await passes(5);
  expect(granted).toEqual(['good']);
  expect(faults.tries).toBe(2);
  expect(workloadCache.byUid('bad')?.message).toContain('the scheduler failed as it placed it');
  expect(lines.find(({ uid }) => uid === 'bad')?.error).toMatch(/FLUXQ_FLUXION_ENGINE.*no such node/);
});

test('it is left out after three passes without an answer at it, though Fluxion is rebuilt each time', async () => {
  const { granted, clock, faults, passes } = await behindService(inDoubt('no answer'));
  await passes(3);
  expect([granted, faults.tries]).toEqual([[], 3]);
  await passes(3);
  expect([granted, faults.tries]).toEqual([['good'], 3]);
  faults.areMended = true;
  await clock.advance(60_000);
  await passes(2);
  expect(granted).toEqual(['good', 'bad']);
});

test('an outage of Fluxion blames no workload', async () => {
  const { granted, faults, passes } = await behindService(inDoubt('no answer'));
  faults.areMended = true;
  faults.isOut = true;
  await passes(8);
  expect(granted).toEqual([]);
  faults.isOut = false;
  await passes(2);
  expect(granted).toEqual(['bad', 'good']);
});

test('passes without an answer count only where none has succeeded since, and none for another workload', () => {
  const failures = new PlacementFailures();
  const [bad, other] = [row('bad'), row('other')];
  const fail = (at: WorkloadRow) => failures.note(failureOf(at, inDoubt('no answer')), 0);
  const unrelated = () => failures.note(new Error('the database is down'), 0);
  for (const between of [() => failures.passed({ more: false }), () => fail(other)]) {
    expect([fail(bad), fail(bad)]).toEqual([bad, bad]);
    between();
  }
  expect([failures.has(bad, 1), failures.has(other, 1)]).toEqual([false, false]);
  // A service that starts again after a crash refuses some passes.
  fail(bad);
  unrelated();
  fail(bad);
  unrelated();
  expect(failures.has(bad, 1)).toBe(false);
  fail(bad);
  expect([failures.has(bad, 1), failures.has(bad, 60)]).toEqual([true, false]);
});
