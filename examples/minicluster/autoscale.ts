/**
 * A cluster that a HorizontalPodAutoscaler keeps between 2 and 16 brokers, by the CPU that they use. The program writes
 * the resource itself, because the autoscaler scales the resource and the controller follows; the additional pods wait
 * in the queue one by one.
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
  // `kubectl fluxqueue mc elastic` shows the jobs and nodes inside.
  flux: { report: true },
  // The autoscaler compares the CPU in use with the request.
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
