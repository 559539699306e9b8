/**
 * Containers that share the process namespace of their pod: a profiler measures the tasks of the solver. It needs the
 * capability to trace processes, and it does not need the socket of Flux.
 */
import { App, Chart } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'shared-processes'), 'shared', {
  size: 2,
  tasks: 2,
  container: { image: 'registry.example.com/cfd/solver:1.9', command: 'solver --steps 100', cpu: 4 },
  sidecars: [
    {
      name: 'profiler',
      image: 'registry.example.com/tools/perf:6.8',
      command: 'while sleep 10; do pgrep -x solver | xargs -r -n1 perf-summary; done',
      securityContext: { capabilities: { add: ['SYS_PTRACE'] } },
    },
  ],
  pod: { shareProcessNamespace: true },
  flux: { waitSocket: false },
  certificate: Certificate.fromKeygen(),
});

app.synth();
