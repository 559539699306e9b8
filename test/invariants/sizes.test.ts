/** The oracle of sizes reports each way to more than was granted, and nothing within the grant. */
import type { Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import type { Observation } from './observation';
import { sizeViolations } from './sizes';

const meta = { name: 'a', namespace: 'science', uid: 'a', resourceVersion: '1', creationTimestamp: '' };
const units = { core: '0-19', memory: '0-7' };
const row = rowIn('Running', {
  uid: 'a',
  name: 'a',
  allocation: { jobid: 1, start: 0, end: 60, nodes: [{ name: 'node-1', units }] },
});
const container = (cpu: string, more: object = {}) => ({
  name: 'main',
  resources: { requests: { cpu, memory: '512Mi' } },
  ...more,
});
const pod = (name: string, spec: object, metadata: object = {}): Pod => ({
  metadata: {
    ...meta,
    name,
    uid: name,
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'a' }],
    ...metadata,
  },
  spec: { containers: [container('1')], nodeName: 'node-1', ...spec },
  status: { phase: 'Running' },
});
const record = (...types: readonly string[]) => ({
  metadata: {
    ...meta,
    name: 'a-job',
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'a' }],
  },
  status: { conditions: types.map((type) => ({ type })) },
});
const seen = (pods: readonly Pod[], over: Partial<Observation> = {}) =>
  sizeViolations({
    rows: [row],
    events: [],
    jobs: [],
    nodes: [],
    fluxion: { jobs: [], nodes: [] },
    pods,
    ...over,
  }).map(({ text }) => text);
const two = [pod('a-0', {}), pod('a-1', {})];

test('reports nothing within the grant, nor pods that have ended or are asked to', () => {
  expect(seen(two)).toEqual([]);
  const ended = { ...pod('a-2', {}), status: { phase: 'Failed' } } as const;
  expect(seen([...two, ended, pod('a-3', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })])).toEqual([]);
  expect(seen([...two, pod('other', { nodeName: 'node-2' })])).toEqual([]);
});

test.each<[string, readonly Pod[], string]>([
  ['another pod', [...two, pod('a-2', {})], '3000m and 1536 MiB'],
  ['a resize', [two[0]!, pod('a-1', { containers: [container('1500m')] })], '2500m and 1024 MiB'],
  [
    'a sidecar',
    [two[0]!, pod('a-1', { initContainers: [container('100m', { restartPolicy: 'Always' })] })],
    '2100m and 1536 MiB',
  ],
  ['an init container', [two[0]!, pod('a-1', { initContainers: [container('3')] })], '4000m and 1024 MiB'],
])('reports %s', (_, pods, used) => {
  expect(seen(pods)).toEqual([`a uses ${used} of node-1, where it has 2000m and 1024 MiB`]);
});

test('wants that what somebody enlarged is shown and held, and that nothing else is shown', () => {
  const enlarged = new Set(['a']);
  const more = [...two, pod('a-2', {})];
  const silent = 'a uses more of node-1, and its FluxJob does not say so';
  expect(seen(more, { enlarged, records: [record()] })).toEqual([silent]);
  expect(seen(more, { enlarged, records: [record('MoreThanGranted')] })).toEqual([]);
  expect(seen(two, { enlarged, records: [record('MoreThanGranted')] })).toEqual([
    'the FluxJob of a says that it uses more, and it does not',
  ]);
  const nodes = [{ name: 'node-1', total: { core: 40 }, up: true, properties: [], free: {} }] as never;
  const held = (core: string) => [
    { jobid: 2 ** 52, start: 0, end: 1, nodes: [{ name: 'node-1', units: { core } }] },
  ];
  const fluxion = (core: string) => ({ fluxion: { nodes, jobs: held(core) } });
  expect(seen(more, { enlarged, ...fluxion('0-9') })).toEqual([]);
  const down = [{ name: 'node-1', total: { core: 40 }, up: false }] as never;
  expect(seen(more, { enlarged, fluxion: { nodes: down, jobs: [] } })).toEqual([]);
  expect(seen(more, { enlarged, ...fluxion('0-8') })).toEqual([
    'a uses 10 more units of node-1, and Fluxion holds 9 outside grants',
  ]);
});

test('wants that a pod is shown and held which runs where nothing was granted', () => {
  const enlarged = new Set(['a']);
  const pods = [two[0]!, pod('a-1', { nodeName: 'node-2' })];
  const nodes = [{ metadata: { ...meta, name: 'node-2' }, spec: {} }];
  const total = { name: 'node-2', total: { core: 40 }, up: true };
  const held = { jobid: 2 ** 52, start: 0, end: 1, nodes: [{ name: 'node-2', units: { core: '0-9' } }] };
  const state = (...jobs: readonly object[]) => ({ fluxion: { nodes: [total], jobs } as never });
  const shown = { enlarged, nodes, records: [record('MoreThanGranted')] };
  expect(seen(pods, { ...shown, ...state(held) })).toEqual([]);
  expect(seen(pods, { ...shown, records: [record()], ...state(held) })).toEqual([
    'a uses more of node-2, and its FluxJob does not say so',
  ]);
  expect(seen(pods, { ...shown, ...state() })).toEqual([
    'a uses 10 more units of node-2, and Fluxion holds 0 outside grants',
  ]);
  expect(seen(pods, { ...shown, nodes: [], records: [record()] })).toEqual([]);
});
