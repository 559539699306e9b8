import type { Pod } from '../../runtime/kubernetes/types';
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
  const idle = { rows: [row], pods: [podIn('Pending')] };
  let grants: IdleGrants;
  beforeEach(() => {
    grants = new IdleGrants(30);
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
    expect(grants.observe(60, { rows: [{ ...row, phase: 'Running' }], pods: [] }, false)).toHaveLength(1);
  });

  test.each([podIn('Running'), podIn('Running', 'a')])('starts to count again after pod %#', (pod) => {
    expect(grants.observe(49, { rows: [row], pods: [pod] }, false)).toEqual([]);
    expect(grants.observe(99, idle, false)).toEqual([]);
  });

  test('is kept for a bare pod that waits for its node', () => {
    expect(grants.observe(99, { rows: [row], pods: [podIn('Pending', 'a')] }, false)).toEqual([]);
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
});
