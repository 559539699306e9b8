/** What the manifests of the stack say to the engines of GitOps. */
import { readFileSync } from 'node:fs';
import type { k8s } from 'cdk8s-plus-28';
import { parse } from 'yaml';
import { Database } from '../../constructs/fluxqueue';
import type { KubeObject } from '../cluster/api';
import { stackObjects } from '../constructs/manifests';

test.each([
  ['webhook', {}],
  ['policies', { kubernetesVersion: '1.37.1', scheduler: true }],
] as const)('with %s, neither engine deletes what holds data', (_, props) => {
  const kept = stackObjects(props).filter(
    ({ metadata: { annotations = {} } }) =>
      annotations['kustomize.toolkit.fluxcd.io/prune'] === 'disabled' &&
      ['Prune=false', 'Delete=false'].every((option) =>
        annotations['argocd.argoproj.io/sync-options']?.split(',').includes(option),
      ),
  );
  const data = ['Namespace', 'CustomResourceDefinition', 'PersistentVolumeClaim', 'StatefulSet', 'Secret'];
  expect(kept).toEqual(stackObjects(props).filter(({ kind }) => data.includes(kind)));
  expect(new Set(kept.map(({ kind }) => kind))).toEqual(new Set(data));
});

/** Names of the claims that the pods of an object mount, if it has pods from the start. */
function mounted({ kind, metadata, spec }: KubeObject): string[] {
  if (!['Deployment', 'StatefulSet', 'Job'].includes(kind)) return [];
  const { template, volumeClaimTemplates = [] } = spec as k8s.StatefulSetSpec;
  return [
    ...(template.spec?.volumes ?? []).flatMap(
      ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
    ),
    ...volumeClaimTemplates.map((claim) => `${claim.metadata?.name}-${metadata.name}-0`),
  ];
}

// Most StorageClasses make a volume when a pod of the claim has a node. Both engines call a claim without a volume unready.
test.each([
  ['the defaults', {}],
  ['dumps', { database: Database.statefulSet({ backup: {} }) }],
])('with %s, every claim has a pod from the start', (_, props) => {
  const objects = stackObjects(props);
  const claims = objects.filter(({ kind }) => kind === 'PersistentVolumeClaim');
  expect(claims.map(({ metadata }) => metadata.name)).toEqual([...new Set(objects.flatMap(mounted))]);
});

test('no wave of Argo CD waits for dumps', () => {
  const objects = stackObjects({ database: Database.statefulSet({ backup: {} }) });
  const waves = (ofDumps: boolean) =>
    objects
      .filter(
        ({ kind, metadata }) =>
          kind !== 'NetworkPolicy' &&
          (metadata.labels?.['app.kubernetes.io/component'] === 'backup') === ofDumps,
      )
      .map(({ metadata }) => Number(metadata.annotations?.['argocd.argoproj.io/sync-wave']));
  expect(Math.min(...waves(true))).toBeGreaterThan(Math.max(...waves(false)));
});

test.each(['miniclusters', 'fluxsetups'])('a new object of %s is not observed yet', (name) => {
  const crd = parse(readFileSync(`constructs/crds/${name}.yaml`, 'utf8'));
  const [{ schema }] = crd.spec.versions;
  expect(schema.openAPIV3Schema.properties.status.default).toEqual({ observedGeneration: -1 });
});
