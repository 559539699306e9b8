import { freeNodes, freeSentence } from '../../runtime/cli/free-nodes';
import { ApiError } from '../../runtime/kubernetes/errors';
import { type NodeReport, type NodeReportList, READ_API } from '../../runtime/reader/kinds';

const ALL = { core: 160, memory: 512 };

function report(name: string, free: NodeReport['free'], down?: string): NodeReport {
  const none = { core: 0, memory: 0 };
  return {
    apiVersion: READ_API,
    kind: 'NodeReport',
    metadata: { name },
    units: ALL,
    used: none,
    reserved: none,
    unmanaged: none,
    free,
    drift: [],
    ...(down === undefined ? {} : { down }),
  };
}

const list = (...items: readonly NodeReport[]): NodeReportList => ({
  apiVersion: READ_API,
  kind: 'NodeReportList',
  metadata: {},
  unitSizes: { cpuMillis: 100, memoryMiB: 128 },
  items,
});

test('nodes with the same free amounts share a name, and those with most come first', () => {
  const few = { core: 20, memory: 8 };
  expect(freeSentence(list(report('node-1', few), report('node-2', ALL), report('node-3', few)))).toBe(
    'free now: node-2 has 16 cpu, 64Gi memory; node-[1,3] have 2 cpu, 1Gi memory each',
  );
});

test('nodes that are down or full are not named', () => {
  const free = { core: 0, memory: 0 };
  expect(freeSentence(list(report('node-1', free), report('node-2', ALL, 'is cordoned')))).toBe(
    'no node has anything free',
  );
});

test('of many kinds only some are named', () => {
  const items = Array.from({ length: 6 }, (_, i) => report(`node-${i}`, { core: 10 * (i + 1), memory: 8 }));
  const sentence = freeSentence(list(...items));
  expect(sentence).toMatch(
    /^free now: node-5 has 6 cpu, .*; node-2 has 3 cpu, 1Gi memory; less on 2 more nodes$/,
  );
});

const answering = (get: () => Promise<unknown>) => ({ get, create: get }) as Parameters<typeof freeNodes>[0];

test.each([403, 404, 503])('an answer with status %s leaves the evidence out', async (status) => {
  const refused = new ApiError({ status, reason: 'Unknown', message: 'no', retryAfterSeconds: undefined });
  expect(await freeNodes(answering(() => Promise.reject(refused)))).toBeUndefined();
});

test('any other failure is an error', async () => {
  await expect(freeNodes(answering(() => Promise.reject(new Error('broken'))))).rejects.toThrow('broken');
});
