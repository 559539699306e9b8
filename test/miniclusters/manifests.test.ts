import { GANG_SIZE, KUEUE_QUEUE_LABEL } from '../../constructs/api/labels';
import { renderMiniCluster } from '../../constructs/minicluster/index';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import { isWorkload, type Manifest, manifestToApply, pathOf } from '../../runtime/miniclusters/manifests';
import { cluster } from './objects';

function manifests(spec: Partial<MiniClusterSpec>): Manifest[] {
  const resource = cluster(spec);
  return renderMiniCluster(resource).map((manifest) => manifestToApply(manifest, resource, undefined));
}

const jobOf = (all: readonly Manifest[]) => all.find(isWorkload)!;
const gangOf = (spec: Partial<MiniClusterSpec>) => jobOf(manifests(spec)).metadata.annotations?.[GANG_SIZE];

test('gives every object a distinct path and the MiniCluster as its only owner', () => {
  const services = [{ name: 'db', image: 'db', ports: [80] }];
  const all = manifests({ services });
  const paths = all.map((manifest) => pathOf(manifest, 'science'));
  expect(paths).toEqual(
    expect.arrayContaining(['/apis/apps/v1/namespaces/science/deployments/hello-services']),
  );
  expect(new Set(paths).size).toBe(all.length);
  for (const { metadata } of all)
    expect(metadata).toMatchObject({
      namespace: 'science',
      ownerReferences: [
        {
          apiVersion: 'flux-framework.org/v1alpha2',
          kind: 'MiniCluster',
          name: 'hello',
          uid: 'u',
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
    });
});

test('changes only mutable fields when the size changes', () => {
  const containers = [{ image: 'flux', command: 'hostname' }];
  const small = manifests({ size: 2, maxSize: 8, containers, tasks: 0 });
  const large = manifests({ size: 8, maxSize: 8, containers, tasks: 0 });
  const changed = small.filter((manifest, i) => JSON.stringify(manifest) !== JSON.stringify(large[i]));
  expect(changed.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
    'ConfigMap/hello-config',
    'Job/hello',
  ]);
  const sizeless = (job: Manifest) => ({ ...(job.spec as object), parallelism: 0, completions: 0 });
  expect(sizeless(jobOf(small))).toEqual(sizeless(jobOf(large)));
});

test('sets a gang size only for a cluster that can grow', () => {
  expect(gangOf({ size: 4 })).toBeUndefined();
  expect(gangOf({ size: 4, maxSize: 4 })).toBeUndefined();
  expect(gangOf({ size: 4, maxSize: 8 })).toBe('4');
  expect(gangOf({ size: 4, minSize: 2 })).toBe('2');
  expect(gangOf({ size: 4, minSize: 2, maxSize: 8, priority: -1 })).toBe('2');
});

test('leaves the label of another queue out of a Job that the queue has, and of no other one', () => {
  const resource = cluster({ jobLabels: { [KUEUE_QUEUE_LABEL]: 'team', kept: 'x' } });
  const labelsOf = (isQueued: boolean) => {
    const progress = { desired: 4, pods: 0, scheduled: 0, ready: 0, suspended: true } as const;
    const seen = { ...progress, ...(isQueued && { isQueued }) };
    const all = renderMiniCluster(resource).map((manifest) => manifestToApply(manifest, resource, seen));
    return jobOf(all).metadata.labels;
  };
  expect(labelsOf(true)).toMatchObject({ kept: 'x' });
  expect(labelsOf(true)).not.toHaveProperty([KUEUE_QUEUE_LABEL]);
  expect(labelsOf(false)).toMatchObject({ [KUEUE_QUEUE_LABEL]: 'team', kept: 'x' });
});
