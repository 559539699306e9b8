import { InternPool } from '../../runtime/intern';
import { NO_FACTS } from '../../runtime/jobspec/constraints';
import { type Claim, NO_STORAGE, volumePlacement } from '../../runtime/jobspec/volumes';
import type { PersistentVolumeClaim } from '../../runtime/kubernetes/types';
import { projectClaim } from '../../runtime/shared/claim-projection';
import { metadata } from './fake-informer';

const local = {
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};
const selector = { matchLabels: { disk: 'fast' } };

/** A claim with what decides its place, and much else. */
function claim(spec: Partial<PersistentVolumeClaim['spec']> = {}): PersistentVolumeClaim {
  const much = { note: 'x'.repeat(100_000) };
  return {
    metadata: {
      ...metadata('data', { namespace: 'science' }),
      annotations: much,
      labels: much,
    },
    spec: {
      accessModes: ['ReadWriteOncePod'],
      resources: { requests: { storage: '5Gi' }, limits: { storage: '6Gi' } },
      storageClassName: 'local',
      selector,
      ...spec,
      ...{ volumeMode: 'Filesystem', dataSource: { kind: 'PersistentVolumeClaim', name: 'other' } },
    },
    ...{ status: { phase: 'Pending', conditions: [{ message: 'x'.repeat(100_000) }] } },
  };
}

function placement(claim: Claim, free = '5Gi') {
  const volume = (name: string, labels = {}) => ({
    metadata: { name, labels },
    spec: {
      storageClassName: 'local',
      capacity: { storage: free },
      accessModes: ['ReadWriteOncePod'],
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'name', operator: 'In', values: [name] }] }],
        },
      },
    },
  });
  const volumes = [volume('slow'), volume('fast', { disk: 'fast' })];
  const storage = {
    ...NO_STORAGE,
    claim: () => claim,
    volume: (name: string) => volumes.find(({ metadata }) => metadata.name === name),
    volumesOfClass: () => volumes,
    storageClass: (name?: string) => (name === 'local' ? local : undefined),
  };
  const context = { storage, facts: NO_FACTS, namespace: 'science', podName: 'pod', pods: 1 };
  const volumesOfPod = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  return volumePlacement({ containers: [], volumes: volumesOfPod }, context);
}

test.each([
  ['that is bound', claim({ volumeName: 'slow' }), '5Gi'],
  ['that is not bound', claim(), '5Gi'],
  ['that no volume is large enough for', claim(), '4Gi'],
])('a claim %s has its place when it is projected', (_, whole, free) => {
  const kept = projectClaim(whole, new InternPool());
  expect(placement(kept, free)).toEqual(placement(whole, free));
  expect(JSON.stringify(kept).length).toBeLessThan(1_000);
});

test('claims that ask alike share what they ask for', () => {
  const pool = new InternPool();
  expect(projectClaim(claim(), pool).spec).toBe(projectClaim(claim(), pool).spec);
});
