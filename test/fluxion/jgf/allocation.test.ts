import { formatJgf, formatRv1, heldPaths, parseAnswer } from '../../../runtime/fluxion/jgf/allocation';
import { checkJgf, GraphLayout } from '../../../runtime/fluxion/jgf/layout';
import { Matcher } from '../../../runtime/fluxion/matcher/matcher';
import { nodes, units, wholeNodes } from '../jobspecs';

const WINDOW = { jobid: 7, start: 100, end: 200 };

const CLUSTER = [
  { name: 'worker-9', units: { core: 4, memory: 2 }, zone: 'x', rack: 'r0', properties: ['ssd'] },
  { name: 'worker-1', units: { core: 4, 'example.com/dongle2': 3 }, zone: 'x', rack: 'r1', up: false },
  { name: 'plain', units: { core: 2, gpu: 1 } },
  { name: 'late', units: { core: 1 }, zone: 'x', rack: 'r0' },
];

test('reads answers of flux-sched 0.39 and later, which omit defaults', () => {
  const vertex = (id: string, metadata: object) => ({ id, metadata });
  const answer = {
    graph: {
      nodes: [
        vertex('15', {
          type: 'core',
          id: 12,
          rank: 1,
          exclusive: true,
          paths: { containment: '/cluster0/n1/core4' },
        }),
        vertex('16', {
          type: 'core',
          id: 13,
          rank: 1,
          exclusive: true,
          paths: { containment: '/cluster0/n1/core5' },
        }),
        vertex('10', {
          type: 'node',
          basename: 'node',
          name: 'n1',
          id: 1,
          rank: 1,
          paths: { containment: '/cluster0/n1' },
        }),
        vertex('0', { type: 'cluster', id: 0, rank: -1, paths: { containment: '/cluster0' } }),
      ],
      edges: [],
    },
  };
  const text = `${JSON.stringify(answer)}\n`;
  const read = { ...WINDOW, nodes: [{ name: 'n1', units: { core: '4-5' } }] };
  expect(parseAnswer(text, WINDOW)).toEqual(read);
  expect(parseAnswer(JSON.stringify({ version: 1, execution: {}, scheduling: answer }), WINDOW)).toEqual(
    read,
  );
  expect(heldPaths(text)).toEqual(['/cluster0/n1/core4', '/cluster0/n1/core5']);
});

test('assigns units below a socket to the node', () => {
  const path = (containment: string) => ({ containment });
  const graph = {
    nodes: [
      { id: '3', metadata: { type: 'core', id: 0, exclusive: true, paths: path('/c/n/socket0/core0') } },
      { id: '2', metadata: { type: 'socket', id: 0, paths: path('/c/n/socket0') } },
      { id: '1', metadata: { type: 'node', name: 'n', id: 0, paths: path('/c/n') } },
    ],
    edges: [],
  };
  expect(parseAnswer(JSON.stringify({ graph }), WINDOW).nodes).toEqual([{ name: 'n', units: { core: '0' } }]);
});

test.each(['', '{}', '{"graph":{}}', '{"graph":{"nodes":[{"id":"0","metadata":{"type":"node"}}]}}'])(
  'refuses %p as an answer',
  (text) => {
    expect(() => parseAnswer(text, WINDOW)).toThrow(
      expect.objectContaining({ code: 'FLUXQ_FLUXION_ALLOCATION' }),
    );
  },
);

test.each([nodes(2, 1), units({ core: 1, 'example.com/dongle2': 2 }), wholeNodes(1)])(
  'writes a grant of the matcher in the same form as its answer (%#)',
  (jobspec) => {
    const cluster = CLUSTER.map((node) => ({ ...node, up: true }));
    const matcher = Matcher.fromJgf(new GraphLayout(cluster).jgf(), { policy: 'lonode' });
    const granted = matcher.match({ jobid: 7, jobspec, operation: 'allocate', now: 100 });
    if (granted.status !== 'OK') throw new Error(granted.text);
    const answer = matcher.jgfOf(7)!;
    const read = parseAnswer(answer, { ...WINDOW, start: 100 });
    expect(read).toEqual({ ...granted.allocation, jobid: 7 });
    const written = JSON.stringify(formatJgf(read, new GraphLayout(cluster)));
    expect(parseAnswer(written, { ...WINDOW, start: 100 })).toEqual(read);
    expect(heldPaths(written)).toEqual(heldPaths(answer));
  },
);

test('writes window and vertices in rv1', () => {
  const allocation = { ...WINDOW, nodes: [{ name: 'plain', units: { core: '1', gpu: '0' } }] };
  const rv1 = JSON.parse(formatRv1(allocation, new GraphLayout(CLUSTER), 0, 60));
  expect(rv1).toMatchObject({
    version: 1,
    execution: {
      R_lite: [{ rank: '2', children: { core: '1', gpu: '0' } }],
      nodelist: ['plain'],
      starttime: 0,
      expiration: 60,
    },
  });
  expect(parseAnswer(JSON.stringify(rv1), WINDOW)).toEqual(allocation);
});

test('refuses to write an allocation that is not in the graph', () => {
  const layout = new GraphLayout(CLUSTER);
  for (const node of [
    { name: 'nobody', units: {} },
    { name: 'plain', units: { core: '2' } },
    { name: 'plain', units: { memory: '0' } },
  ]) {
    expect(() => formatJgf({ ...WINDOW, nodes: [node] }, layout)).toThrow(
      expect.objectContaining({ code: 'FLUXQ_FLUXION_REPLAY' }),
    );
  }
});

test.each([
  '{',
  '{"graph":{}}',
  JSON.stringify(new GraphLayout([]).jgf()),
  JSON.stringify(new GraphLayout([{ name: 'a', units: { core: 1 }, properties: ['p'] }]).jgf()).replace(
    '"p":""',
    '"p":1',
  ),
])('refuses %p, on which the library would abort', (text) => {
  expect(() => checkJgf(text)).toThrow(expect.objectContaining({ code: 'FLUXQ_FLUXION_GRAPH' }));
});
