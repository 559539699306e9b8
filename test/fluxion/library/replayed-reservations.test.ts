/** Allocations that are replayed with a start in the future leave their units to what ends before it. */
import type { Engine } from '../../../runtime/fluxion/engine';
import { loadLibraryEngine } from '../../../runtime/fluxion/library/engine';
import { findLibrary, LIBRARY } from '../../../runtime/fluxion/library/find';
import { EmbeddedEngine } from '../../../runtime/fluxion/matcher/engine';
import type { Allocation } from '../../../runtime/resources/types';
import { cores, nodes as nodesWith } from '../jobspecs';

const path = findLibrary(undefined);
const ENGINES: [string, () => Promise<Engine>][] = [
  ['the embedded matcher', async () => new EmbeddedEngine()],
];
if (path !== undefined) ENGINES.push(['the library', () => loadLibraryEngine(path)]);
else process.stderr.write(`skipped: replayed reservations (${LIBRARY} is not installed)\n`);

const NOW = 1_000;
const on = (units: Record<string, string>, jobid: number, start: number, end: number): Allocation => ({
  jobid,
  start,
  end,
  nodes: Object.entries(units).map(([name, core]) => ({ name, units: { core }, exclusive: false })),
});

test.each(ENGINES)('%s', async (_, make) => {
  const engine = await make();
  const nodes = ['n0', 'n1'].map((name) => ({ name, units: { core: 4 } }));
  await engine.init({ nodes, policy: 'lonode', now: NOW });
  // Out of order, and not all of one node.
  await engine.replay(
    [on({ n0: '1-3', n1: '0-1' }, 2, NOW + 100, NOW + 200), on({ n0: '0-1' }, 1, NOW - 50, NOW + 60)],
    NOW,
  );
  const start = async (jobid: number, jobspec: ReturnType<typeof cores>, now: number) => {
    const answer = await engine.match({ jobid, jobspec, operation: 'allocate', now });
    return answer.status === 'OK' ? answer.allocation?.nodes.map(({ name }) => name) : answer.status;
  };
  expect(await start(3, nodesWith(2, 2, { walltime: 100 }), NOW)).toEqual(['n0', 'n1']);
  // It would not end before the reservation starts.
  expect(await start(4, nodesWith(2, 2, { walltime: 101 }), NOW)).toBe('BUSY');
  expect(await start(5, cores(2, { walltime: 300 }), NOW + 10)).toEqual(['n1']);
  expect((await engine.state()).jobs.find(({ jobid }) => jobid === 2)).toMatchObject({
    start: NOW + 100,
    end: NOW + 200,
  });
  await engine.close?.();
});
