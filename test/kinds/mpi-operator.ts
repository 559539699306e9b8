/** The operator of MPIJobs, built from its Go module, as a process with the rights of its manifests. */
import { workloadKinds } from '../../constructs/api/workload-kinds';
import type { Cluster } from '../cluster/cluster';
import { ProcessSet } from '../cluster/processes';
import { waitFor } from '../cluster/wait';
import { GoProgram } from '../go-program';
import { installController } from './install';

const VERSION = 'v0.8.0';
export const MPI_OPERATOR = new GoProgram('github.com/kubeflow/mpi-operator/cmd/mpi-operator', VERSION);

const NAME = 'mpi-operator';

/** It takes its Lease before it does anything, and listens on port 8080, which nobody can change. */
export async function startMpiOperator(
  program: string,
  cluster: Cluster,
): Promise<{ stop(): Promise<void> }> {
  const KUBECONFIG = await installController(cluster, {
    kinds: workloadKinds(['MPIJob']),
    module: `github.com/kubeflow/mpi-operator@${VERSION}`,
    crds: ['manifests/base/kubeflow.org_mpijobs.yaml'],
    role: 'manifests/base/cluster-role.yaml',
    namespace: NAME,
    account: NAME,
  });
  const processes = ProcessSet.create('fluxqueue-mpi-operator');
  const env = { ...process.env, KUBECONFIG };
  const args = [
    '--kube-api-qps=500',
    '--kube-api-burst=500',
    `--lock-namespace=${NAME}`,
    '--monitoring-port=0',
  ];
  await processes.start(NAME, program, args, { env });
  await waitFor('the Lease of the operator', async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${NAME}/leases/${NAME}`;
    return (await cluster.api.send('GET', path)).status === 200;
  });
  return { stop: () => processes.stop() };
}
