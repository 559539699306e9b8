/** What the commands print of an answer; how it looks is tested with each table. */
import { type NodeReportList, type Plan, READ_API, type ResourceGraph } from '../../runtime/reader/kinds';
import { type PlayedReadApi, playedReadApi } from './played-read-api';

const getApi = playedReadApi();

const entry = (kind: string, event: string) => ({
  at: '2026-11-23T09:00:00.000Z',
  uid: kind,
  kind,
  event,
  actor: 'ada',
  message: '',
});
const HISTORY = { entries: [entry('Job', 'Submitted'), entry('Pod', 'Allocated')] };
const PLAN: Plan = {
  apiVersion: READ_API,
  kind: 'Plan',
  metadata: {},
  now: '2026-11-23T09:00:00Z',
  unplanned: 0,
  jobs: [
    {
      namespace: 'science',
      name: 'train',
      kind: 'Job',
      queue: 'default',
      state: 'Running',
      start: '2026-11-23T09:00:00Z',
      end: '2026-11-23T10:00:00Z',
      nodes: ['node-0'],
    },
  ],
};
const NODES: NodeReportList = {
  apiVersion: READ_API,
  kind: 'NodeReportList',
  metadata: {},
  unitSizes: { cpuMillis: 1_000, memoryMiB: 1_024 },
  items: ['node-1', 'node-0'].map((name) => ({
    apiVersion: READ_API,
    kind: 'NodeReport',
    metadata: { name },
    units: { core: 1 },
    used: {},
    reserved: {},
    unmanaged: {},
    free: { core: 1 },
    drift: [],
  })),
};
const GRAPH: ResourceGraph = {
  apiVersion: READ_API,
  kind: 'ResourceGraph',
  metadata: {},
  bootId: 'b',
  unitSizes: { cpuMillis: 1_000, memoryMiB: 1_024 },
  nodes: [{ name: 'node-0', up: true, total: { core: 1 }, free: { core: 1 }, properties: [] }],
};
const USAGE = { from: '2026-11-01T00:00:00.000Z', until: '2026-11-23T09:00:00.000Z', lines: [], shares: [] };

async function printed(api: PlayedReadApi, body: object, words: string): Promise<string> {
  api.answer = () => ({ body });
  const { output, refused } = await api.run(...words.split(' '));
  expect(refused).toBeUndefined();
  return output;
}

test.each<[string, object, RegExp]>([
  ['history train', HISTORY, /^TIME .*REASON\n.*Submitted .*\n.*Allocated .*\n$/],
  ['history pod/train', HISTORY, /^TIME .*\n.*Allocated .*\n$/],
  ['history train -o wide', HISTORY, /^TIME +KIND +UID /],
  [
    'usage',
    USAGE,
    /^allocated hours of namespace science, and jobs that ended, from 2026-11-01T00:00:00Z until 2026-11-23T09:00:00Z\n/,
  ],
  ['usage -A', USAGE, /^allocated hours of all namespaces, /],
  ['plan', PLAN, /^plan of namespace science at .*\nWORKLOAD +now /],
  ['plan -A -o wide', PLAN, /^plan of all namespaces at .*\nNAMESPACE +WORKLOAD +QUEUE +STATE /],
  ['plan -o name', PLAN, /^job\/train\n$/],
  ['nodes', NODES, /^2 nodes, all up; 2 cpu free of 2 cpu\nNODE +STATUS /],
  ['nodes -o name', NODES, /^node\/node-0\nnode\/node-1\n$/],
  ['nodes node-1 -o wide', NODES, /^1 node, .*\n.* FLUXION .*\nnode-1 /],
  ['graph', GRAPH, /^the graph of Fluxion has 1 node, all up; .*\nRESOURCE .*\ncluster .*\n {2}node-0 /],
  ['trace', { swf: '; Version: 2.2\n1 2\n' }, /^; Version: 2\.2\n1 2\n$/],
])('%s', async (words, body, expected) => {
  expect(await printed(getApi(), body, words)).toMatch(expected);
});

test.each<[string, object]>([
  ['history train', HISTORY],
  ['usage', USAGE],
  ['plan', PLAN],
  ['nodes', { ...NODES, items: [...NODES.items].reverse() }],
  ['graph', GRAPH],
])('%s prints the answer as it is for programs', async (words, body) => {
  expect(JSON.parse(await printed(getApi(), body, `${words} -o json`))).toEqual(body);
  expect(await printed(getApi(), body, `${words} -o yaml`)).toMatch(/^\w+:/);
});

test('a history without entries of the kind is refused', async () => {
  const api = getApi();
  api.answer = () => ({ body: { entries: [entry('Pod', 'Submitted')] } });
  expect((await api.run('history', 'job/train')).refused).toMatch(
    /^FLUXQ_WORKLOAD_UNKNOWN: .*\(got "job\/train"\); leave out the kind/,
  );
});

test('period and keys are asked for, by default those of the month by queue and user', async () => {
  const api = getApi();
  await printed(api, USAGE, 'usage --from 2026-11-01 --until 2026-11-02T12:00:00+01:00 --by namespace,queue');
  await printed(api, USAGE, 'usage');
  await printed(api, { swf: '' }, 'trace --from 2026-11-01');
  const [given, usual, traced] = api.asked.map(({ query }) => query);
  expect(given).toEqual({
    from: '2026-11-01T00:00:00.000Z',
    until: '2026-11-02T11:00:00.000Z',
    by: 'namespace,queue',
  });
  expect(usual).toMatchObject({
    from: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/) as string,
    by: 'queue,user',
  });
  expect(Math.abs(Date.parse(usual!.until!) - Date.now())).toBeLessThan(60_000);
  expect(Object.keys(traced!)).toEqual(['from', 'until']);
});
