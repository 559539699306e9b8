import { ClusterFactsTracker, changeOfFacts } from '../../runtime/jobspec/cluster-facts';
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
  const change = changeOfFacts(known, tracker.facts());
  return change && [change.taints, [...change.labels].sort()];
}

test.each([
  ['a node like others joins', undefined, node('c', { zone: 'east' }), [false, ['kubernetes.io/hostname']]],
  [
    'a node of a new zone joins',
    undefined,
    node('c', { zone: 'north' }),
    [false, ['kubernetes.io/hostname', 'zone']],
  ],
  ['a node leaves', B, undefined, [true, ['kubernetes.io/hostname', 'zone']]],
  ['a node gets a new taint', A, node('a', { zone: 'east' }, ['fpga']), [true, []]],
  ['a node gets a taint of others', A, node('a', { zone: 'east' }, ['gpu']), undefined],
  ['a node gets a label', A, node('a', { zone: 'east', rack: 'r' }), [false, ['rack']]],
  ['a node changes nothing of this', A, node('a', { zone: 'east' }), undefined],
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
