/** A session that resumes: what a caller replays as the library holds it is not given to the library again. */

import { DEFAULT_PRUNE_FILTERS } from '../../../runtime/fluxion/engine';
import { GraphLayout } from '../../../runtime/fluxion/jgf/layout';
import type { FluxionLibrary } from '../../../runtime/fluxion/library/bindings';
import { loadLibraryEngine } from '../../../runtime/fluxion/library/engine';
import { findLibrary } from '../../../runtime/fluxion/library/find';
import { Session } from '../../../runtime/fluxion/library/session';
import { TimeAxis } from '../../../runtime/fluxion/time-axis';
import type { Allocation, GraphNode } from '../../../runtime/resources/types';
import { cores } from '../jobspecs';
import { START, TWO_NODES } from '../scenarios/scenario';

/** Refuses a unit that is held, and records the calls. */
class FakeContext {
  readonly calls: string[] = [];
  private readonly held = new Map<number, string>();

  update(jobid: number, rv1: string): string | undefined {
    this.calls.push(`update ${jobid}`);
    const { scheduling } = JSON.parse(rv1) as {
      scheduling: { graph: { nodes: { metadata: VertexFields }[] } };
    };
    const units = scheduling.graph.nodes.filter(({ metadata }) => metadata.exclusive);
    const path = units.map(({ metadata }) => metadata.paths.containment).join();
    if ([...this.held.values()].includes(path)) return `${path} is unavailable`;
    this.held.set(jobid, path);
    return undefined;
  }
  cancel(jobid: number): void {
    this.calls.push(`cancel ${jobid}`);
    this.held.delete(jobid);
  }
  setStatus(path: string, up: boolean): void {
    this.calls.push(`${path} ${up}`);
  }
  destroy(): void {}
}

interface VertexFields {
  readonly exclusive: boolean;
  readonly paths: { readonly containment: string };
}

const held = (jobid: number, node: string, core: string, end = START + 100): Allocation => ({
  jobid,
  start: START,
  end,
  nodes: [{ name: node, units: { core } }],
});

function create(nodes: readonly GraphNode[] = TWO_NODES) {
  const context = new FakeContext();
  const library = { open: () => context } as unknown as FluxionLibrary;
  const layout = new GraphLayout(nodes.map((node) => ({ ...node, up: true })));
  const source = { policy: 'lonode', layout, jgf: undefined, pruneFilters: DEFAULT_PRUNE_FILTERS } as const;
  const session = new Session(library, source, new TimeAxis(START));
  const resume = (now: number, of = nodes) => session.resume({ nodes: of, policy: 'lonode', now });
  const ids = () => session.jobs.values().map(({ allocation }) => allocation.jobid);
  return { session, layout, resume, ids, calls: () => context.calls.splice(0) };
}

test('keeps allocations that are replayed as they were, and frees the others', () => {
  const { session, resume, ids, calls } = create();
  for (const job of [held(1, 'a', '0'), held(2, 'a', '1'), held(3, 'b', '0')]) session.replay(job);
  calls();
  expect(resume(START + 10)).toBe(true);
  session.replay(held(2, 'a', '1'));
  session.replay(held(3, 'b', '0', START + 500));
  expect(calls()).toEqual(['cancel 3', 'update 3']);
  session.settle();
  expect(calls()).toEqual(['cancel 1']);
  expect(ids()).toEqual([2, 3]);
});

test('gives a unit of an allocation that is gone to the job that has it now', () => {
  const { session, resume, ids, calls } = create();
  for (const job of [held(1, 'a', '0'), held(2, 'a', '1')]) session.replay(job);
  resume(START + 10);
  calls();
  session.replay(held(5, 'a', '0'));
  session.replay(held(2, 'a', '1'));
  expect(calls()).toEqual(['update 5', 'cancel 1', 'cancel 2', 'update 5', 'update 2']);
  expect(ids()).toEqual([5, 2]);
  expect(() => session.replay(held(6, 'a', '0'))).toThrow('is unavailable');
});

test('does not resume another graph, another policy or an old axis', () => {
  const { session, resume } = create();
  expect(resume(START, [TWO_NODES[1]!, TWO_NODES[0]!])).toBe(false);
  expect(resume(START, [TWO_NODES[0]!])).toBe(false);
  expect(resume(START, [TWO_NODES[0]!, { ...TWO_NODES[1]!, properties: ['ssd'] }])).toBe(false);
  expect(session.resume({ nodes: TWO_NODES, policy: 'high', now: START })).toBe(false);
  expect(resume(START + 2 * 86_400)).toBe(false);
  expect(resume(START, [TWO_NODES[0]!, { ...TWO_NODES[1]!, up: false }])).toBe(true);
});

test('gives later nodes the ids that they have in a new graph', () => {
  const { session, layout, resume } = create([...TWO_NODES, { name: 'c', units: { core: 4 } }]);
  session.removeNodes(['c']);
  expect(resume(START, TWO_NODES)).toBe(true);
  const later = { name: 'd', units: { core: 4 } };
  session.addNodes([later]);
  expect(layout.jgf()).toEqual(new GraphLayout([...TWO_NODES, later]).jgf());
});

test('holds the nodes of a rack that was held as a whole, as a new graph does', () => {
  const nodes = TWO_NODES.map((node) => ({ ...node, rack: 'r0' }));
  const { session, resume, calls } = create(nodes);
  const whole = { jobid: 1, start: START, end: START + 100 };
  const allocation = { ...whole, nodes: [{ name: 'a', units: {}, exclusive: true }] };
  session.replay(allocation, { answer: JSON.stringify({ graph: { nodes: [], edges: [] } }) });
  resume(START, nodes);
  calls();
  session.replay(allocation);
  expect(calls()).toEqual(['update 1']);
});

const library = findLibrary(undefined);

(library === undefined ? test.skip : test)('answers as after a new start, when it is resumed', async () => {
  const warm = await loadLibraryEngine(library!);
  const cold = await loadLibraryEngine(library!);
  const nodes = [TWO_NODES[0]!, { ...TWO_NODES[1]!, up: false }];
  const init = { nodes: TWO_NODES, policy: 'lonode', now: START, warm: true } as const;
  await warm.init(init);
  await warm.replay([held(1, 'a', '0'), held(2, 'a', '1'), held(3, 'b', '0')], START);
  for (const engine of [warm, cold]) {
    await engine.init({ ...init, nodes, now: START + 10 });
    await engine.replay([held(2, 'a', '1'), held(4, 'b', '0')], START + 10);
  }
  const operation = 'allocate_orelse_reserve';
  for (const jobid of [10, 11, 12, 13]) {
    const request = { jobid, jobspec: cores(2, { walltime: 30 }), operation, now: START + 11 } as const;
    const { held: _, ...answer } = { held: undefined, ...(await warm.match(request)) };
    const { held: __, ...expected } = { held: undefined, ...(await cold.match(request)) };
    expect(answer).toEqual(expected);
  }
  const { bootId, ...state } = await warm.state();
  expect(state).toEqual({ ...(await cold.state()), bootId: undefined });
  expect(bootId).not.toBe('');
  await warm.close();
  await cold.close();
});
