/**
 * App of a platform team: it configures the stack for their cluster.
 *
 *   npx cdk8s synth --app 'npx tsx examples/queue.ts' --output manifests
 *   kubectl apply --server-side -f manifests/
 */
import { App, Duration, Size } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Database, FluxQueue } from '../constructs/fluxqueue';

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
});

app.synth();
