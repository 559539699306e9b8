import { Matcher } from '../../../runtime/fluxion/matcher/matcher';
import type { MatchOperation } from '../../../runtime/fluxion/types';
import type { JobspecResource } from '../../../runtime/jobspec/types';
import type { GraphNode } from '../../../runtime/resources/types';
import { jobspecOf } from './arbitraries';

function nodes(count: number, units: Record<string, number> = { core: 4 }): GraphNode[] {
  return Array.from({ length: count }, (_, i) => ({ name: `n${i}`, units }));
}

function slots(count: number, units: Record<string, number> = { core: 1 }): JobspecResource {
  const elements = Object.entries(units).map(([type, n]) => ({ type, count: n }));
  return { type: 'slot', count, label: 'task', with: elements };
}

/** Matches with the next free job id. */
function matchWith(matcher: Matcher) {
  let jobid = 0;
  return (
    resource: JobspecResource,
    over: { operation?: MatchOperation; duration?: number; now?: number } = {},
  ) => {
    const { operation = 'allocate', duration = 60, now = 0 } = over;
    return matcher.match({ jobid: ++jobid, jobspec: jobspecOf(resource, duration), operation, now });
  };
}

function heldBy(outcome: ReturnType<Matcher['match']>): readonly string[] | string {
  return outcome.status === 'OK'
    ? outcome.held.map((path) => path.replace('/cluster0/', ''))
    : outcome.status;
}

describe('the choice among free resources', () => {
  // Observed in flux-sched: the instability of the sort decides among 20 equal cores.
  test.each(['low', 'high'])('takes nodes 10, 9, 11 among equal scores under %s', (policy) => {
    const vertices = Array.from({ length: 20 }, (_, i) => [
      vertex(1 + 2 * i, 'node', i, `/cluster0/node${i}`),
      vertex(2 + 2 * i, 'core', 0, `/cluster0/node${i}/core0`),
    ]).flat();
    const edges = Array.from({ length: 20 }, (_, i) => [
      { source: '0', target: `${1 + 2 * i}` },
      { source: `${1 + 2 * i}`, target: `${2 + 2 * i}` },
    ]).flat();
    const graph = { graph: { nodes: [vertex(0, 'cluster', 0, '/cluster0'), ...vertices], edges } };
    const match = matchWith(Matcher.fromJgf(graph, { policy }));
    const given = [match(slots(1)), match(slots(1)), match(slots(1))].map(heldBy);
    expect(given).toEqual([['node10/core0'], ['node9/core0'], ['node11/core0']]);
  });

  // The last digits of all names are 5, so all ids are equal; std::sort puts number 10 of 20 first.
  test.each(['lonode', 'hinode'])('takes node 10 first among equal ids under %s', (policy) => {
    const vertices = Array.from({ length: 20 }, (_, i) => {
      const path = `/cluster0/ip-10-0-${i}-5`;
      const node = { type: 'node', name: `ip-10-0-${i}-5`, rank: i, paths: { containment: path } };
      return [{ id: `${1 + 2 * i}`, metadata: node }, vertex(2 + 2 * i, 'core', i, `${path}/core${i}`)];
    }).flat();
    const edges = Array.from({ length: 20 }, (_, i) => [
      { source: '0', target: `${1 + 2 * i}` },
      { source: `${1 + 2 * i}`, target: `${2 + 2 * i}` },
    ]).flat();
    const graph = { graph: { nodes: [vertex(0, 'cluster', 0, '/cluster0'), ...vertices], edges } };
    const match = matchWith(Matcher.fromJgf(graph, { policy }));
    expect(heldBy(match({ type: 'node', count: 1, with: [slots(1)] }))).toEqual(['ip-10-0-10-5/core10']);
  });

  test.each([
    ['lonode', ['n0/core0', 'n0/core1'], ['n0/core2', 'n0/core3']],
    ['hinode', ['n2/core2', 'n2/core3'], ['n2/core0', 'n2/core1']],
    ['first', ['n2/core2', 'n2/core3'], ['n1/core2', 'n1/core3']],
    [
      'lonodex',
      ['n0/core0', 'n0/core1', 'n0/core2', 'n0/core3', 'n0'],
      ['n1/core0', 'n1/core1', 'n1/core2', 'n1/core3', 'n1'],
    ],
    ['locality', ['n2/core2', 'n2/core3'], ['n2/core0', 'n2/core1']],
  ])('follows policy %s', (policy, first, second) => {
    const match = matchWith(Matcher.fromNodes(nodes(3), { policy }));
    const two = slots(1, { core: 2 });
    expect([heldBy(match(two)), heldBy(match(two))]).toEqual([first, second]);
  });

  test('keeps the order of policy first after a cancel', () => {
    const matcher = Matcher.fromNodes(nodes(3), { policy: 'first' });
    const match = matchWith(matcher);
    match(slots(1));
    matcher.cancel(1);
    expect(heldBy(match(slots(1)))).toEqual(['n1/core3']);
  });

  test('places a slot of nodes within one rack', () => {
    const racked = nodes(4).map((node, i) => ({ ...node, rack: i < 1 ? 'a' : 'b' }));
    const match = matchWith(Matcher.fromNodes(racked, { policy: 'lonode' }));
    expect(heldBy(match(slots(1, { node: 2 })))).toEqual(['rack=b/n1', 'rack=b/n2']);
    expect(heldBy(match(slots(1, { node: 2 })))).toBe('BUSY');
  });
});

