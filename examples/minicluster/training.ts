/**
 * Distributed training: torchrun on 4 nodes with 8 GPUs each. The GPUs come from a ResourceClaimTemplate (dynamic
 * resource allocation) that must exist. All processes connect to pod 0 by its host name.
 */
import { App, Chart, Duration, Size } from 'cdk8s';
import { Certificate, MiniCluster, MiniClusterVolume } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'training'), 'training', {
  size: 4,
  // 0 starts one torchrun on each node, which starts the other processes.
  tasks: 0,
  container: {
    image: 'docker.io/pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime',
    script: `
      exec torchrun --nnodes="$FLUX_JOB_NNODES" --node-rank="$FLUX_TASK_RANK" --nproc-per-node=8 \\
        --master-addr="training-0.training.$NAMESPACE" --master-port=29500 train.py --epochs 10
    `,
    workingDir: '/workspace',
    environment: { NCCL_DEBUG: 'WARN', OMP_NUM_THREADS: '8' },
    // Tasks get the environment of the lead broker, so use values that are the same in all pods.
    env: [{ name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
    ports: [29500],
    cpu: 64,
    memory: Size.gibibytes(512),
    claims: ['gpus'],
    // Data loaders and NCCL use shared memory.
    volumes: { shm: MiniClusterVolume.emptyDir({ inMemory: true, sizeLimit: Size.gibibytes(128) }) },
  },
  walltime: Duration.days(1),
  // The claim does not tell how many devices it has.
  flux: { gpus: 8 },
  pod: {
    resourceClaims: [{ name: 'gpus', resourceClaimTemplateName: 'eight-gpus' }],
    runtimeClassName: 'nvidia',
  },
  scheduling: { tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }] },
  certificate: Certificate.fromKeygen(),
});

app.synth();
