/** Reconciles of a Job that is being deleted while its pods terminate, on tables in memory. */

import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { namesOf } from '../../runtime/workloads/adapter';
import type { WorkloadReconciler } from '../../runtime/workloads/reconciler';
import { QueueModel } from '../fuzz/queue-model';
import { submission } from '../queue/submission';
import { reconcilerOnTables } from './reconciler-on-tables';

const NOW = 1_800_000_000;
const KEY = { kind: 'Job', namespace: 'science', name: 'job-a' };
const GATED = { schedulingGates: [{ name: 'fluxqueue' }] };

function pod(uid: string, spec: Partial<Pod['spec']>): Pod {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'job-a', uid: 'a', controller: true };
  const metadata = { name: uid, namespace: 'science', uid, ownerReferences: [owner] };
  return {
    metadata: { ...metadata, resourceVersion: '1', creationTimestamp: '' },
    spec: { containers: [], ...spec },
    status: { phase: 'Pending' },
  };
}

describe('a Job that is being deleted', () => {
  let workloadCache: WorkloadCache;
  let watched: Pod[];
  let existing: Pod[];
  let patched: string[];
  let reconciler: WorkloadReconciler;

  beforeEach(async () => {
    const queue = new QueueModel(() => NOW);
    workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
    watched = [];
    patched = [];
    const row = await workloadCache.submit(submission('a', { pods: 2 }));
    const nodes = ['node-0', 'node-1'].map((name) => ({ name, units: { core: '0' } }));
    const allocation = { jobid: row!.jobid, start: NOW, end: NOW + 600, nodes };
    await workloadCache.allocate([{ uid: 'a', allocation }]);
    await workloadCache.released('a');
    const client: Partial<KubernetesClient> = {
      list: async () => ({ metadata: { resourceVersion: '2' }, items: existing }) as never,
      patch: async (path) => {
        patched.push(path);
        return {} as never;
      },
    };
    reconciler = reconcilerOnTables(workloadCache, {
      client,
      objectOf: () => DELETED,
      podsOf: () => watched,
      now: () => NOW,
    });
  });

  const DELETED: Job = {
    metadata: {
      name: 'job-a',
      namespace: 'science',
      uid: 'a',
      resourceVersion: '1',
      creationTimestamp: '',
      deletionTimestamp: '2027-01-15T08:00:00Z',
    },
    spec: { suspend: false, parallelism: 2, completions: 2, template: { spec: { containers: [] } } },
  };
  const held = () => namesOf(workloadCache.byUid('a')?.allocation?.nodes ?? []);

  test('gives a node back once the watch shows all pods that exist', async () => {
    const [first, second] = [pod('p0', { nodeName: 'node-0' }), pod('p1', { nodeName: 'node-1' })];
    existing = [first, second];
    watched = [first];
    expect(await reconciler.reconcile(KEY)).toEqual({ after: 1_000 });
    expect(held()).toEqual(['node-0', 'node-1']);
    watched = [first, second];
    await reconciler.reconcile(KEY);
    expect(held()).toEqual(['node-0', 'node-1']);
    watched = [first];
    await reconciler.reconcile(KEY);
    expect(held()).toEqual(['node-0']);
    watched = [];
    await reconciler.reconcile(KEY);
    expect(workloadCache.byUid('a')).toBeUndefined();
  });

  test('starts no further pod on the nodes that it gives back', async () => {
    existing = [pod('p0', { nodeName: 'node-0' }), pod('p1', GATED)];
    watched = existing;
    await reconciler.reconcile(KEY);
    expect(held()).toEqual(['node-0']);
    expect(patched).toEqual([]);
  });
});
