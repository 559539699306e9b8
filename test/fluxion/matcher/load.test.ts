import type { JgfGraph } from '../../../runtime/fluxion/jgf/types';
import { Matcher } from '../../../runtime/fluxion/matcher/matcher';
import type { JobspecResource } from '../../../runtime/jobspec/types';
import { jobspecOf } from './arbitraries';

const vertices = [
  { id: '0', metadata: { type: 'cluster', id: 0, paths: { containment: '/cluster0' } } },
  {
    id: '1',
    metadata: { type: 'node', name: 'kind-worker7', paths: { containment: '/cluster0/kind-worker7' } },
  },
  { id: '2', metadata: { type: 'core', id: 0, paths: { containment: '/cluster0/kind-worker7/core0' } } },
];
const edges = [
  { source: '0', target: '1' },
  { source: '1', target: '2' },
];
const graph = (nodes: unknown, more: unknown = edges): JgfGraph =>
  ({ graph: { nodes, edges: more } }) as JgfGraph;
const load = (jgf: JgfGraph | string, policy = 'lonode') => Matcher.fromJgf(jgf, { policy });
const oneCore = jobspecOf({ type: 'slot', count: 1, label: 'task', with: [{ type: 'core', count: 1 }] });

test.each<[string, JgfGraph | string, string]>([
  ['invalid JSON', '{', 'json_loads returned an error'],
  ['no graph', '{}', 'required key (graph)'],
  ['no nodes', graph({}), 'required key (nodes)'],
  ['no edges', graph([], {}), 'required key (edges)'],
  ['no vertex', graph([]), "can't initialize traverser"],
  ['no metadata', graph([{ id: '0' }]), 'malformed metadata in an JGF node for 0'],
  ['an id twice', graph([...vertices, vertices[2]]), 'found duplicate JGF node id'],
  [
    'an edge to nowhere',
    graph(vertices, [{ source: '0', target: '9' }]),
    'source and/or target vertex not found',
  ],
  ['two parents', graph(vertices, [...edges, { source: '0', target: '2' }]), 'more than one parent'],
  [
    'a property that is not a string',
    graph([{ ...vertices[0], metadata: { ...vertices[0]!.metadata, properties: { a: 1 } } }]),
    'not a string',
  ],
])('refuses a graph with %s', (_, jgf, text) => {
  expect(() => load(jgf)).toThrow(text);
});

test.each(['second', 'policy=locality', 'policy=low fast=true', 'policy=low node_centric=yes', '","x":"'])(
  'refuses policy %s',
  (policy) => {
    expect(() => load(graph(vertices), policy)).toThrow('FLUXQ_FLUXION_POLICY');
  },
);

test.each(['', 'policy=low node_centric=true'])('accepts policy "%s"', (policy) => {
  expect(load(graph(vertices), policy).state(0).nodes).toHaveLength(1);
});

test('ignores edges from child to parent', () => {
  const both = edges.flatMap(({ source, target }) => [
    { source: target, target: source },
    { source, target },
  ]);
  const call = { jobid: 1, jobspec: oneCore, operation: 'allocate', now: 0 } as const;
  expect(load(graph(vertices, both)).match(call)).toEqual(load(graph(vertices)).match(call));
});

test('allocates a vertex of many units as a whole', () => {
  const memory = {
    id: '3',
    metadata: { type: 'memory', id: 0, size: 64, paths: { containment: '/cluster0/kind-worker7/memory0' } },
  };
  const matcher = load(graph([...vertices, memory], [...edges, { source: '1', target: '3' }]));
  const jobspec = jobspecOf({ type: 'slot', count: 1, label: 'task', with: [{ type: 'memory', count: 1 }] });
  const answers = [1, 2].map(
    (jobid) => matcher.match({ jobid, jobspec, operation: 'allocate', now: 0 }).status,
  );
  expect(answers).toEqual(['OK', 'BUSY']);
});

test('finds a slot below the sockets of a node', () => {
  const socket = (n: number) => ({
    id: `${10 + n}`,
    metadata: { type: 'socket', id: n, paths: { containment: `/cluster0/kind-worker7/socket${n}` } },
  });
  const core = (s: number, n: number) => ({
    id: `${20 + 2 * s + n}`,
    metadata: {
      type: 'core',
      id: 2 * s + n,
      paths: { containment: `/cluster0/kind-worker7/socket${s}/core${2 * s + n}` },
    },
  });
  const jgf = graph(
    [vertices[0], vertices[1], socket(0), socket(1), core(0, 0), core(0, 1), core(1, 0), core(1, 1)],
    [
      edges[0],
      { source: '1', target: '10' },
      { source: '1', target: '11' },
      ...[0, 1].flatMap((s) => [0, 1].map((n) => ({ source: `${10 + s}`, target: `${20 + 2 * s + n}` }))),
    ],
  );
  const matcher = load(jgf);
  const slot = (core: number) => ({
    type: 'slot',
    count: 1,
    label: 'task',
    with: [{ type: 'core', count: core }],
  });
  const inSocket = (cores: number) => ({ type: 'socket', count: 1, with: [slot(cores)] });
  const ask = (jobid: number, cores: number, inside: JobspecResource = inSocket(cores)) =>
    matcher.match({
      jobid,
      jobspec: jobspecOf({ type: 'node', count: 1, with: [inside] }),
      operation: 'allocate',
      now: 0,
    });
  // All of a slot's cores come from one socket.
  expect(ask(1, 3).status).toBe('BUSY');
  expect(ask(2, 2)).toMatchObject({
    allocation: { nodes: [{ name: 'kind-worker7', units: { core: '0-1' } }] },
  });
  expect(ask(3, 2)).toMatchObject({ allocation: { nodes: [{ units: { core: '2-3' } }] } });
  // flux-sched finds such a slot and cannot allocate it.
  const text = 'a slot in "node" must name the level between them: node, socket, slot';
  expect(ask(4, 2, slot(2))).toEqual({ status: 'INVALID', text });
  expect(matcher.clone().state(0)).toEqual(matcher.state(0));
});
