/**
 * Two teams on one machine: each has a namespace with a queue, in which its MiniClusters wait as gangs. Chemistry may
 * borrow quota that physics does not use, and physics reclaims it.
 */
import { App, Chart, Duration, Size } from 'cdk8s';
import { Cpu, k8s } from 'cdk8s-plus-28';
import { FluxSetup } from '../../constructs/fluxqueue';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();
const cohort = 'campus';
const quota = { cores: Cpu.units(256), memory: Size.gibibytes(1024) };

const physics = team('physics', 'runs');
const runs = new FluxSetup(physics, 'runs', { quota, cohort, reclaim: true });
new MiniCluster(physics, 'lattice', {
  size: 8,
  tasks: 8,
  container: { image: 'registry.example.com/physics/lattice:7.0', command: 'lattice --sweeps 500', cpu: 16 },
  queue: runs,
  walltime: Duration.hours(6),
  // With whole nodes no other workload slows it down.
  scheduling: { priority: 100, exclusive: true },
  job: { labels: { 'example.com/grant': 'prj-0815' } },
  pod: { labels: { 'example.com/cost-center': 'physics' } },
  certificate: Certificate.fromKeygen(),
});

const chemistry = team('chemistry', 'screens');
new FluxSetup(chemistry, 'screens', { quota, cohort, policy: 'conservative' });
// Without a queue it uses the one that its namespace names.
new MiniCluster(chemistry, 'screening', {
  size: 16,
  container: {
    image: 'registry.example.com/chemistry/screening:2.2',
    launcher: true,
    command: 'screen /library',
    cpu: 8,
  },
  walltime: Duration.days(1),
  // It starts after everything else.
  scheduling: { priority: -10 },
  job: { labels: { 'fluxqueue/preemptible': 'true' } },
  certificate: Certificate.fromKeygen(),
});

app.synth();

function team(namespace: string, queue: string): Chart {
  const chart = new Chart(app, namespace, { namespace });
  new k8s.KubeNamespace(chart, 'namespace', {
    metadata: { name: namespace, labels: FluxSetup.fromFluxSetupName(queue).namespaceLabels },
  });
  return chart;
}
