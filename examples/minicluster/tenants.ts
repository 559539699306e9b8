/**
 * Two teams on one machine: each has a namespace with a queue, and its
 * MiniClusters wait in it as gangs. Chemistry may borrow what physics leaves
 * idle; physics takes it back.
 */
import { App, Chart, Duration, Size } from 'cdk8s';
import { Cpu, k8s } from 'cdk8s-plus-28';
import { FluxSetup } from '../../constructs/fluxqueue';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();
const cohort = 'campus';
const quota = { cores: Cpu.units(256), memory: Size.gibibytes(1024) };

const physics = team('physics');
const runs = new FluxSetup(physics, 'runs', { quota, cohort, reclaim: true });
new MiniCluster(physics, 'lattice', {
  size: 8,
  tasks: 8,
  container: { image: 'registry.example.com/physics/lattice:7.0', command: 'lattice --sweeps 500', cpu: 16 },
  queue: runs.name,
  priority: 100,
  walltime: Duration.hours(6),
  // Whole nodes: no neighbour disturbs it.
  exclusive: true,
  jobLabels: { 'example.com/grant': 'prj-0815' },
  podLabels: { 'example.com/cost-center': 'physics' },
  certificate: Certificate.fromKeygen(),
});

const chemistry = team('chemistry');
new FluxSetup(chemistry, 'default', { quota, cohort, policy: 'conservative' });
// Names no queue: the one called `default` is its own.
new MiniCluster(chemistry, 'screening', {
  size: 16,
  container: {
    image: 'registry.example.com/chemistry/screening:2.2',
    launcher: true,
    command: 'screen /library',
    cpu: 8,
  },
  // After everything else.
  priority: -10,
  walltime: Duration.days(1),
  jobLabels: { 'fluxqueue/preemptible': 'true' },
  certificate: Certificate.fromKeygen(),
});

app.synth();

function team(namespace: string): Chart {
  const chart = new Chart(app, namespace, { namespace });
  new k8s.KubeNamespace(chart, 'namespace', {
    metadata: { name: namespace, labels: { 'fluxqueue/enabled': 'true' } },
  });
  return chart;
}
