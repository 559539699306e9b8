/**
 * App of a platform team: what Flux CD and Argo CD are told of the stack and of the teams. A cluster has one of the two.
 *
 *   npx cdk8s synth --app 'npx tsx examples/gitops.ts' --output clusters/north
 */
import { App, Chart, Duration } from 'cdk8s';
import {
  ArgoCdApplication,
  ArgoCdApplicationSet,
  ArgoCdHealth,
  FluxCdKustomization,
  FluxCdOciRepository,
} from '../constructs/gitops';

const app = new App();

const flux = new Chart(app, 'flux-cd');
// CI pushes the output of synth: flux push artifact oci://ghcr.io/example/cluster:main --path dist …
const manifests = new FluxCdOciRepository(flux, 'cluster', {
  url: 'oci://ghcr.io/example/cluster',
  ref: { tag: 'main' },
  verify: 'cosign',
});
const stack = new FluxCdKustomization(flux, 'fluxqueue', {
  source: manifests.name,
  sourceKind: 'OCIRepository',
  path: './dist',
  wait: Duration.minutes(10),
});
new FluxCdKustomization(flux, 'physics', {
  source: manifests.name,
  sourceKind: 'OCIRepository',
  path: './teams/physics',
  dependsOn: [stack.name],
  serviceAccountName: 'physics',
});

const argo = new Chart(app, 'argo-cd');
const repository = 'https://git.example.com/cluster.git';
new ArgoCdHealth(argo, 'health');
new ArgoCdApplication(argo, 'fluxqueue', { repository, path: 'dist', revision: 'main' });
new ArgoCdApplicationSet(argo, 'teams', {
  repository,
  project: 'teams',
  each: { folders: ['teams/*'], except: ['teams/archive'] },
});
// The stack in every cluster with a label; its app writes each of them to a folder (`cluster` of FluxQueue).
new ArgoCdApplicationSet(argo, 'stacks', {
  repository,
  each: { clusterLabels: { hpc: 'true' }, path: 'dist/{{.name}}' },
  automated: false,
  syncOptions: ['RespectIgnoreDifferences=true'],
});

app.synth();
