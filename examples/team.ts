/**
 * App of a team: an enabled namespace with two queues, and Jobs that depend on each other. It belongs in the repository
 * of the stack (examples/queue.ts).
 *
 *   npx cdk8s synth --app 'npx tsx examples/team.ts' --output manifests
 *   kubectl apply --server-side -f manifests/
 */
import { App, Chart, Duration, Size } from 'cdk8s';
import { Cpu, k8s } from 'cdk8s-plus-28';
import { FluxSetup } from '../constructs/fluxqueue';

const app = new App();
const namespace = 'physics';

const team = new Chart(app, 'physics', { namespace });
new k8s.KubeNamespace(team, 'namespace', {
  // Workloads that name no queue are in `team`, and wait until it is in force.
  metadata: { name: namespace, labels: FluxSetup.fromFluxSetupName('team').namespaceLabels },
});

new FluxSetup(team, 'team', {
  quota: { cores: Cpu.units(256), memory: Size.gibibytes(1024), gpus: 8 },
  defaultWalltime: Duration.minutes(30),
  maxWalltime: Duration.days(2),
  maxPriority: 100,
  limitsPerUser: { running: 20 },
  // Borrows idle quota of the other queue, up to its own quota again; the other queue can reclaim it.
  cohort: 'physics',
  borrowing: { cores: Cpu.units(256) },
});

// A queue for urgent work: it reclaims lent quota and preempts preemptible workloads.
const urgent = new FluxSetup(team, 'urgent', {
  policy: 'conservative',
  // It reclaims for workloads that fit its own quota, so it owns of each resource that the other queue has a quota of.
  quota: { cores: Cpu.units(256), memory: Size.gibibytes(1024), gpus: 8 },
  // Half of its GPUs are never lent.
  lendingLimit: { gpus: 4 },
  minPriority: 100,
  maxPriority: 1000,
  maxWalltime: Duration.hours(4),
  cohort: 'physics',
  reclaim: true,
  preempts: true,
});

job('prepare', {}, { 'fluxqueue/walltime': '10m' });
job('simulate', urgent.labels, { 'fluxqueue/after': 'prepare' });
job('clean-up', {}, { 'fluxqueue/after': 'afterany:simulate', 'fluxqueue/preemptible': 'true' });

app.synth();

function job(name: string, labels: Record<string, string>, annotations: Record<string, string>): void {
  new k8s.KubeJob(team, name, {
    metadata: { name, labels, annotations },
    spec: {
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [
            {
              name: 'main',
              image: 'busybox',
              command: ['true'],
              resources: { requests: { cpu: k8s.Quantity.fromString('4') } },
            },
          ],
        },
      },
    },
  });
}
