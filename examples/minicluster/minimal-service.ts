/**
 * A Service with a cluster IP for the lead broker only: the workers connect to it, and DNS needs no name for every pod.
 * Use it in networks where headless Services are slow or forbidden.
 */
import { App, Chart } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'minimal-service', { namespace: 'hpc' });

new MiniCluster(chart, 'minimal', {
  size: 8,
  tasks: 8,
  container: { image: 'docker.io/library/ubuntu:24.04', command: 'hostname', cpu: 1 },
  network: { minimalService: true, headlessName: 'brokers', port: 9050, clusterDomain: 'hpc.example.com' },
  // No other program in the pods connects to the brokers.
  flux: { socket: false },
  certificate: Certificate.fromKeygen(),
});

app.synth();
