import { App, Chart, Testing } from 'cdk8s';
import { ArgoCdApplication, ArgoCdApplicationSet, FluxCdOciRepository } from '../../constructs/gitops';
import type { KubeObject } from '../cluster/api';

const made = (add: (chart: Chart) => void) => {
  const chart = new Chart(new App(), 'test');
  add(chart);
  return (Testing.synth(chart) as KubeObject[])[0]!;
};
const repository = 'https://git.example.com/cluster.git';

test('an OCIRepository takes one reference, and a signature if wanted', () => {
  const { metadata, spec } = made(
    (chart) =>
      new FluxCdOciRepository(chart, 'cluster', {
        namespace: 'gitops',
        url: 'oci://ghcr.io/example/cluster',
        ref: { semver: '>=1.0.0' },
        secretName: 'login',
        verify: 'notation',
      }),
  );
  expect([metadata, spec]).toEqual([
    { name: 'cluster', namespace: 'gitops' },
    {
      interval: '10m',
      url: 'oci://ghcr.io/example/cluster',
      ref: { semver: '>=1.0.0' },
      secretRef: { name: 'login' },
      verify: { provider: 'notation' },
    },
  ]);
});

test('an Application goes to the named cluster, and is synced by hand if wanted', () => {
  const { spec } = made(
    (chart) =>
      new ArgoCdApplication(chart, 'a', {
        repository,
        path: 'dist',
        revision: 'v1',
        project: 'hpc',
        cluster: 'north',
        automated: false,
        syncOptions: ['CreateNamespace=true'],
      }),
  );
  expect(spec).toEqual({
    project: 'hpc',
    source: { repoURL: repository, path: 'dist', targetRevision: 'v1' },
    destination: { name: 'north' },
    syncPolicy: { syncOptions: ['ServerSideApply=true', 'CreateNamespace=true'] },
  });
});

test.each([
  [{ folders: ['teams/*'], except: ['teams/old'] }, '{{.path.basename}}', '{{.path.path}}'],
  [{ clusterLabels: { hpc: 'true' }, path: 'dist/{{.name}}' }, 'set-{{.name}}', 'dist/{{.name}}'],
])('an ApplicationSet for each of %j names its Applications', (each, name, path) => {
  const { spec } = made((chart) => new ArgoCdApplicationSet(chart, 'set', { repository, each }));
  expect(spec).toMatchObject({ template: { metadata: { name }, spec: { source: { path } } } });
});

test.each<[() => unknown, string]>([
  [
    () =>
      new FluxCdOciRepository(new Chart(new App(), 'test'), 'r', {
        url: 'https://ghcr.io/a',
        ref: { tag: 'a' },
      }),
    'FluxCdOciRepository.url: is not the address of an artifact',
  ],
  [
    () => new FluxCdOciRepository(new Chart(new App(), 'test'), 'r', { url: 'oci://ghcr.io/a', ref: {} }),
    'FluxCdOciRepository.ref: must have one of',
  ],
  [
    () => new ArgoCdApplicationSet(new Chart(new App(), 'test'), 's', { repository, each: { folders: [] } }),
    'ArgoCdApplicationSet.each.folders: must not be empty',
  ],
])('%# what cannot be is refused', (construct, message) => {
  expect(construct).toThrow(message);
});
