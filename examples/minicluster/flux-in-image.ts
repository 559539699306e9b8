/**
 * The image brings Flux itself, so there is no init container; and the pods
 * pass Pod Security `restricted`: any user but root, no rights, a read-only root.
 */
import { App, Chart } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'flux-in-image'), 'flux-in-image', {
  size: 2,
  // One task on each node.
  tasks: 0,
  container: {
    image: 'docker.io/fluxrm/flux-sched:jammy',
    imagePullPolicy: 'Always',
    command: 'flux resource list',
    cpu: 1,
  },
  fluxInImage: true,
  restricted: true,
  // No Fluxion for one job.
  simpleScheduler: true,
  certificate: Certificate.fromKeygen(),
});

app.synth();
