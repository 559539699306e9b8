import { GATE } from '../../constructs/api/labels';
import type { NodeSelectorTerm, Pod, PodSpec } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { assignedNode, pinPatch, podAdapter } from '../../runtime/workloads/pod';
import { rowIn } from '../queue/rows';

const TIME = '2026-01-01T00:00:10Z';

function pod(spec: Partial<PodSpec> = {}, status: Pod['status'] = { phase: 'Pending' }): Pod {
  return {
    metadata: {
      name: 'probe',
      namespace: 'science',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: TIME,
    },
    spec: { containers: [], schedulingGates: [{ name: 'other' }, { name: GATE }], ...spec },
    status,
  };
}

const required = (terms: readonly NodeSelectorTerm[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
});
const PIN = { key: 'metadata.name', operator: 'In', values: ['node-1'] };
const ZONE = { key: 'zone', operator: 'In' as const, values: ['a'] };

const named = (...values: string[]) => ({ key: 'metadata.name', operator: 'In' as const, values });

describe('the node of a pod', () => {
  test.each<[string, Partial<PodSpec>, string | undefined]>([
    ['is the node to which it is bound', { nodeName: 'n1' }, 'n1'],
    ['is unknown without an affinity', {}, undefined],
    ['is the one that its affinity names', terms({ matchFields: [named('n1')] }), 'n1'],
    [
      'is the granted one of several that the template names',
      terms({ matchFields: [named('n1'), named('n2')] }, { matchFields: [named('n2'), named('n2')] }),
      'n2',
    ],
    ['is unknown if the affinity names several', terms({ matchFields: [named('n1', 'n2')] }), undefined],
    [
      'is unknown if another term names none',
      terms({ matchFields: [named('n1')] }, { matchExpressions: [ZONE] }),
      undefined,
    ],
    ['ignores a term that matches nothing', terms({}, { matchFields: [named('n1')] }), 'n1'],
    [
      'ignores excluded nodes',
      terms({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }),
      undefined,
    ],
  ])('%s', (_, spec, node) => {
    expect(assignedNode(pod(spec))).toBe(node);
  });

  function terms(...all: NodeSelectorTerm[]): Partial<PodSpec> {
    return { affinity: { nodeAffinity: required(all) } };
  }
});

