import { chosenNodes, nodeLines } from '../../runtime/cli/node-table';
import { type NodeReport, type NodeReportList, READ_API } from '../../runtime/reader/kinds';
import { cpuSeconds } from '../cpu-time';

const NONE = { core: 0, memory: 0 };
const ALL = { core: 160, memory: 512 };

function report(name: string, over: Partial<NodeReport> = {}): NodeReport {
  return {
    apiVersion: READ_API,
    kind: 'NodeReport',
    metadata: { name },
    units: ALL,
    used: NONE,
    reserved: NONE,
    unmanaged: NONE,
    free: ALL,
    fluxion: { up: true, total: ALL, free: ALL },
    drift: [],
    ...over,
  };
}

function list(items: readonly NodeReport[], over: Partial<NodeReportList> = {}): NodeReportList {
  return {
    apiVersion: READ_API,
    kind: 'NodeReportList',
    metadata: {},
    items,
    unitSizes: { cpuMillis: 100, memoryMiB: 128 },
    ...over,
  };
}

const lines = (of: NodeReportList, wide = false) => nodeLines(chosenNodes(of, []), { wide });
const BUSY = { used: { core: 160, memory: 8 }, free: { core: 0, memory: 504 } };
const LOST = "Fluxion has 16 units of core free, the queue's rows 0";

test('each node has a line in cores and bytes, in the order in which people count', () => {
  expect(lines(list([report('node-10'), report('node-2', BUSY)]))).toEqual([
    '2 nodes, all up; 16 cpu, 127Gi memory free of 32 cpu, 128Gi memory',
    'NODE     STATUS  FREE                 USED                RESERVED  UNMANAGED',
    'node-2   Up      0 cpu, 63Gi memory   16 cpu, 1Gi memory  -         -',
    'node-10  Up      16 cpu, 64Gi memory  -                   -         -',
  ]);
});

test('what is down, reserved, unmanaged or differs from Fluxion is explained once below the table', () => {
  const shown = lines(
    list([
      report('node-1', { down: 'is cordoned', drift: [LOST] }),
      report('node-2', { down: 'is cordoned' }),
      report('node-3', { reserved: { core: 5, memory: 0 }, drift: [LOST] }),
      report('node-4', { unmanaged: { core: 1, memory: 1 }, free: { core: 159, memory: 511 } }),
    ]),
  );
  expect(shown[0]).toBe(
    '4 nodes, 2 down; 31.9 cpu, 127.9Gi memory free of 64 cpu, 256Gi memory; 32 cpu, 128Gi memory down',
  );
  expect(shown.slice(1, 4).map((line) => line.slice(0, 18))).toEqual([
    'NODE    STATUS    ',
    'node-1  Down,Drift',
    'node-2  Down      ',
  ]);
  expect(shown.at(-6)).toMatch(/^node-4 +Up +15\.9 cpu, 63\.9Gi memory +- +- +0\.1 cpu, 128Mi memory$/);
  expect(shown.slice(-5)).toEqual([
    'RESERVED: units that the next reservation of the node will take',
    'UNMANAGED: units that pods outside the queue use',
    'down: node-[1-2]: is cordoned',
    `drift: node-[1,3]: ${LOST}`,
    'the leader repairs drift within minutes; kubectl fluxqueue doctor says more if it stays',
  ]);
});

test('a wide table has totals and the numbers of Fluxion beside them', () => {
  const unknown = list([report('a'), report('b', {})], { withoutFluxion: 'the leader does not answer' });
  const { fluxion: _, ...without } = unknown.items[1]!;
  const [, head, a, b, last] = lines({ ...unknown, items: [unknown.items[0]!, without] }, true);
  expect(head).toMatch(/UNMANAGED +TOTAL +FLUXION +FLUXION-FREE +FLUXION-TOTAL$/);
  expect(a).toMatch(/ 16 cpu, 64Gi memory +Up +16 cpu, 64Gi memory +16 cpu, 64Gi memory$/);
  expect(b).toMatch(/ 16 cpu, 64Gi memory +unknown +- +-$/);
  expect(last).toBe('the view of Fluxion is missing: the leader does not answer');
});

test('types that have no size are counted, and come last', () => {
  const units = { gpu: 2, core: 8, example_com_nic: 1 };
  const [first] = lines(list([report('a', { units, free: units })]));
  expect(first).toMatch(/; 0\.8 cpu, 2 gpu, 1 example_com_nic free of 0\.8 cpu, /);
});

test('no nodes are a sentence', () => {
  expect(lines(list([]))).toEqual(['the queue has no nodes']);
});

test('nodes are chosen by names and hostlists, and what no node has is refused', () => {
  const all = list(['node-1', 'node-2', 'node-3', 'login'].map((name) => report(name)));
  const names = (texts: readonly string[]) =>
    chosenNodes(all, texts).items.map(({ metadata }) => metadata.name);
  expect(names(['node-[2-3]', 'login'])).toEqual(['login', 'node-2', 'node-3']);
  expect(() => names(['node-[3-4]'])).toThrow('FLUXQ_NODE_UNKNOWN: node: neither the cluster nor Fluxion');
  expect(() => names(['node-['])).toThrow('(got "node-[")');
});

test('1,000 nodes are laid out with less than a second of CPU, and share the sentence that they are down', () => {
  const nodes = Array.from({ length: 1000 }, (_, i) =>
    report(`node-${i}`, i < 500 ? { down: 'is not ready' } : {}),
  );
  let shown: readonly string[] = [];
  const seconds = cpuSeconds(() => {
    shown = lines(list(nodes));
  });
  expect(seconds).toBeLessThan(1);
  expect(shown).toHaveLength(1003);
  expect(shown[0]).toMatch(/^1,000 nodes, 500 down; /);
  expect(shown.at(-1)).toBe('down: node-[0-499]: is not ready');
});

test('an empty name is no node', () => {
  expect(() => chosenNodes(list([report('node-1')]), [''])).toThrow(/FLUXQ_NODE_UNKNOWN.*got ""/);
});
