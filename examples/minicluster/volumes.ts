/**
 * Existing volumes: a PersistentVolumeClaim with data (read-only) and one for results, settings from a ConfigMap, a
 * license from a Secret. `fsGroup` lets the user of the pods write to the claims.
 */
import { App, Chart } from 'cdk8s';
import { ConfigMap, PersistentVolumeClaim, Secret } from 'cdk8s-plus-28';
import { Certificate, MiniCluster, MiniClusterVolume } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'volumes');

const genomes = PersistentVolumeClaim.fromClaimName(chart, 'genomes', 'genomes');
const scratch = PersistentVolumeClaim.fromClaimName(chart, 'scratch', 'scratch');
const license = Secret.fromSecretName(chart, 'license', 'aligner-license');
const settings = new ConfigMap(chart, 'settings', {
  metadata: { name: 'aligner-settings' },
  data: { 'aligner.toml': 'threads = 8\nseed = 42\n' },
});

new MiniCluster(chart, 'volumes', {
  size: 2,
  tasks: 2,
  container: {
    image: 'registry.example.com/bio/aligner:3.1',
    command: 'aligner --config /etc/aligner/settings.toml --reference /genomes --output /results',
    cpu: 8,
    envFrom: [{ configMap: ConfigMap.fromConfigMapName(chart, 'site', 'site'), prefix: 'SITE_' }],
    volumes: {
      genomes: MiniClusterVolume.fromClaim(genomes, '/genomes', { readOnly: true }),
      results: MiniClusterVolume.fromClaim(scratch, '/results', { subPath: 'aligner' }),
      settings: MiniClusterVolume.fromConfigMap(settings, '/etc/aligner', {
        items: { 'aligner.toml': 'settings.toml' },
      }),
      license: MiniClusterVolume.fromSecret(license, '/etc/license', { defaultMode: 0o440 }),
    },
  },
  pod: { securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, runAsNonRoot: true } },
  certificate: Certificate.fromKeygen(),
});

app.synth();
