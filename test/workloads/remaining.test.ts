/** What an array asks for whose tasks are done in part, and what becomes of such a grant. */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GANG_SIZE,
  GATE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { podsOf } from '../../runtime/workloads/demand';
import { jobAdapter } from '../../runtime/workloads/job';
import { nodesForGatedPods } from '../../runtime/workloads/ungate';
import { QueueModel } from '../fuzz/queue-model';
import { rowIn } from '../queue/rows';
import { allocationOf, submission } from '../queue/submission';
import { defaultSubmissions } from './default-submissions';

const META = { uid: 'a', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
type Change = { readonly [Key in keyof Job['spec']]?: Job['spec'][Key] | undefined };

function array(spec: Change = {}, status: Job['status'] = {}, annotations = {}): Job {
  return {
    metadata: { ...META, name: 'tasks', namespace: 'science', annotations },
    spec: {
      suspend: true,
      parallelism: 4,
      completions: 10,
      completionMode: 'Indexed',
      template: { spec: { containers: [{ name: 'main' }] } },
      ...spec,
    } as Job['spec'],
    status,
  };
}

describe('an array that waits asks for', () => {
  const asked = (...given: Parameters<typeof array>) => podsOf(jobAdapter.demand(array(...given)));

  test.each<[string, Change, Job['status'], number]>([
    ['all that it runs at once while more tasks are left', {}, { succeeded: 5 }, 4],
    ['its last tasks', {}, { succeeded: 8, completedIndexes: '0-7' }, 2],
    ['its last task, if its pods have no indexes', { completionMode: 'NonIndexed' }, { succeeded: 9 }, 1],
    [
      'none of the tasks that have failed for good',
      { backoffLimitPerIndex: 0 },
      { succeeded: 7, failedIndexes: '1,3' },
      1,
    ],
    ['one pod while its end is counted', {}, { succeeded: 10 }, 1],
    ['no pod if its user wants none', { parallelism: 0 }, { succeeded: 9 }, 0],
    ['all that it runs at once, if it has no completions', { completions: undefined }, {}, 4],
    [
      'one pod if it has no completions and one has succeeded',
      { completions: undefined },
      { succeeded: 1 },
      1,
    ],
  ])('%s', (_, spec, status, pods) => {
    expect(asked(spec, status)).toBe(pods);
  });

  test('what it was granted once it runs', () => {
    expect(asked({ suspend: false }, { succeeded: 9 })).toBe(4);
  });

  test('all of a gang', () => {
    expect(asked({ completions: 4 }, { succeeded: 3 }, { [GANG_SIZE]: '4' })).toBe(4);
  });
});

describe('an array with one task left', () => {
  async function waiting(object: Job) {
    const queue = new QueueModel(() => 1_000);
    const cache = new WorkloadCache(queue, await queue.acquireFence('test'));
    await cache.reload();
    const builder = defaultSubmissions(cache, () => undefined);
    await builder.submit(object, jobAdapter as never);
    return { cache, builder, row: () => cache.byUid('a')! };
  }
  const left = (spec: Change = {}) => array(spec, { succeeded: 9, completedIndexes: '0-7,9' });

  test('is updated once, keeps its backoff and its failures, and is asked for no more after its release', async () => {
    const { cache, builder, row } = await waiting(array());
    await cache.allocate([{ uid: 'a', allocation: allocationOf(row()) }]);
    const change = builder.changeOf(left(), jobAdapter as never, row());
    expect(change).toMatchObject({ pods: 1, progressed: true });
    await cache.requeue({ uid: 'a', cause: 'failure', message: 'failed', notBefore: 5_000 }, change);
    expect(row()).toMatchObject({ pods: 1, requeues: 1, notBefore: 5_000, message: 'failed' });
    expect(builder.changeOf(left(), jobAdapter as never, row())).toBeUndefined();
    await cache.allocate([{ uid: 'a', allocation: allocationOf(row()) }]);
    expect(builder.asksForGrant(left(), jobAdapter as never, row())).toBe(true);
  });

  test('is tried again at once if its user changes how many pods run at once', async () => {
    const { cache, builder, row } = await waiting(array());
    await cache.allocate([{ uid: 'a', allocation: allocationOf(row()) }]);
    await cache.requeue({ uid: 'a', cause: 'failure', message: 'failed', notBefore: 5_000 });
    const change = builder.changeOf(array({ parallelism: 2 }), jobAdapter as never, row())!;
    expect(change).not.toHaveProperty('progressed');
    await cache.update(change);
    expect(row()).toMatchObject({ pods: 2, requeues: 0, notBefore: null });
  });
});

describe('the grant of the last tasks of an indexed array', () => {
  const NODES = ['n1', 'n2'].map((name) => ({ name, units: { core: '0', memory: '0' } }));
  const row = rowIn('Running', {
    ...submission('a', { pods: 2 }),
    releasedAt: 1,
    allocation: { jobid: 7, start: 0, end: 60, nodes: NODES },
  });
  const pod = (index: number, phase: string, node?: string, jobid = 7): Pod =>
    ({
      metadata: {
        ...META,
        uid: `p${index}`,
        name: `p${index}`,
        annotations: { [JOBID_ANNOTATION]: String(jobid), [COMPLETION_INDEX_ANNOTATION]: String(index) },
      },
      spec: {
        containers: [],
        ...(node === undefined ? { schedulingGates: [{ name: GATE }] } : { nodeName: node }),
      },
      status: { phase },
    }) as Pod;
  const released = (completedIndexes: string, succeeded: number, spec: Change = {}): Job => {
    const annotations = { [ASSIGNMENT_ANNOTATION]: '0/1:n1,n2', [JOBID_ANNOTATION]: '7' };
    const template = { metadata: { annotations }, spec: { containers: [] } };
    return array(
      { suspend: false, completions: 4, podReplacementPolicy: 'Failed', template, ...spec },
      { succeeded, completedIndexes },
    );
  };
  const placed = (object: Job, pods: readonly Pod[]) =>
    nodesForGatedPods(
      { object, adapter: jobAdapter as never, row },
      pods,
      pods.filter(({ spec }) => spec.schedulingGates),
      { exists: () => true },
    ).map(({ pod: { metadata }, node }) => `${metadata.name} ${node}`);

  test('gives indexes without a slot of their own those of indexes that are done', () => {
    expect(placed(released('0-1', 2), [pod(2, 'Pending'), pod(3, 'Pending')])).toEqual(['p2 n1', 'p3 n2']);
    expect(placed(released('1-2', 2), [pod(0, 'Pending', 'n1'), pod(3, 'Pending')])).toEqual(['p3 n2']);
    // The pod of index 0 is still to come.
    expect(placed(released('1-2', 2), [pod(3, 'Pending')])).toEqual(['p3 n2']);
  });

  test('keeps the slot of an index whose pod of an earlier grant has not ended', () => {
    const before = pod(0, 'Running', 'n9', 6);
    const ending = { ...before, metadata: { ...before.metadata, deletionTimestamp: META.creationTimestamp } };
    expect(jobAdapter.missingPods(released('1-2', 2), row, [ending, pod(3, 'Pending')])).toBe(1);
    expect(placed(released('1-2', 2), [ending, pod(3, 'Pending')])).toEqual(['p3 n2']);
  });

  test('frees no node before all pods are there', () => {
    const done = [pod(0, 'Succeeded', 'n7', 6), pod(1, 'Succeeded', 'n8', 6)];
    const finished = (pods: readonly Pod[]) =>
      jobAdapter.finishedNodes(released('0-1', 2), row, [...done, ...pods]);
    expect(finished([])).toEqual([]);
    expect(finished([pod(2, 'Running', 'n1')])).toEqual([]);
    expect(finished([pod(2, 'Running', 'n1'), pod(3, 'Running', 'n2')])).toEqual([]);
    expect(finished([pod(2, 'Running', 'n1'), pod(3, 'Succeeded', 'n2')])).toEqual(['n2']);
  });
});
