/**
 * The image has Flux, so the pods need no init container. They pass Pod Security `restricted`: a user other than root,
 * no capabilities, a read-only root file system.
 */
import { App, Chart } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'flux-in-image'), 'flux-in-image', {
  size: 2,
  // 0 starts one task on each node.
  tasks: 0,
  container: {
    image: 'docker.io/fluxrm/flux-sched:jammy',
    imagePullPolicy: 'Always',
    command: 'flux resource list',
    cpu: 1,
  },
  // One job does not need Fluxion.
  flux: { inImage: true, simpleScheduler: true },
  pod: { restricted: true },
  certificate: Certificate.fromKeygen(),
});

app.synth();
