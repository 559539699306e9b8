import { checkLeader, leaderFinding, somebodyLeads } from '../../../runtime/cli/doctor/leader';
import type { Lease } from '../../../runtime/kubernetes/types';
import { fakeContext } from './fake-context';
import { ago, metadata, NOW, stackPod } from './objects';

const POD = stackPod('controller-1', 'controller');
const HOLDER = `controller-1_${POD.metadata.uid}_9f`;

function lease(spec: Lease['spec'], annotations: Record<string, string> = { 'fluxqueue/fence': '7' }): Lease {
  return {
    metadata: metadata('fluxqueue-controller', { annotations }),
    spec: {
      holderIdentity: HOLDER,
      leaseDurationSeconds: 15,
      renewTime: ago(2),
      acquireTime: ago(300),
      ...spec,
    },
  };
}

test('a holder that renewed the Lease just now leads', () => {
  expect(leaderFinding(lease({}), [POD], NOW)).toEqual({
    level: 'ok',
    message: 'controller-1 leads since 5 min and renewed the Lease 2 s ago',
  });
});

test.each<[string, Lease, string, string]>([
  ['that was released', lease({ holderIdentity: '' }), 'error', 'no controller leads since 2 s'],
  [
    'that is not renewed',
    lease({ renewTime: ago(90) }),
    'error',
    'no controller leads: controller-1 has not renewed the Lease for 90 s',
  ],
  ['of another process', lease({ holderIdentity: 'laptop_1' }), 'warning', 'laptop leads, which is no pod'],
  [
    'without a fence',
    lease({}, {}),
    'warning',
    'controller-1 took the Lease 5 min ago and does not lead yet',
  ],
])('a Lease %s', (_, held, level, message) => {
  const finding = leaderFinding(held, [POD], NOW);
  expect(finding.level).toBe(level);
  expect(finding.message).toContain(message);
  expect(finding.remedy).not.toBeUndefined();
});

test('a holder whose pod has failed is an error', () => {
  const pod = stackPod('controller-1', 'controller', { phase: 'Failed' });
  expect(leaderFinding(lease({}), [pod], NOW)).toMatchObject({
    level: 'error',
    message: 'controller-1 holds the Lease, and its pod is Failed',
  });
});

test('a controller outside the cluster may lead', () => {
  expect(leaderFinding(lease({ holderIdentity: 'laptop_1' }), [], NOW).level).toBe('ok');
});

test('a Lease lives for its duration and a few seconds between two clocks', () => {
  expect(leaderFinding(lease({ renewTime: ago(19) }), [POD], NOW).level).toBe('ok');
  expect(leaderFinding(lease({ renewTime: ago(21) }), [POD], NOW).level).toBe('error');
});

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/fluxqueue-system/leases/fluxqueue-controller';

test('a Lease that is renewed while the command looks has a leader, whatever the clocks say', async () => {
  const old = lease({ renewTime: ago(3600) });
  const renewed = { ...old, metadata: { ...old.metadata, resourceVersion: '2' } };
  const context = fakeContext({ [LEASE]: old }, { renewal: renewed });
  expect(await checkLeader(context)).toMatchObject([
    { level: 'warning', message: expect.stringContaining('differ by 60 min or more') },
  ]);
  expect(await somebodyLeads(context)).toBe(true);
});

test('a Lease that nobody renews has no leader', async () => {
  const context = fakeContext({ [LEASE]: lease({ renewTime: ago(3600) }) });
  expect(await checkLeader(context)).toMatchObject([{ level: 'error' }]);
  expect(await somebodyLeads(context)).toBe(false);
});
