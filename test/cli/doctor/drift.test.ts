import { ADMITTED_LABEL, ASSIGNMENT_ANNOTATION, GATE } from '../../../constructs/api/labels';
import { checkWaiting, nodeFindings, podsOffGrant, withoutRecord } from '../../../runtime/cli/doctor/drift';
import type { FluxJobObject } from '../../../runtime/kubernetes/custom-resources';
import { pods as podPath } from '../../../runtime/kubernetes/paths';
import type { Node, Pod } from '../../../runtime/kubernetes/types';
import { fakeContext } from './fake-context';
import { ago, metadata, NOW } from './objects';

function record(name: string, status: object = {}, uid = `uid-of-${name}`): FluxJobObject {
  return {
    metadata: metadata(`${name}-job`),
    spec: { queue: 'default', workload: { apiVersion: 'batch/v1', kind: 'Job', name, uid } },
    status: status as never,
  };
}

const waiting = (name: string, seconds = 61) =>
  ({ kind: 'Job', object: { metadata: metadata(name, { creationTimestamp: ago(seconds) }) } }) as const;

test('a workload that waits for over a minute needs a FluxJob about itself', () => {
  const [known, unknown, fresh, another] = [
    waiting('known'),
    waiting('unknown'),
    waiting('fresh', 59),
    waiting('again'),
  ];
  const records = [record('known'), record('again', {}, 'uid of an earlier Job')];
  expect(withoutRecord([known, unknown, fresh, another], records, NOW)).toEqual([unknown, another]);
});

test('the pods of a Job that waits for the gate of another controller have the record of that Job', async () => {
  const gated = (name: string, annotations: Readonly<Record<string, string>>) => ({
    metadata: metadata(name, {
      creationTimestamp: ago(61),
      labels: { [ADMITTED_LABEL]: 'true' },
      annotations,
    }),
    spec: { containers: [], schedulingGates: [{ name: GATE }, { name: 'example.com/data' }] },
  });
  const staged = gated('staged', { [ASSIGNMENT_ANNOTATION]: 'staged' });
  const all = fakeContext({ [podPath()]: [staged] });
  expect(await checkWaiting(all)).toMatchObject([
    { level: 'ok', message: '0 workloads waiting, none for over a minute without its FluxJob' },
  ]);
  const alone = fakeContext({ [podPath()]: [staged, gated('alone', {})] });
  // Nobody leads, which another check says.
  expect(await checkWaiting(alone)).toEqual([]);
});

function pod(name: string, node: string, over: object = {}, status = 'Running'): Pod {
  const labels = { 'batch.kubernetes.io/controller-uid': 'uid-of-wide' };
  return {
    metadata: metadata(name, { labels, ...over }),
    spec: { containers: [], nodeName: node },
    status: { phase: status as never },
  };
}

test('a pod on a node that its FluxJob does not name is off its grant', () => {
  const running = [record('wide', { phase: 'Running', nodes: 'node-[1-2]', nodeCount: 2 })];
  const pods = [
    pod('a', 'node-1'),
    pod('b', 'node-3'),
    pod('ended', 'node-3', {}, 'Succeeded'),
    pod('leaving', 'node-3', { deletionTimestamp: ago(1) }),
    pod('other', 'node-3', { labels: {} }),
  ];
  expect(podsOffGrant(pods, running, NOW).map(({ metadata }) => metadata.name)).toEqual(['b']);
});

test('a list of nodes that was cut, and a workload that waits again, allow any node', () => {
  const pods = [pod('b', 'node-3')];
  expect(
    podsOffGrant(pods, [record('wide', { phase: 'Running', nodes: 'node-1', nodeCount: 9 })], NOW),
  ).toEqual([]);
  expect(
    podsOffGrant(pods, [record('wide', { phase: 'Waiting', nodes: 'node-1', nodeCount: 1 })], NOW),
  ).toEqual([]);
});

function node(name: string, spec: Node['spec'] = {}, ready = 'True'): Node {
  return {
    metadata: metadata(name),
    spec,
    status: { allocatable: {}, conditions: [{ type: 'Ready', status: ready as never }] },
  };
}

test('nodes that take no pods are named with the cause', () => {
  expect(nodeFindings([node('a'), node('b')])).toEqual([
    { level: 'ok', message: 'the queue grants all 2 nodes' },
  ]);
  expect(nodeFindings([node('a'), node('b', { unschedulable: true }), node('c', {}, 'False')])).toMatchObject(
    [
      {
        level: 'warning',
        message: 'the queue grants 1 of 3 nodes, not b (cordoned), c (not Ready)',
      },
    ],
  );
  expect(nodeFindings([node('c', {}, 'False')])).toMatchObject([{ level: 'error' }]);
});
