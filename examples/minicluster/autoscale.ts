/**
 * A cluster that breathes: between 2 and 16 brokers, by the CPU they use. The
 * resource itself is written, because the autoscaler scales it and the
 * controller follows; what it grows by waits in the queue pod by pod.
 */
import { App, Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { MiniCluster } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'autoscale');

const cluster = new MiniCluster(chart, 'elastic', {
  live: true,
  size: 4,
  minSize: 2,
  maxSize: 16,
  interactive: true,
  // The autoscaler compares with the request.
  container: { image: 'docker.io/library/ubuntu:24.04', cpu: 4 },
});

new k8s.KubeHorizontalPodAutoscalerV2(chart, 'autoscaler', {
  metadata: { name: cluster.name },
  spec: {
    scaleTargetRef: { apiVersion: 'flux-framework.org/v1alpha2', kind: 'MiniCluster', name: cluster.name },
    minReplicas: 2,
    maxReplicas: 16,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ],
  },
});

app.synth();
