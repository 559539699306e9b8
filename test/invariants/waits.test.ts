import type { Node, Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import { IdleGrants, unexplainedWaits } from './waits';

describe('the reason of a wait', () => {
  test.each([{ reason: null }, { message: null }, { message: '' }])('is missing: %j', (over) => {
    expect(unexplainedWaits({ rows: [rowIn('Waiting', over)] })).toMatchObject([{ invariant: 'reason' }]);
  });

  test('is there, or is not needed', () => {
    expect(unexplainedWaits({ rows: [rowIn('Waiting'), rowIn('Running')] })).toEqual([]);
  });
});

describe('a grant without a running pod', () => {
  const row = rowIn('Ready', { uid: 'a', name: 'a' });
  const meta = { name: 'a-0', namespace: 'science', uid: 'p', resourceVersion: '1', creationTimestamp: '' };
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'a' };
  const podIn = (phase: 'Pending' | 'Running', uid = 'p'): Pod => ({
    metadata: { ...meta, uid, ...(uid === 'p' && { ownerReferences: [owner] }) },
    spec: { containers: [] },
    status: { phase },
  });
  const nodeIn = (spec: Node['spec'], ready: 'True' | 'Unknown' = 'True'): Node => ({
    metadata: { ...meta, name: 'node-1' },
    spec,
    status: { conditions: [{ type: 'Ready', status: ready }] },
  });
  const nodes = [nodeIn({})];
  const idle = { rows: [row], pods: [podIn('Pending')], nodes };
  let grants: IdleGrants;
  beforeEach(() => {
    grants = new IdleGrants(30, () => 19);
    expect(grants.observe(0, idle, false)).toEqual([]);
  });

  test('is reported once after its limit and the time of an eviction', () => {
    expect(grants.observe(50, idle, false)).toEqual([]);
    expect(grants.observe(51, idle, false)).toEqual([
      { invariant: 'idle', text: 'a is Ready and no pod of it runs for 51 s' },
    ]);
    expect(grants.observe(60, idle, false)).toEqual([]);
  });

  test('is reported for a Running workload without any pod', () => {
    expect(
      grants.observe(60, { ...idle, rows: [{ ...row, phase: 'Running' }], pods: [] }, false),
    ).toHaveLength(1);
  });

  test.each([podIn('Running'), podIn('Running', 'a')])('starts to count again after pod %#', (pod) => {
    expect(grants.observe(49, { ...idle, pods: [pod] }, false)).toEqual([]);
    expect(grants.observe(99, idle, false)).toEqual([]);
  });

  test('is kept for a bare pod that waits for its node', () => {
    expect(grants.observe(99, { ...idle, pods: [podIn('Pending', 'a')] }, false)).toEqual([]);
  });

  test('starts to count again when its user deletes a pod', () => {
    expect(grants.observe(48, idle, false)).toEqual([]);
    expect(grants.observe(49, idle, false, new Set(['a']))).toEqual([]);
    expect(grants.observe(98, idle, false)).toEqual([]);
    expect(grants.observe(99, idle, false)).toHaveLength(1);
  });

  test('is given up in time', () => {
    expect(grants.observe(60, { ...idle, rows: [rowIn('Waiting', { uid: 'a' })] }, false)).toEqual([]);
  });

  test('does not count time in which faults last, nor time before the current leader', () => {
    expect(grants.observe(60, idle, true)).toEqual([]);
    expect(grants.observe(100, idle, false)).toEqual([]);
    grants.reset();
    expect(grants.observe(140, idle, false)).toEqual([]);
  });

  describe('whose pod has a node', () => {
    /** Placed on node-1, which pulls its image from second 25 on. */
    const placed = (over: Partial<Pod['metadata']> = {}): Pod => {
      const pod = podIn('Pending');
      const startTime = '1970-01-01T00:00:25Z';
      const metadata = { ...pod.metadata, ...over };
      return { metadata, spec: { ...pod.spec, nodeName: 'node-1' }, status: { ...pod.status, startTime } };
    };
    const reported = (seconds: number) => [
      { invariant: 'idle', text: `a is Ready and no pod of it runs for ${seconds} s` },
    ];
    const leaving = placed({ deletionTimestamp: '1970-01-01T00:00:40Z' });
    beforeEach(() => {
      expect(grants.observe(25, idle, false)).toEqual([]);
    });

    test('may wait for as long as its image is pulled besides, and not longer', () => {
      const pulling = { ...idle, pods: [placed()] };
      expect(grants.observe(43, pulling, false)).toEqual([]);
      expect(grants.observe(68, pulling, false)).toEqual([]);
      expect(grants.observe(69, pulling, false)).toEqual(reported(51));
    });

    test.each([
      ['is drained', [nodeIn({ unschedulable: true })], [leaving]],
      ['evicts', [nodeIn({ taints: [{ key: 'maintenance', effect: 'NoExecute' }] })], []],
      ['is dead', [nodeIn({}, 'Unknown')], [leaving]],
      ['is gone', [], []],
    ] as const)('starts to count again with a new pod where that node %s', (_, closed, left) => {
      expect(grants.observe(35, { ...idle, pods: [placed()] }, false)).toEqual([]);
      const waiting = { ...idle, nodes: closed, pods: [...left, podIn('Pending', 'q')] };
      expect(grants.observe(40, waiting, false)).toEqual([]);
      // The loss of one pod counts once.
      expect(grants.observe(85, waiting, false)).toEqual([]);
      expect(grants.observe(86, waiting, false)).toEqual(reported(51));
    });

    test.each([
      ['deleted on a node that takes pods', nodes, []],
      ['still there on a node that takes none', [nodeIn({ unschedulable: true })], [placed()]],
    ] as const)('does not start to count again when its pod is %s', (_, seen, left) => {
      expect(grants.observe(43, { ...idle, pods: [placed()] }, false)).toEqual([]);
      expect(grants.observe(68, { ...idle, nodes: seen, pods: left }, false)).toEqual([]);
      expect(grants.observe(69, { ...idle, nodes: seen, pods: left }, false)).toEqual(reported(51));
    });
  });
});
