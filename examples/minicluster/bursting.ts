/**
 * One Flux instance in two Kubernetes clusters: the brokers of `cloud` join the lead broker of `campus` as soon as they
 * may start. Each cluster has its own file of manifests; both get the same certificate (`flux keygen`) under the same
 * name from their secret stores.
 */
import { App, Chart } from 'cdk8s';
import { k8s, Secret } from 'cdk8s-plus-28';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const LEAD = { address: 'flux.campus.example.com', port: 8050, name: 'campus', size: 4 };
const container = { image: 'docker.io/library/ubuntu:24.04', cpu: 8 };

const app = new App();
const campus = new Chart(app, 'campus');
const cloud = new Chart(app, 'cloud');

new MiniCluster(campus, LEAD.name, {
  size: LEAD.size,
  interactive: true,
  container,
  flux: { bursting: { clusters: [{ name: 'cloud', size: 8 }] } },
  certificate: certificate(campus),
});
// The Service makes the lead broker reachable from outside, at LEAD.address.
new k8s.KubeService(campus, 'lead', {
  metadata: { name: 'campus-lead' },
  spec: {
    type: 'LoadBalancer',
    selector: { 'hpa-selector': LEAD.name, 'batch.kubernetes.io/job-completion-index': '0' },
    ports: [{ name: 'flux', port: LEAD.port }],
  },
});

new MiniCluster(cloud, 'cloud', {
  size: 8,
  container,
  flux: { bursting: { leadBroker: LEAD } },
  certificate: certificate(cloud),
  // The nodes cost nothing until: kubectl patch job cloud -p '{"spec":{"suspend":false}}'
  suspend: true,
});

app.synth();

function certificate(chart: Chart): Certificate {
  return Certificate.fromSecret(Secret.fromSecretName(chart, 'certificate', 'campus-curve'));
}
