/**
 * Containers beside the brokers (in every pod) and a pod of services beside the
 * cluster. The sidecar speaks to Flux through the socket that it waits for and
 * does not keep the Job from ending; the services keep running with it.
 */
import { App, Chart, Size } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'sidecars'), 'sidecars', {
  size: 4,
  tasks: 4,
  container: {
    name: 'solver',
    image: 'registry.example.com/cfd/solver:1.9',
    command: 'solver --queue redis://sidecars-queue:6379',
    cpu: 4,
  },
  sidecars: [
    {
      name: 'metrics',
      image: 'registry.example.com/cfd/flux-exporter:0.3',
      servicePre: 'echo "exporting $fluxsocket"',
      command: 'exporter --port 9100 --flux "$fluxsocket"',
      ports: [9100, 9101],
      livenessProbe: { httpGet: { path: '/healthz', port: 9100 }, initialDelaySeconds: 60 },
    },
    // Started as its image says; reached as `pages`. The broker starts when its probe says that it has started.
    {
      name: 'nginx',
      image: 'docker.io/library/nginx:1.29',
      noWrapEntrypoint: true,
      ports: [80],
      serviceName: 'pages',
      startupProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 1 },
    },
  ],
  services: [
    {
      name: 'queue',
      image: 'docker.io/library/redis:8',
      ports: [6379],
      readinessProbe: { tcpSocket: { port: 6379 } },
    },
  ],
  podAnnotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9100' },
  // All containers of a pod together.
  podResources: { cpu: 5, memory: Size.gibibytes(10) },
  certificate: Certificate.fromKeygen(),
});

app.synth();
