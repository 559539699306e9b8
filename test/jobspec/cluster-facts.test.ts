import { ClusterFactsTracker, changedLabels } from '../../runtime/jobspec/cluster-facts';
import type { ClusterNode } from '../../runtime/jobspec/graph-nodes';

const node = (name: string, labels: Record<string, string>, taints: string[] = []): ClusterNode => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
});
const [A, B] = [node('a', { zone: 'east' }), node('b', { zone: 'west' }, ['gpu'])];

function changes(before: ClusterNode | undefined, now: ClusterNode | undefined) {
  const tracker = new ClusterFactsTracker();
  for (const each of [A, B]) tracker.replace(undefined, each);
  const known = tracker.facts();
  tracker.replace(before, now);
  return [...changedLabels(known, tracker.facts())].sort();
}

test.each([
  ['a node like others joins', undefined, node('c', { zone: 'east' }), ['kubernetes.io/hostname']],
  ['a node of a new zone joins', undefined, node('c', { zone: 'north' }), ['kubernetes.io/hostname', 'zone']],
  ['a node leaves', B, undefined, ['kubernetes.io/hostname', 'zone']],
  ['a node gets a new taint', A, node('a', { zone: 'east' }, ['fpga']), []],
  ['a node gets a taint of others', A, node('a', { zone: 'east' }, ['gpu']), []],
  ['a node gets a label', A, node('a', { zone: 'east', rack: 'r' }), ['rack']],
  ['a node changes nothing of this', A, node('a', { zone: 'east' }), []],
])('tells what changes when %s', (_, before, now, expected) => {
  expect(changes(before, now)).toEqual(expected);
});

test('never changes facts that it gave out', () => {
  const tracker = new ClusterFactsTracker();
  tracker.replace(undefined, A);
  const before = tracker.facts();
  expect(tracker.facts()).toBe(before);
  tracker.replace(undefined, B);
  expect([...before.labels.get('zone')!]).toEqual(['east']);
  expect([...tracker.facts().labels.get('zone')!]).toEqual(['east', 'west']);
  tracker.replace(B, undefined);
  expect(tracker.facts()).toEqual(before);
});
