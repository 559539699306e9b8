/** flux-sched's C library, if it is installed (FLUXION_LIBRARY or the usual folders). */
import { join } from 'node:path';
import type { QueuePolicy } from '../../../constructs/api/policies';
import { connectFluxion } from '../../../runtime/fluxion/client/client';
import { loadLibraryEngine } from '../../../runtime/fluxion/library/engine';
import { findLibrary, LIBRARY } from '../../../runtime/fluxion/library/find';
import { embeddedFluxion } from '../../../runtime/fluxion/matcher/engine';
import { startFluxionServer } from '../../../runtime/fluxion/server/server';
import { replay } from '../../../runtime/simulation/replay';
import { parseSwf } from '../../../runtime/simulation/swf';
import fc from '../../fast-check';
import type { Simulation } from '../../scheduler/pass/simulation';
import { messyTrace, play } from '../../scheduler/pass/traces';
import { swfTrace } from '../../simulation/trace';
import { conformance } from '../conformance';
import { cores, nodes, wholeNodes } from '../jobspecs';
import { readCases, runOracle, serverFor } from '../oracle';
import { START, TWO_NODES } from '../scenarios/scenario';
import { toJgf } from '../to-jgf';
import { answers, histories } from './histories';

const library = findLibrary(undefined);
const log = { info() {}, warn() {}, error() {} };

if (library === undefined) {
  test.skip(`flux-sched itself is not tested: ${LIBRARY} is not installed`, () => {});
} else {
  describe('the library in this process', () => {
    conformance(
      async () => {
        const fluxion = await loadLibraryEngine(library);
        return { fluxion, stop: () => fluxion.close() };
      },
      { level: 'exact' },
    );
  });

  describe('the library with a new context before every match', () => {
    conformance(
      async () => {
        const engine = await loadLibraryEngine(library, { matchesPerContext: 1 });
        return { fluxion: engine, stop: () => engine.close() };
      },
      { level: 'exact' },
    );
  });

  test('gives the recorded answers', async () => {
    const engine = await loadLibraryEngine(library);
    const server = await startFluxionServer({ address: '127.0.0.1:0', engine, log });
    const oracle = await serverFor(server.address);
    for (const recording of ['fluxion-0.54.jsonl.gz', 'fluxion-0.54-time.jsonl.gz']) {
      const report = await runOracle(readCases(join(__dirname, '..', 'oracle', recording)), oracle);
      expect(report.differences).toEqual([]);
    }
    await oracle.close();
    await server.stop();
  });

  test.each<QueuePolicy>(['easy', 'hybrid', 'conservative'])(
    'replays a trace as the embedded matcher does, with reservations for hours: %s',
    async (policy) => {
      const trace = parseSwf(swfTrace({ jobs: 120, cores: 64, load: 1.5 }), 'generated').jobs;
      const machine = { nodes: 16, coresPerNode: 4, policy };
      const real = await loadLibraryEngine(library);
      expect(await replay(trace, { ...machine, fluxion: real })).toEqual(await replay(trace, machine));
      await real.close();
    },
  );

  test('starts everything at the same second as the embedded matcher, with services and overruns', async () => {
    const real = await loadLibraryEngine(library);
    const policies = fc.constantFrom<QueuePolicy>('easy', 'hybrid', 'conservative');
    await fc.assert(
      fc.asyncProperty(messyTrace, policies, async (jobs, policy) => {
        const ours = await play(jobs, policy);
        const theirs = await play(jobs, policy, 'lonode', undefined, real);
        const starts = ({ started }: Simulation) => started.map(({ uid, start, end }) => [uid, start, end]);
        expect(starts(theirs)).toEqual(starts(ours));
      }),
      { numRuns: 60 },
    );
    await real.close();
  });

  test('answers random histories as the embedded matcher does', async () => {
    const real = await loadLibraryEngine(library);
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        expect(await answers(real, history)).toEqual(await answers(embeddedFluxion(), history));
      }),
      { numRuns: 200 },
    );
    await real.close();
  });

  test.each(['nodes', 'JGF'])(
    'keeps the start of a reservation when a job ends early, in a graph from %s',
    async (form) => {
      const real = await loadLibraryEngine(library);
      const init = { policy: 'lonode', now: START } as const;
      if (form === 'JGF') await real.initJgf({ ...init, jgf: JSON.stringify(toJgf(TWO_NODES)) });
      else await real.init({ ...init, nodes: TWO_NODES });
      const ask = async (jobid: number, count: number, walltime: number, now: number) => {
        const jobspec = wholeNodes(count, { walltime });
        const answer = await real.match({ jobid, jobspec, operation: 'allocate_orelse_reserve', now });
        return answer.status === 'OK' ? answer.allocation?.start : answer.status;
      };
      expect(await ask(1, 2, 100, START)).toBe(START);
      expect(await ask(2, 2, 50, START)).toBe(START + 100);
      await real.cancel(1);
      expect(await ask(3, 1, 1_000, START + 10)).toBe(START + 150);
      const { jobs } = await real.state();
      expect(jobs.find(({ jobid }) => jobid === 2)).toMatchObject({ start: START + 100, end: START + 150 });
      await real.close();
    },
  );

  test('continues after init and replay by a client', async () => {
    const engine = await loadLibraryEngine(library);
    const server = await startFluxionServer({ address: '127.0.0.1:0', engine, log });
    const fluxion = connectFluxion({ address: server.address });
    const init = { nodes: TWO_NODES, policy: 'lonode', now: START } as const;
    await fluxion.init(init);
    const ask = (jobid: number, jobspec: ReturnType<typeof cores>, now = START) =>
      fluxion.match({ jobid, jobspec, operation: 'allocate', now });
    await ask(1, nodes(2, 3));
    await ask(2, cores(1));
    const before = await fluxion.state();
    await fluxion.init({ ...init, now: START + 5 });
    await fluxion.replay(before.jobs, START + 5);
    const after = await fluxion.state();
    expect(after.jobs).toEqual(before.jobs);
    expect(after.nodes).toEqual(before.nodes);
    expect(await ask(3, cores(1), START + 5)).toMatchObject({
      status: 'OK',
      allocation: { nodes: [{ name: 'b', units: { core: '3' } }] },
    });
    await fluxion.close();
    await server.stop();
  });
}
