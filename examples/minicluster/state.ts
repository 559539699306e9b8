/**
 * A cluster that runs until it is deleted and keeps its state: jobs, their logs and the key-value store are saved to a
 * PersistentVolumeClaim when the lead broker ends, and restored when it starts again.
 */
import { App, Chart, Duration } from 'cdk8s';
import { PersistentVolumeClaim } from 'cdk8s-plus-28';
import { Certificate, MiniCluster, MiniClusterVolume } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'state');

new MiniCluster(chart, 'state', {
  size: 4,
  interactive: true,
  workload: 'StatefulSet',
  container: {
    image: 'docker.io/library/ubuntu:24.04',
    cpu: 2,
    volumes: {
      state: MiniClusterVolume.fromClaim(
        PersistentVolumeClaim.fromClaimName(chart, 'claim', 'flux-state'),
        '/state',
      ),
    },
  },
  archivePath: '/state/flux.tar.gz',
  // Saving the state of many jobs takes time.
  pod: { terminationGracePeriod: Duration.minutes(10) },
  certificate: Certificate.fromKeygen(),
});

app.synth();
