/**
 * One Service with an address that stays, for the lead only: the workers dial
 * it, and DNS needs no name for every pod. For networks in which headless
 * Services are slow or forbidden.
 */
import { App, Chart } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'minimal-service', { namespace: 'hpc' });

new MiniCluster(chart, 'minimal', {
  size: 8,
  tasks: 8,
  container: { image: 'docker.io/library/ubuntu:24.04', command: 'hostname', cpu: 1 },
  minimalService: true,
  headlessName: 'brokers',
  port: 9050,
  clusterDomain: 'hpc.example.com',
  // Nobody but its own job talks to it.
  socket: false,
  certificate: Certificate.fromKeygen(),
});

app.synth();
