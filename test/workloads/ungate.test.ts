import type { Pod, PodSpec } from '../../runtime/kubernetes/types';
import { placeOf } from '../../runtime/workloads/pod';
import { nodesForGated } from '../../runtime/workloads/ungate';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

/** Four pods: two on each node. */
const row = rowIn('Running', {
  ...submission('a', { pods: 4 }),
  allocation: {
    jobid: 7,
    start: 0,
    end: 60,
    nodes: ['node-1', 'node-2'].map((name) => ({ name, units: { core: '0-1', memory: '0-1' } })),
  },
});

function pod(
  name: string,
  spec: Partial<PodSpec> = {},
  phase: 'Running' | 'Succeeded' | 'Failed' = 'Running',
): Pod {
  const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return { metadata, spec: { containers: [], ...spec }, status: { phase } };
}

const pinned = (node: string): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
      },
    },
  },
});

const given = (pods: readonly Pod[], gated: readonly Pod[]) =>
  nodesForGated(row, [...pods, ...gated], gated).map(
    ({ pod: { metadata }, node }) => `${metadata.name} ${node}`,
  );

describe('places for gated pods', () => {
  const gated = ['a', 'b', 'c', 'd', 'e'].map((name) => pod(name));

  test('all of the allocation, not one more', () => {
    expect(given([], gated)).toEqual(['a node-1', 'b node-1', 'c node-2', 'd node-2']);
  });

  test('less what runs there or is pinned there', () => {
    const others = [pod('x', { nodeName: 'node-1' }), pod('y', pinned('node-2'))];
    expect(given(others, gated)).toEqual(['a node-1', 'b node-2']);
  });

  test('again, once its pod has ended', () => {
    const others = [pod('x', { nodeName: 'node-1' }, 'Succeeded'), pod('y', { nodeName: 'node-1' })];
    expect(given(others, gated)).toEqual(['a node-2', 'b node-2', 'c node-1']);
  });

  // A term that died had pinned x and y alone: its successor put a there, and gave the node back under it.
  test('not where pods have succeeded as long as others are free: those are given back', () => {
    const over = ['x', 'y'].map((name) => pod(name, { nodeName: 'node-1' }, 'Succeeded'));
    expect(given(over, gated.slice(0, 2))).toEqual(['a node-2', 'b node-2']);
  });

  test('where a pod has failed as anywhere: another one comes in its stead', () => {
    const others = [pod('x', { nodeName: 'node-1' }, 'Failed'), pod('y', { nodeName: 'node-1' })];
    expect(given(others, gated)).toEqual(['a node-1', 'b node-2', 'c node-2']);
  });

  test('a pod on a node outside takes none', () => {
    expect(given([pod('x', { nodeName: 'node-9' })], gated)).toHaveLength(4);
  });
});

test('the place of a pod: where it runs, else where it is pinned', () => {
  expect(placeOf(pod('x', { ...pinned('node-2'), nodeName: 'node-1' }))).toBe('node-1');
  expect(placeOf(pod('x', pinned('node-2')))).toBe('node-2');
  expect(placeOf(pod('x'))).toBeUndefined();
});
