/** The operator of MPIJobs, built from its Go module, as a process with the rights of its manifests. */
import type { Cluster, KubeObject } from '../cluster/cluster';
import { ProcessSet } from '../cluster/processes';
import { waitFor } from '../cluster/wait';
import { GoProgram } from '../go-program';
import { manifestsOf } from './go-module';

const VERSION = 'v0.8.0';
const MODULE = `github.com/kubeflow/mpi-operator@${VERSION}`;
export const MPI_OPERATOR = new GoProgram('github.com/kubeflow/mpi-operator/cmd/mpi-operator', VERSION);

const NAME = 'mpi-operator';

/** It takes its Lease before it does anything, and listens on port 8080, which nobody can change. */
export async function startMpiOperator(
  program: string,
  cluster: Cluster,
): Promise<{ stop(): Promise<void> }> {
  const [crd, role] = manifestsOf(
    MODULE,
    'manifests/base/kubeflow.org_mpijobs.yaml',
    'manifests/base/cluster-role.yaml',
  ) as [KubeObject, KubeObject];
  const metadata = { name: NAME, namespace: NAME };
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAME } },
    crd,
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    role,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    } as KubeObject,
  ]);
  await waitFor('the kind MPIJob', async () => {
    const { status } = await cluster.api.send('GET', '/apis/kubeflow.org/v2beta1/mpijobs');
    return status === 200;
  });
  const processes = ProcessSet.create('fluxqueue-mpi-operator');
  const KUBECONFIG = await cluster.kubeconfigForServiceAccount(NAME, NAME);
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
