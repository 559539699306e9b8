/**
 * App of a platform team: it configures the stack for their cluster.
 *
 *   npx cdk8s synth --app 'npx tsx examples/queue.ts' --output manifests
 *   kubectl apply --server-side -k manifests/
 */
import { App, Duration, Size } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Database, FluxQueue } from '../constructs/fluxqueue';
import { writeKustomization } from '../constructs/gitops';

const app = new App();

new FluxQueue(app, 'fluxqueue', {
  // With a known version, admission uses CEL policies and the scheduler gets the matching image.
  kubernetesVersion: '1.37.1',
  scheduler: true,
  // A managed Postgres; an external secret store provides the Secret.
  database: Database.fromSecret(Secret.fromSecretName(app, 'database', 'fluxqueue-postgres')),
  queuePolicy: 'easy',
  defaultWalltime: Duration.minutes(30),
  maxWalltime: Duration.days(2),
  memoryUnit: Size.gibibytes(2),
  // Copies of all images; a reference with a digest keeps it.
  images: { registry: 'registry.example.org/mirror', pullSecrets: ['mirror'] },
  labels: { 'cost-center': 'hpc' },
  pods: {
    controller: {
      replicas: 3,
      resources: { requests: { cpu: '500m', memory: '1Gi' } },
      nodeSelector: { 'node-role': 'system' },
      tolerations: [{ key: 'node-role', value: 'system', effect: 'NoSchedule' }],
    },
    fluxion: { resources: { limits: { memory: '8Gi' } } },
    scheduler: { priorityClassName: 'system-cluster-critical' },
  },
});

app.synth();
writeKustomization(app);
