/**
 * A workflow tool as launcher: Snakemake runs beside the lead broker and submits each of its steps as a Flux job. The
 * image must have Snakemake and its plugin for Flux.
 */
import { App, Chart, Duration } from 'cdk8s';
import { PersistentVolumeClaim, Secret } from 'cdk8s-plus-28';
import { Certificate, MiniCluster, MiniClusterVolume } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'workflow');
const bucket = Secret.fromSecretName(chart, 'bucket', 'bucket');

new MiniCluster(chart, 'workflow', {
  size: 4,
  container: {
    image: 'registry.example.com/genomics/snakemake-flux:9.1',
    imagePullSecret: Secret.fromSecretName(chart, 'registry', 'registry'),
    launcher: true,
    command: 'snakemake --executor flux --jobs 64 --rerun-incomplete',
    pre: 'mkdir -p logs',
    workingDir: '/workflow',
    cpu: 16,
    secrets: {
      AWS_ACCESS_KEY_ID: { secret: bucket, key: 'id' },
      AWS_SECRET_ACCESS_KEY: { secret: bucket, key: 'key' },
    },
    volumes: {
      workflow: MiniClusterVolume.fromClaim(
        PersistentVolumeClaim.fromClaimName(chart, 'claim', 'workflow'),
        '/workflow',
      ),
    },
  },
  walltime: Duration.hours(12),
  // Many small jobs run better with backfill and on nodes that are filled one after the other.
  flux: { queuePolicy: 'easy', matchPolicy: 'lonodex' },
  certificate: Certificate.fromKeygen(),
});

app.synth();
