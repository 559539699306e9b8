/**
 * One script for all tasks, which act by their rank: task 0 leads, the others work. They communicate through the
 * key-value store of Flux. `$` needs no escape in a script.
 */
import { App, Chart } from 'cdk8s';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'leader-worker'), 'leader-worker', {
  size: 4,
  // 0 starts one task on each node.
  tasks: 0,
  container: {
    image: 'docker.io/library/ubuntu:24.04',
    cpu: 1,
    brokerPre: 'echo "the lead is on $HOSTNAME"',
    workerPre: 'echo "a worker is on $HOSTNAME"',
    script: `
      if [ "$FLUX_TASK_RANK" = 0 ]; then
        flux kvs put "work=$((1000 / (FLUX_JOB_SIZE - 1)))"
      else
        work=$(flux kvs get --waitcreate work)
        echo "task $FLUX_TASK_RANK of $FLUX_JOB_SIZE does $work units"
      fi
    `,
  },
  // The pod of a worker ends with its broker, so the lead broker cannot be retried.
  flux: { completeWorkers: true },
  certificate: Certificate.fromKeygen(),
});

app.synth();