describe('a Pod', () => {
  test('is suspended by the gate of the queue and not by other gates', () => {
    expect(podAdapter.isSuspended(pod())).toBe(true);
    expect(podAdapter.isSuspended(pod({ schedulingGates: [{ name: 'other' }] }))).toBe(false);
    expect(podAdapter.suspendPatch(pod())).toBeUndefined();
  });

  test('is released by one patch that tests the uid of the pod and the position of the gate', () => {
    expect(podAdapter.releasePatch(pod(), rowIn('Ready'))).toEqual({
      type: 'json',
      body: [
        { op: 'test', path: '/metadata/resourceVersion', value: '1' },
        { op: 'test', path: '/metadata/uid', value: 'u' },
        { op: 'test', path: '/spec/schedulingGates/1/name', value: GATE },
        {
          op: 'add',
          path: '/spec/affinity',
          value: { nodeAffinity: required([{ matchFields: [PIN] } as never]) },
        },
        { op: 'remove', path: '/spec/schedulingGates/1' },
      ],
    });
  });

  describe('the deadline that enforces its walltime, with an hour for the start', () => {
    const deadlineOf = (of: Pod, walltime = 60.2) => {
      const { body } = podAdapter.releasePatch(of, rowIn('Ready', { walltime }));
      const operations = body as readonly { path: string; value?: unknown }[];
      return operations.find(({ path }) => path === '/spec/activeDeadlineSeconds')?.value;
    };
    const walltime = { annotations: { 'fluxqueue/walltime': '60.2' } };

    test.each([
      ['is set for a pod that runs to completion', pod({ restartPolicy: 'Never' }), 3_661],
      ['is set for a pod that restarts on failure', pod({ restartPolicy: 'OnFailure' }), 3_661],
      [
        'is set for a pod that always restarts and has a walltime setting',
        { ...pod(), metadata: { ...pod().metadata, ...walltime } },
        3_661,
      ],
      ['is not set for a pod that always restarts', pod({ restartPolicy: 'Always' }), undefined],
      ['is not set for a pod without a restartPolicy', pod(), undefined],
      [
        'is not set if the user has an earlier deadline',
        pod({ restartPolicy: 'Never', activeDeadlineSeconds: 30 }),
        undefined,
      ],
      [
        'replaces a later deadline of a pod that always restarts',
        pod({ activeDeadlineSeconds: 4_000 }),
        3_661,
      ],
      [
        'replaces a later deadline of the user',
        pod({ restartPolicy: 'Never', activeDeadlineSeconds: 4_000 }),
        3_661,
      ],
    ])('%s', (_, of, deadline) => {
      expect(deadlineOf(of)).toBe(deadline);
    });
  });

  test('has the priority that the apiserver resolved', () => {
    expect(podAdapter.demand(pod({ priority: 7 })).priority).toBe(7);
  });

  test.each([
    [
      'pod affinity',
      { podAffinity: {} },
      '/spec/affinity/nodeAffinity',
      required([{ matchFields: [PIN] } as never]),
    ],
    [
      'alternative terms, each of which is pinned',
      {
        nodeAffinity: required([
          { matchExpressions: [ZONE] },
          { matchFields: [{ ...ZONE, key: 'metadata.name' }] },
        ]),
      },
      '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution',
      {
        nodeSelectorTerms: [
          { matchExpressions: [ZONE], matchFields: [PIN] },
          { matchFields: [{ ...ZONE, key: 'metadata.name' }, PIN] },
        ],
      },
    ],
  ])('keeps the affinity of its user: %s', (_, affinity, path, value) => {
    const [, , pin] = pinPatch(pod({ affinity }), 'node-1');
    expect(pin).toEqual({ op: 'add', path, value });
  });

  test.each([
    ['Succeeded', undefined, 'Succeeded'],
    ['Failed', undefined, 'Failed'],
    ['Failed', 'DeadlineExceeded', 'TimedOut'],
  ] as const)('in phase %s with reason %s has the result %s', (phase, reason, result) => {
    const status = { phase, ...(reason === undefined ? {} : { reason }) };
    expect(podAdapter.outcome(pod({}, status), [], 50)).toEqual({ result, finishedAt: 50 });
  });

  const DISRUPTED = {
    conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }],
  };
  const DRAINED = 'pod probe failed: it was evicted, as by kubectl drain';
  const EXIT_143 = 'pod probe failed: container main exited with code 143';
  test.each<[string, number, object, string | null, number, string, string | null]>([
    ['was deleted, and exits with 0', 0, {}, null, 0, 'Cancelled', null],
    ['was deleted, and exits with 143', 143, {}, null, 0, 'Cancelled', null],
    ['is drained, and exits with 0', 0, DISRUPTED, null, 0, 'Failed', DRAINED],
    ['is drained, and exits with 143', 143, DISRUPTED, null, 3, 'Failed', DRAINED],
    ['is evicted by the queue', 0, DISRUPTED, 'preempted by b', 0, 'Cancelled', 'preempted by b'],
    ['had succeeded a second before', 0, {}, null, -1, 'Succeeded', null],
    ['had failed a second before', 143, {}, null, -1, 'Failed', EXIT_143],
    ['was past its deadline', 143, { reason: 'DeadlineExceeded' }, null, 3, 'TimedOut', EXIT_143],
  ])('that %s has the result of that', (_, exitCode, more, evictionReason, after, result, message) => {
    const finishedAt = new Date(Date.parse(TIME) + after * 1000).toISOString();
    const state = { terminated: { exitCode, finishedAt } };
    const phase = exitCode === 0 ? ('Succeeded' as const) : ('Failed' as const);
    const ended = pod({}, { phase, containerStatuses: [{ name: 'main', state }], ...more } as Pod['status']);
    const deletionTimestamp = new Date(Date.parse(TIME) + 30_000).toISOString();
    const deleted = {
      ...ended,
      metadata: { ...ended.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 },
    };
    const outcome = podAdapter.outcome(deleted, [], 50, { evictionReason } as WorkloadRow);
    expect(outcome).toEqual({
      result,
      finishedAt: Date.parse(finishedAt) / 1000,
      message: message ?? undefined,
    });
  });

  test('has no outcome while it runs, and finishes when its last container finished', () => {
    expect(podAdapter.outcome(pod({}, { phase: 'Running' }), [], 50)).toBeUndefined();
    const state = { terminated: { exitCode: 0, finishedAt: TIME } };
    const status = { phase: 'Succeeded' as const, containerStatuses: [{ name: 'main', state }] };
    expect(podAdapter.outcome(pod({}, status), [], 50)?.finishedAt).toBe(Date.parse(TIME) / 1000);
  });
});
