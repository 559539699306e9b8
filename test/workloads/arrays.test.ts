/** Which Jobs are gangs, which nodes an array does not use, and what the loss of a node means for it. */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GANG_SIZE,
  GATE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job, OwnerReference, Pod } from '../../runtime/kubernetes/types';
import type { Allocation } from '../../runtime/resources/types';
import { Eviction, type EvictionOptions } from '../../runtime/workloads/eviction';
import { jobAdapter } from '../../runtime/workloads/job';
import { Shrinking, type ShrinkingOptions } from '../../runtime/workloads/shrinking';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

const META = { uid: 'a', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const NODES = ['node-1', 'node-2'].map((name) => ({ name, units: { core: '0', memory: '0' } }));
const row = rowIn('Running', {
  ...submission('a', { pods: 2 }),
  releasedAt: 1,
  allocation: { jobid: 7, start: 0, end: 60, nodes: NODES },
});

function array(spec: Partial<Job['spec']> = {}, metadata: Partial<Job['metadata']> = {}): Job {
  const annotations = { [ASSIGNMENT_ANNOTATION]: '0/1:node-1,node-2', [JOBID_ANNOTATION]: '7' };
  return {
    metadata: { ...META, name: 'tasks', ...metadata },
    spec: {
      suspend: false,
      parallelism: 2,
      completions: 20,
      completionMode: 'Indexed',
      template: { metadata: { annotations }, spec: { containers: [] } },
      ...spec,
    },
  };
}

function pod(phase: 'Running' | 'Succeeded' | 'Pending', nodeName: string, index = 0): Pod {
  const annotations = { [JOBID_ANNOTATION]: '7', [COMPLETION_INDEX_ANNOTATION]: String(index) };
  return {
    metadata: { ...META, uid: `p${index}`, name: `p${index}`, annotations },
    spec: { containers: [], nodeName },
    status: { phase },
  };
}

const ownedBy = (kind: string): Partial<Job['metadata']> => ({
  ownerReferences: [{ apiVersion: 'v1', kind, name: 'o', uid: 'o', controller: true } as OwnerReference],
});

test.each([
  ['without more is an array', {}, false],
  ['with a gang size is a gang', { annotations: { [GANG_SIZE]: '2' } }, true],
  ['with an invalid gang size is an array', { annotations: { [GANG_SIZE]: 'all' } }, false],
  ['of a MiniCluster is a gang', ownedBy('MiniCluster'), true],
  ['of a JobSet is a gang', ownedBy('JobSet'), true],
  ['of a CronJob is an array', ownedBy('CronJob'), false],
])('a Job %s', (_, metadata, expected) => {
  expect(jobAdapter.isGang(array({}, metadata))).toBe(expected);
});

describe('an array does not use', () => {
  const idle = (pods: readonly Pod[], spec: Partial<Job['spec']> = {}) =>
    jobAdapter.idleNodes(array(spec), row, pods);

  test('a node without a pod once the indexes that are pinned to it have succeeded', () => {
    const later = pod('Running', 'node-1', 7);
    expect(idle([later, pod('Succeeded', 'node-2', 1)])).toEqual(['node-2']);
    expect(idle([later])).toEqual([]);
    expect(idle([later, pod('Succeeded', 'node-2', 1), pod('Pending', 'node-2', 8)])).toEqual([]);
  });

  test('a node without a pod, if its pods have no indexes', () => {
    expect(idle([pod('Running', 'node-1')], { completionMode: 'NonIndexed' })).toEqual(['node-2']);
  });

  test('nothing while a pod is gated: it may have got its node a moment ago', () => {
    const gated = pod('Pending', 'node-2', 9);
    const spec = { containers: [], schedulingGates: [{ name: GATE }] };
    expect(idle([pod('Running', 'node-1'), { ...gated, spec }], { completionMode: 'NonIndexed' })).toEqual(
      [],
    );
  });
});

describe('an array that was granted fewer pods than it may have at once', () => {
  const wide = { parallelism: 3, completions: 3 };
  const gated = (index: number): Pod => {
    const spec = { containers: [], schedulingGates: [{ name: GATE }] };
    return { ...pod('Pending', 'node-2', index), spec };
  };

  test('keeps a node on which all has succeeded for its pods that wait', () => {
    const done = pod('Succeeded', 'node-1', 0);
    const running = pod('Running', 'node-2', 1);
    const finished = (pods: readonly Pod[]) => jobAdapter.finishedNodes(array(wide), row, pods);
    expect(finished([done, running, gated(2)])).toEqual([]);
    expect(finished([done, running, pod('Succeeded', 'node-1', 2)])).toEqual(['node-1']);
  });

  test('lets no pod without an index go to its only node by itself', () => {
    const only = { ...row, allocation: { ...row.allocation!, nodes: NODES.slice(0, 1) } };
    const released = ({ body }: { readonly body: unknown }) => JSON.stringify(body);
    const patch = (spec: Partial<Job['spec']>) => released(jobAdapter.releasePatch(array(spec), only));
    expect(patch({ ...wide, completionMode: 'NonIndexed' })).toContain('"0/1:node-1;1/1:;replaces-deleted"');
    expect(patch({ ...wide, completionMode: 'Indexed' })).toContain('"0/1:node-1;replaces-deleted"');
    expect(patch({ parallelism: 1, completionMode: 'NonIndexed' })).toContain(
      '"0/1:node-1;replaces-deleted"',
    );
  });
});

describe('the loss of a node', () => {
  const lost = (object: Job, pods: readonly Pod[], of = row) => {
    const nodes = { exists: (name: string) => name !== 'node-2', isReady: () => true };
    const eviction = new Eviction({ nodes } as unknown as EvictionOptions);
    return eviction.reasonFor({ object, adapter: jobAdapter as never, row: of, pods })?.message;
  };
  const both = [pod('Running', 'node-1', 0), pod('Running', 'node-2', 1)];

  test('evicts no array of which a pod runs on another node', () => {
    expect(lost(array(), both)).toBeUndefined();
    const recreated = pod('Pending', 'node-2', 1);
    expect(lost(array(), [both[0]!, recreated])).toBeUndefined();
  });

  test('evicts no array of which the next task will run on another node', () => {
    expect(lost(array(), [pod('Succeeded', 'node-1', 0), both[1]!])).toBeUndefined();
    expect(lost(array(), [both[1]!])).toBeUndefined();
  });

  test('evicts an array of which nothing more runs elsewhere', () => {
    const last = { ...array(), status: { succeeded: 19, completedIndexes: '0,2-19' } };
    expect(lost(last, [pod('Succeeded', 'node-1', 0), both[1]!])).toBe('node node-2 was lost');
    expect(lost(last, [both[1]!])).toBe('node node-2 was lost');
  });

  test('evicts no array that runs, before its start is committed', () => {
    expect(lost(array(), both, { ...row, startedAt: null })).toBeUndefined();
  });

  test('evicts an array that has no node left for its next task', () => {
    const only = { ...row, allocation: { ...row.allocation!, nodes: NODES.slice(1) } };
    const spec = { containers: [], schedulingGates: [{ name: GATE }] };
    const gated = { ...pod('Pending', 'node-2', 5), spec };
    const done = pod('Succeeded', 'node-2', 1);
    expect(lost(array(), [done, gated], only)).toBe('node node-2 was lost');
    expect(lost(array(), [done], only)).toBe('node node-2 was lost');
    expect(lost(array(), [done, pod('Running', 'node-1', 5)], only)).toBeUndefined();
  });

  test('evicts an array that has not run', () => {
    const [, onLost] = both;
    expect(lost(array(), [{ ...onLost!, status: { phase: 'Pending' } }], { ...row, startedAt: null })).toBe(
      'node node-2 was lost',
    );
  });

  test('evicts a gang', () => {
    expect(lost(array({}, { annotations: { [GANG_SIZE]: '2' } }), both)).toBe('node node-2 was lost');
  });

  test('leaves the pods of an array alone that run elsewhere than on the nodes which it holds', () => {
    const shrunk = { ...row, allocation: { ...row.allocation!, nodes: NODES.slice(0, 1) } };
    const nodes = { exists: () => true, isReady: () => true };
    const eviction = new Eviction({ nodes } as unknown as EvictionOptions);
    const workload = { object: array(), adapter: jobAdapter as never, row: shrunk };
    expect(eviction.reasonFor({ ...workload, pods: [both[0]!, both[1]!] })).toBeUndefined();
    // It was made while admission was away, and counts where it is.
    const stray = pod('Running', 'node-9', 3);
    expect(eviction.reasonFor({ ...workload, pods: [stray] })).toBeUndefined();
  });

  test('takes the node from an array of which gated pods wait, but for what is pinned to it', async () => {
    const shrunk: string[] = [];
    const nodes = { exists: (name: string) => name !== 'node-2', isReady: () => true };
    const workloadCache = {
      byUid: () => row,
      shrink: async (_: string, allocation: Allocation) => {
        shrunk.push(...allocation.nodes.map(({ name }) => name));
      },
    };
    const logger = { debug: () => undefined };
    const shrinking = new Shrinking({
      ...{ workloadCache, nodes, logger, podsOf: () => [], deletedPods: { areShown: async () => true } },
      ...{ onShrunk: () => undefined, onReduced: () => undefined },
    } as unknown as ShrinkingOptions);
    const object = array({ parallelism: 3, completions: 3, completionMode: 'NonIndexed' });
    const waiting = pod('Pending', '', 2);
    const gated = { ...waiting, spec: { containers: [], schedulingGates: [{ name: GATE }] } };
    const shrink = (pods: readonly Pod[]) =>
      shrinking.shrink({ object, adapter: jobAdapter as never, row, pods });
    await shrink([...both, gated]);
    expect(shrunk).toEqual([]);
    await shrink([both[0]!, gated, { ...gated, metadata: { ...gated.metadata, uid: 'q', name: 'q' } }]);
    expect(shrunk).toEqual(['node-1']);
  });
});
