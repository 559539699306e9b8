/** The order of policy `first` after grants. What is expected is what flux-sched 0.54 answers. */
import type { Engine } from '../../../runtime/fluxion/engine';
import { loadLibraryEngine } from '../../../runtime/fluxion/library/engine';
import { findLibrary } from '../../../runtime/fluxion/library/find';
import { EmbeddedEngine } from '../../../runtime/fluxion/matcher/engine';
import type { JobspecResource } from '../../../runtime/jobspec/types';
import { levelGraph } from '../fuzz/level-graph';
import { jobspecOf } from './arbitraries';

const path = findLibrary(undefined);
const ENGINES: [string, () => Promise<Engine>][] = [
  ['the embedded matcher', async () => new EmbeddedEngine()],
  ...(path === undefined
    ? []
    : [['the library', () => loadLibraryEngine(path)] as [string, () => Promise<Engine>]]),
];

test.each(ENGINES)(
  '%s keeps the order of a branch of which only types without a filter are held',
  async (_, make) => {
    const engine = await make();
    const graph = levelGraph({
      levels: ['node', 'socket', 'numa'],
      below: [1, 2, 3],
      cores: 2,
      gpus: 1,
      memory: { count: 1, size: 1 },
      onNodes: true,
      isMany: false,
    });
    await engine.initJgf({ jgf: JSON.stringify(graph), policy: 'first', now: 0 });
    const held = async (jobid: number, resource: JobspecResource) => {
      const answer = await engine.match({
        jobid,
        jobspec: jobspecOf(resource),
        operation: 'allocate',
        now: 0,
      });
      return answer.status === 'OK' ? answer.held().map((vertex) => vertex.split('/').at(-1)) : answer.status;
    };
    const numas = { type: 'slot', count: 1, label: 'task', with: [{ type: 'numa', count: 2 }] };
    expect(await held(1, { type: 'socket', count: 1, with: [numas] })).toEqual(['numa4', 'numa5']);
    // The second socket is still the first one to look at, although two thirds of it are held.
    expect(await held(2, { type: 'core', count: 4, exclusive: true })).toEqual([
      'core4',
      'core5',
      'core6',
      'core7',
    ]);
    await engine.close?.();
  },
);
