/**
 * The smallest one: four brokers, one job on all of them, and its exit code is
 * the Job's. A one-shot Job makes the certificate, so it needs no controller.
 */
import { App, Chart, Duration } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'hello'), 'hello', {
  size: 4,
  tasks: 4,
  container: { image: 'docker.io/library/ubuntu:24.04', command: 'hostname', cpu: 1 },
  certificate: Certificate.fromKeygen(),
  ttlAfterFinished: Duration.hours(1),
});

app.synth();
