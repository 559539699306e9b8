/**
 * A platform team's own app: the stack as they want it, in their repository.
 *
 *   npx cdk8s synth --app 'npx tsx examples/queue.ts' --output manifests
 *   kubectl apply --server-side -f manifests/
 */
import { App, Duration, Size } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Database, FluxQueue } from '../constructs/fluxqueue';

const app = new App();

new FluxQueue(app, 'fluxqueue', {
  // Known, so admission runs inside the apiserver and the scheduler's image fits.
  kubernetesVersion: '1.37.1',
  scheduler: true,
  // Their managed Postgres; the Secret comes from their secret store.
  database: Database.fromSecret(Secret.fromSecretName(app, 'database', 'fluxqueue-postgres')),
  queuePolicy: 'easy',
  defaultWalltime: Duration.minutes(30),
  maxWalltime: Duration.days(2),
  memoryUnit: Size.gibibytes(2),
});

app.synth();
