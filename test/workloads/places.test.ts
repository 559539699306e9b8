/** Which pod takes over the place of a pod that its controller makes again: only one that asks for the same in the same queue. */
import type { Pod } from '../../runtime/kubernetes/types';
import { askedBy, type Predecessor } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { podAdapter } from '../../runtime/workloads/pod';
import { QueueModel } from '../fuzz/queue-model';
import { queueSettings } from '../scheduler/pass/settings';
import { defaultSubmissions } from './default-submissions';

const adapter = podAdapter as unknown as WorkloadAdapter;
const CREATED = '2026-01-01T00:00:00Z';

interface Given {
  readonly queue?: string;
  readonly priority?: string;
  readonly cpu?: string;
  readonly image?: string;
  readonly user?: string;
}

function pod(
  uid: string,
  { queue = 'blue', priority = '0', cpu = '1', image = 'one', user = 'ada' }: Given,
): Pod {
  const annotations = {
    'fluxqueue/queue': queue,
    'fluxqueue/priority': priority,
    'fluxqueue/user': user,
  };
  return {
    metadata: {
      name: 'db-0',
      namespace: 'science',
      uid,
      resourceVersion: '1',
      creationTimestamp: CREATED,
      annotations,
    },
    spec: { containers: [{ name: 'main', image, resources: { requests: { cpu } } }] },
  };
}

function failOn(_object: unknown, _adapter: unknown, message: string): void {
  throw new Error(message);
}

async function submitted(given: Given, change: (place: Predecessor) => Predecessor = (place) => place) {
  const queue = new QueueModel(() => 1_000);
  const workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
  const queues = {
    queueOf: ({ requested }: { readonly requested: string | undefined }) => requested ?? 'default',
    planOf: () => queueSettings(),
    refusesStackQueue: () => false,
  };
  const builder = defaultSubmissions(workloadCache, failOn, { queues: queues as never });
  const row = (await builder.submit(pod('old', {}), adapter))!;
  const place = {
    submittedAt: 50,
    requeues: 2,
    clusterRequeues: 0,
    message: null,
    notBefore: null,
    avoid: {},
  };
  return builder.submit(pod('new', given), adapter, change({ uid: 'old', ...place, asked: askedBy(row) }));
}

test.each([
  ['as before', {}],
  ['with another image', { image: 'two' }],
])('a pod %s takes it', async (_, given) => {
  expect(await submitted(given)).toMatchObject({ submittedAt: 50, requeues: 2 });
});

test.each([
  ['in another queue', { queue: 'red' }],
  ['that is larger', { cpu: '2' }],
  ['of a higher priority', { priority: '5' }],
  ['of another user', { user: 'eve' }],
])('a pod %s gets a place of its own', async (_, given) => {
  expect(await submitted(given)).toMatchObject({ submittedAt: Date.parse(CREATED) / 1000, requeues: 0 });
});

test('a place that an earlier version noted says nothing of what was asked for', async () => {
  const earlier = ({ asked: _, ...place }: Predecessor) => place;
  expect(await submitted({ cpu: '2' }, earlier)).toMatchObject({ submittedAt: 50, requeues: 2 });
});

test('nor of whose it was', async () => {
  const earlier = ({ asked, ...place }: Predecessor) => {
    const { user: _, ...known } = asked!;
    return { ...place, asked: known };
  };
  expect(await submitted({ user: 'eve' }, earlier)).toMatchObject({ submittedAt: 50, requeues: 2 });
});
