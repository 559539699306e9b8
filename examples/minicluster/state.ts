/**
 * A cluster that is there until it is deleted and remembers: jobs, their logs
 * and the key-value store are saved to a claim when the lead ends, and restored
 * when it starts again.
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
  // Time to write it, for a store of many jobs.
  terminationGracePeriod: Duration.minutes(10),
  certificate: Certificate.fromKeygen(),
});

app.synth();