function vertex(uniqId: number, type: string, id: number, containment: string) {
  return { id: `${uniqId}`, metadata: { type, id, rank: -1, paths: { containment } } };
}

describe('time', () => {
  const whole = slots(1, { core: 8 });

  function busyUntil(second: number): { matcher: Matcher; match: ReturnType<typeof matchWith> } {
    const matcher = Matcher.fromNodes(nodes(1, { core: 8 }), { policy: 'lonode' });
    const match = matchWith(matcher);
    match(slots(1, { core: 4 }), { duration: second });
    return { matcher, match };
  }

  test('reserves a wide job, backfills a short one and refuses a long one', () => {
    const { match } = busyUntil(100);
    expect(match(whole, { operation: 'allocate_orelse_reserve' })).toMatchObject({
      reserved: true,
      start: 100,
      end: 160,
    });
    expect(match(slots(1, { core: 2 }), { duration: 60 })).toMatchObject({ status: 'OK', start: 0 });
    expect(match(slots(1, { core: 2 }), { duration: 150 }).status).toBe('BUSY');
  });

  test('lets a job past its walltime hold for one more second until its cancel', () => {
    const { matcher, match } = busyUntil(100);
    expect(match(whole, { now: 130 }).status).toBe('BUSY');
    expect(match(whole, { now: 130, operation: 'without_allocating_future' })).toMatchObject({ start: 131 });
    expect(matcher.state(200).nodes[0]!.free).toEqual({ core: 4 });
    matcher.cancel(1);
    expect(match(whole, { now: 200 })).toMatchObject({ status: 'OK', start: 200, end: 260 });
  });

  test('finds no start for a request that conflicts with a job without an end', () => {
    const { match } = busyUntil(0);
    expect(match(whole, { operation: 'allocate_orelse_reserve' }).status).toBe('BUSY');
    expect(match(slots(1, { core: 9 }), { operation: 'allocate_orelse_reserve' }).status).toBe(
      'UNSATISFIABLE',
    );
  });

  test('computes the earliest start without an allocation', () => {
    const { matcher, match } = busyUntil(100);
    const outcome = match(whole, { operation: 'without_allocating_future' });
    expect(outcome).toMatchObject({ status: 'OK', start: 100, reserved: false });
    expect(matcher.state(0).jobs).toHaveLength(1);
  });
});

