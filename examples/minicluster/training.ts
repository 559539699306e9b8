/**
 * Distributed training: torchrun on 4 nodes with 8 GPUs each, which come
 * through dynamic resource allocation, by a ResourceClaimTemplate of yours.
 * They meet at pod 0, by its name.
 */
import { App, Chart, Duration, Size } from 'cdk8s';
import { Certificate, MiniCluster, MiniClusterVolume } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'training'), 'training', {
  size: 4,
  // One torchrun on each node, which starts its own processes.
  tasks: 0,
  container: {
    image: 'docker.io/pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime',
    script: `
      exec torchrun --nnodes="$FLUX_JOB_NNODES" --node-rank="$FLUX_TASK_RANK" --nproc-per-node=8 \\
        --master-addr="training-0.training.$NAMESPACE" --master-port=29500 train.py --epochs 10
    `,
    workingDir: '/workspace',
    environment: { NCCL_DEBUG: 'WARN', OMP_NUM_THREADS: '8' },
    // Tasks have the environment of the lead, so only what is the same in all pods makes sense here.
    env: [{ name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
    ports: [29500],
    cpu: 64,
    memory: Size.gibibytes(512),
    claims: ['gpus'],
    // What loaders and NCCL share.
    volumes: { shm: MiniClusterVolume.emptyDir({ inMemory: true, sizeLimit: Size.gibibytes(128) }) },
  },
  resourceClaims: [{ name: 'gpus', resourceClaimTemplateName: 'eight-gpus' }],
  runtimeClassName: 'nvidia',
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  walltime: Duration.days(1),
  certificate: Certificate.fromKeygen(),
});

app.synth();
