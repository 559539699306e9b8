import { GATE } from '../../constructs/api/labels';
import type { NodeSelectorTerm, Pod, PodSpec } from '../../runtime/kubernetes/types';
import { pinPatch, podAdapter } from '../../runtime/workloads/pod';
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

describe('a Pod', () => {
  test('is held back by our gate, not by others', () => {
    expect(podAdapter.isHeldBack(pod())).toBe(true);
    expect(podAdapter.isHeldBack(pod({ schedulingGates: [{ name: 'other' }] }))).toBe(false);
    expect(podAdapter.recall(pod())).toBeUndefined();
  });

  test('is released by one patch that is precise about pod and gate', () => {
    expect(podAdapter.release(pod(), rowIn('Ready'))).toEqual({
      type: 'json',
      body: [
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

  describe('its walltime', () => {
    const deadlineOf = (of: Pod, walltime = 60.2) => {
      const { body } = podAdapter.release(of, rowIn('Ready', { walltime }));
      const operations = body as readonly { path: string; value?: unknown }[];
      return operations.find(({ path }) => path === '/spec/activeDeadlineSeconds')?.value;
    };
    const walltime = { annotations: { 'fluxqueue/walltime': '60.2' } };

    test.each([
      ['a pod that ends by itself', pod({ restartPolicy: 'Never' }), 61],
      ['one that starts again when it fails', pod({ restartPolicy: 'OnFailure' }), 61],
      ['a service that gave a walltime', { ...pod(), metadata: { ...pod().metadata, ...walltime } }, 61],
      ['a service', pod({ restartPolicy: 'Always' }), undefined],
      ['a service by default', pod(), undefined],
      ['its own earlier deadline', pod({ restartPolicy: 'Never', activeDeadlineSeconds: 30 }), undefined],
      ['its own later deadline', pod({ restartPolicy: 'Never', activeDeadlineSeconds: 300 }), 61],
    ])('of %s', (_, of, deadline) => {
      expect(deadlineOf(of)).toBe(deadline);
    });
  });

  test('has the priority that the apiserver worked out', () => {
    expect(podAdapter.demand(pod({ priority: 7 })).priority).toBe(7);
  });

  test.each([
    [
      'other affinity',
      { podAffinity: {} },
      '/spec/affinity/nodeAffinity',
      required([{ matchFields: [PIN] } as never]),
    ],
    [
      'alternatives: each is narrowed',
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
  ])('keeps what its user asked for: %s', (_, affinity, path, value) => {
    const [, , pin] = pinPatch(pod({ affinity }), 'node-1');
    expect(pin).toEqual({ op: 'add', path, value });
  });

  test.each([
    ['Succeeded', undefined, 'Succeeded'],
    ['Failed', undefined, 'Failed'],
    ['Failed', 'DeadlineExceeded', 'TimedOut'],
  ] as const)('%s (%s) is %s', (phase, reason, result) => {
    const status = { phase, ...(reason === undefined ? {} : { reason }) };
    expect(podAdapter.outcome(pod({}, status), [], 50)).toEqual({ result, finishedAt: 50 });
  });

  test('has no outcome while it runs; its end is the end of its last container', () => {
    expect(podAdapter.outcome(pod({}, { phase: 'Running' }), [], 50)).toBeUndefined();
    const state = { terminated: { exitCode: 0, finishedAt: TIME } };
    const status = { phase: 'Succeeded' as const, containerStatuses: [{ name: 'main', state }] };
    expect(podAdapter.outcome(pod({}, status), [], 50)?.finishedAt).toBe(Date.parse(TIME) / 1000);
  });
});