describe('changes by the caller', () => {
  test('keeps the jobs of a node that is down and grants nothing new on it', () => {
    const matcher = Matcher.fromNodes([...nodes(1), { name: 'n1', units: { core: 4 }, up: false }], {
      policy: 'lonode',
    });
    const match = matchWith(matcher);
    match(slots(1));
    matcher.setStatus('/cluster0/n0', false);
    expect(match(slots(1)).status).toBe('BUSY');
    expect(matcher.state(0)).toMatchObject({ jobs: [{ jobid: 1 }], nodes: [{ up: false }, { up: false }] });
    matcher.setStatus('n1', true);
    expect(heldBy(match(slots(1)))).toEqual(['n1/core0']);
    expect(() => matcher.setStatus('n9', true)).toThrow('FLUXQ_FLUXION_NO_VERTEX');
  });

  test('answers UNSATISFIABLE to one operation and BUSY to the others for more nodes than are up', () => {
    const matcher = Matcher.fromNodes(nodes(2), { policy: 'lonode' });
    matcher.setStatus('n0', false);
    const match = matchWith(matcher);
    const two: JobspecResource = { type: 'node', count: 2, with: [slots(1)] };
    expect(match(two, { operation: 'allocate_with_satisfiability' }).status).toBe('UNSATISFIABLE');
    expect(match(two, { operation: 'allocate_orelse_reserve' }).status).toBe('BUSY');
    expect(matcher.satisfiable(jobspecOf(two)).satisfiable).toBe(true);
  });

  test('frees the nodes of a partial cancel', () => {
    const matcher = Matcher.fromNodes(nodes(2), { policy: 'lonode' });
    const match = matchWith(matcher);
    match({ type: 'node', count: 2, exclusive: true, with: [slots(1)] });
    expect(matcher.partialCancel(1, ['n0'])).toBe(false);
    expect(matcher.state(0).jobs[0]!.nodes).toEqual([
      { name: 'n1', units: { core: '0-3' }, exclusive: true },
    ]);
    expect(heldBy(match({ type: 'node', count: 1, exclusive: true, with: [slots(1)] }))).toContain(
      'n0/core0',
    );
    expect(matcher.partialCancel(1, ['n1', 'n0'])).toBe(true);
    expect(matcher.partialCancel(1, ['n1'])).toBe(true);
    expect(matcher.state(0).jobs.map(({ jobid }) => jobid)).toEqual([2]);
  });

  test('takes removed nodes away from their jobs', () => {
    const matcher = Matcher.fromNodes(nodes(1), { policy: 'lonode' });
    const match = matchWith(matcher);
    matcher.addNodes([{ name: 'big', units: { core: 4, tpu: 2 }, rack: 'r' }]);
    expect(heldBy(match(slots(2, { core: 4 })))).toContain('rack=r/big/core0');
    expect(heldBy(match(slots(1, { tpu: 2 })))).toEqual(['rack=r/big/tpu0', 'rack=r/big/tpu1']);
    expect(matcher.removeNodes(['big', 'unknown'])).toEqual([1, 2]);
    expect(matcher.state(0)).toMatchObject({
      jobs: [{ jobid: 1, nodes: [{ name: 'n0' }] }],
      nodes: [{ name: 'n0' }],
    });
    expect(match(slots(1, { core: 4 }), { operation: 'allocate_with_satisfiability' }).status).toBe('BUSY');
    expect(match(slots(2, { core: 4 }), { operation: 'allocate_with_satisfiability' }).status).toBe(
      'UNSATISFIABLE',
    );
    expect(() => matcher.addNodes(nodes(1))).toThrow('FLUXQ_FLUXION_GRAPH');
  });

  test('keeps running jobs when a node brings a new resource type', () => {
    const matcher = Matcher.fromNodes(nodes(1), { policy: 'lonode' });
    const match = matchWith(matcher);
    match(slots(1, { core: 3 }), { duration: 100 });
    match(slots(1, { core: 1 }), { duration: 50 });
    matcher.addNodes([{ name: 'n1', units: { tpu: 1 } }]);
    match(slots(1, { tpu: 1 }));
    expect(match(slots(1, { core: 4 }), { operation: 'without_allocating_future' })).toMatchObject({
      start: 100,
    });
    expect([matcher.cancel(2), matcher.cancel(1), matcher.cancel(3)]).toEqual([true, true, true]);
    expect(heldBy(match(slots(1, { core: 4 })))).toHaveLength(4);
    expect(heldBy(match(slots(1, { tpu: 1 })))).toEqual(['n1/tpu0']);
  });

  test('refuses a job id that is in use', () => {
    const matcher = Matcher.fromNodes(nodes(1), { policy: 'lonode' });
    const call = { jobid: 7, jobspec: jobspecOf(slots(1)), operation: 'allocate', now: 0 } as const;
    matcher.match(call);
    expect(matcher.match(call)).toEqual({ status: 'INVALID', text: 'job id 7 is in use' });
    expect([matcher.cancel(7), matcher.cancel(7)]).toEqual([true, false]);
    expect(matcher.match(call).status).toBe('OK');
  });

  test.each([
    ['an allocated unit', { nodes: [{ name: 'n0', units: { core: '0' } }] }, 'core0 is unavailable'],
    [
      'a whole node with an allocated unit',
      { nodes: [{ name: 'n0', units: {}, exclusive: true }] },
      'n0 is unavail',
    ],
    [
      'a unit of a node that is allocated as a whole',
      { nodes: [{ name: 'n1', units: { core: '0' } }] },
      'core0 is unavailable',
    ],
    [
      'a node listed twice',
      { nodes: [1, 2].map(() => ({ name: 'n0', units: { core: '1' } })) },
      'listed twice',
    ],
    ['an unknown unit', { nodes: [{ name: 'n0', units: { core: '9' } }] }, 'unit is not in the graph'],
    ['an unknown node', { nodes: [{ name: 'n9', units: {} }] }, 'node is not in the graph'],
    ['a job id in use', { jobid: 1, nodes: [] }, 'in use'],
    ['an empty window', { start: 5, end: 5, nodes: [] }, 'ends before it starts'],
  ])('refuses a replay of %s without an allocation', (_, over, text) => {
    const matcher = Matcher.fromNodes(nodes(2), { policy: 'lonode' });
    const match = matchWith(matcher);
    match(slots(1));
    match(slots(1, { node: 1 }));
    const before = matcher.state(0);
    const allocation = { jobid: 3, start: 0, end: 60, ...over };
    expect(() => matcher.replay(allocation, 0)).toThrow(text);
    expect(matcher.state(0)).toEqual(before);
  });
});

