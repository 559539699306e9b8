/**
 * The smallest MiniCluster: four brokers and one job on all of them, whose exit code is the exit code of the Job. A
 * second Job creates the certificate, so no controller is needed.
 */
import { App, Chart, Duration } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'hello'), 'hello', {
  size: 4,
  tasks: 4,
  container: { image: 'docker.io/library/ubuntu:24.04', command: 'hostname', cpu: 1 },
  certificate: Certificate.fromKeygen(),
  job: { ttlAfterFinished: Duration.hours(1) },
});

app.synth();
