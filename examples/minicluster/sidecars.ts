/**
 * Containers beside the broker in every pod, and services in one additional pod. The first sidecar waits for the socket
 * of Flux and connects through it; sidecars do not keep the Job from completing.
 */
import { App, Chart, Size } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();

const cluster = new MiniCluster(new Chart(app, 'sidecars'), 'sidecars', {
  size: 4,
  tasks: 4,
  container: {
    name: 'solver',
    image: 'registry.example.com/cfd/solver:1.9',
    command: 'solver --queue redis://sidecars-queue:6379',
    cpu: 4,
  },
  pod: {
    annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9100' },
    // All containers of a pod share these resources.
    resources: { cpu: 5, memory: Size.gibibytes(10) },
  },
  certificate: Certificate.fromKeygen(),
});

cluster.addSidecar({
  name: 'metrics',
  image: 'registry.example.com/cfd/flux-exporter:0.3',
  servicePre: 'echo "exporting $fluxsocket"',
  command: 'exporter --port 9100 --flux "$fluxsocket"',
  ports: [9100, 9101],
  livenessProbe: { httpGet: { path: '/healthz', port: 9100 }, initialDelaySeconds: 60 },
});

// Runs the entrypoint of its image, behind the Service `pages`. The broker starts after the startup probe succeeds.
cluster.addSidecar({
  name: 'nginx',
  image: 'docker.io/library/nginx:1.29',
  noWrapEntrypoint: true,
  ports: [80],
  serviceName: 'pages',
  startupProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 1 },
});

cluster.addService({
  name: 'queue',
  image: 'docker.io/library/redis:8',
  ports: [6379],
  readinessProbe: { tcpSocket: { port: 6379 } },
});

app.synth();