test('holds the units of an allocation that starts later only from its start on', () => {
  const matcher = Matcher.fromNodes(nodes(1), { policy: 'lonode' });
  const { units } = nodes(1)[0]!;
  const core = `0-${units.core! - 1}`;
  matcher.replay({ jobid: 9, start: 100, end: 200, nodes: [{ name: 'n0', units: { core } }] }, 0);
  const ask = (jobid: number, duration: number) =>
    matcher.match({ jobid, jobspec: jobspecOf(slots(1), duration), operation: 'allocate', now: 0 }).status;
  expect([ask(1, 101), ask(2, 100)]).toEqual(['BUSY', 'OK']);
});

test('writes an answer in the JGF of flux-sched, children first and without defaults', () => {
  const matcher = Matcher.fromNodes(nodes(2, { core: 2 }), { policy: 'hinode' });
  matchWith(matcher)(slots(1, { core: 1 }));
  expect(matcher.jgfOf(1)).toBe(
    '{"graph": {"nodes": [' +
      '{"id": "6", "metadata": {"type": "core", "name": "core1", "id": 3, "rank": 1, "exclusive": true, "paths": {"containment": "/cluster0/n1/core1"}}}, ' +
      '{"id": "4", "metadata": {"type": "node", "name": "n1", "id": 1, "rank": 1, "paths": {"containment": "/cluster0/n1"}}}, ' +
      '{"id": "0", "metadata": {"type": "cluster", "id": 0, "rank": -1, "paths": {"containment": "/cluster0"}}}], ' +
      '"edges": [{"source": "4", "target": "6"}, {"source": "0", "target": "4"}]}}\n',
  );
  expect(matcher.jgfOf(2)).toBeUndefined();
});
