/** What the manifests of the stack say to the engines of GitOps. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
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

test.each(['miniclusters', 'fluxsetups'])('a new object of %s is not observed yet', (name) => {
  const crd = parse(readFileSync(`constructs/crds/${name}.yaml`, 'utf8'));
  const [{ schema }] = crd.spec.versions;
  expect(schema.openAPIV3Schema.properties.status.default).toEqual({ observedGeneration: -1 });
});
