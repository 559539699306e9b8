/** Whether a workload still asks for what was granted when it is released. */
import { type ClusterFacts, NO_FACTS } from '../../runtime/jobspec/constraints';
import { taintProperty } from '../../runtime/jobspec/tolerations';
import type { Job } from '../../runtime/kubernetes/types';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { adapters } from '../../runtime/workloads/index';
import { QueueModel } from '../fuzz/queue-model';
import { allocationOf } from '../queue/submission';
import { defaultSubmissions } from './default-submissions';

const adapter = adapters.get('Job')!;
const TAINT = { key: 'example.com/maintenance', effect: 'NoSchedule' };
/** Of another node: the selector of the Job compares this label. */
const MORE_NODES: ClusterFacts = { labels: new Map([['size', new Set(['4', '8'])]]) };
const COMPARES = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['2'] }] }],
      },
    },
  },
};

function job(spec: object = {}, pod: object = {}): Job {
  return {
    metadata: {
      name: 'a',
      namespace: 'science',
      uid: 'a',
      resourceVersion: '1',
      creationTimestamp: '2027-01-01T00:00:00Z',
    },
    spec: { suspend: true, ...spec, template: { spec: { containers: [{ name: 'main' }], ...pod } } },
  };
}

/** A workload that was granted a node, and what is known of the nodes then. */
async function granted(facts: ClusterFacts, object = job()) {
  const queue = new QueueModel(() => 1_000);
  const workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
  await workloadCache.reload();
  const now = { facts, properties: [] as string[] };
  const builder = defaultSubmissions(workloadCache, () => undefined, {
    clusterFacts: () => now.facts,
    nodeOf: (name) => ({ name, units: {}, properties: now.properties }),
  });
  const row = (await builder.submit(object, adapter))!;
  await workloadCache.allocate([{ uid: 'a', allocation: allocationOf(row) }]);
  const asks = (object: Job) => builder.asksForGrant(object, adapter, workloadCache.byUid('a')!);
  return { now, asks, object };
}

test('keeps a grant when another node brings a value of a label that it compares', async () => {
  const one: ClusterFacts = { labels: new Map([['size', new Set(['4'])]]) };
  const { now, asks } = await granted(one, job({}, COMPARES));
  now.properties = ['size', 'size=4'];
  now.facts = MORE_NODES;
  expect(asks(job({}, COMPARES))).toBe(true);
});

test('gives a grant back when its node gets a taint', async () => {
  const { now, asks, object } = await granted(NO_FACTS);
  expect(asks(object)).toBe(true);
  now.properties = [taintProperty(TAINT)];
  // Also the object that was compared before: a node with a taint can come, and be granted, in the moment of the submission.
  expect([asks(object), asks(job())]).toEqual([false, false]);
});

test('gives a grant back when its user asks for other units, more pods or another node', async () => {
  const { asks } = await granted(NO_FACTS);
  const containers = [{ name: 'main', resources: { requests: { cpu: '3' } } }];
  expect(asks(job())).toBe(true);
  expect(asks(job({}, { containers }))).toBe(false);
  expect(asks(job({ parallelism: 2, completions: 2 }))).toBe(false);
  expect(asks(job({}, { nodeSelector: { disk: 'ssd' } }))).toBe(false);
});
