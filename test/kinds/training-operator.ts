/** The training operator of `kubeflow.org/v1`, built from its Go module, as a process with the rights of its manifests; its webhooks, too. */
import { workloadKinds } from '../../constructs/api/workload-kinds';
import type { Cluster, KubeObject } from '../cluster/cluster';
import { freePorts } from '../cluster/ports';
import { ProcessSet } from '../cluster/processes';
import { GoProgram } from '../go-program';
import { installController, startUntilReady } from './install';
import { localWebhooks, writeServingCertificate } from './webhooks';

const VERSION = 'v1.9.3';
const MODULE = `github.com/kubeflow/training-operator@${VERSION}`;
export const TRAINING_OPERATOR = new GoProgram(
  'github.com/kubeflow/training-operator/cmd/training-operator.v1',
  VERSION,
  'training-operator',
);

/** Not its MPIJob: that of the MPI operator has the same name. */
export const TRAINING_KINDS: readonly string[] = ['PyTorchJob', 'TFJob', 'XGBoostJob', 'PaddleJob', 'JAXJob'];
const NAMESPACE = 'kubeflow';
const NAME = 'training-operator';

export async function startTrainingOperator(
  program: string,
  cluster: Cluster,
): Promise<{ stop(): Promise<void> }> {
  const KUBECONFIG = await installController(cluster, {
    kinds: workloadKinds(TRAINING_KINDS),
    module: MODULE,
    crds: TRAINING_KINDS.map((kind) => `manifests/base/crds/kubeflow.org_${kind.toLowerCase()}s.yaml`),
    role: 'manifests/base/rbac/role.yaml',
    namespace: NAMESPACE,
    account: NAME,
  });
  // It writes a certificate into it, and waits for the file in which a pod would have that.
  const metadata = { name: `${NAME}-webhook-cert`, namespace: NAMESPACE };
  await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata } as KubeObject);
  const processes = ProcessSet.create(`fluxqueue-${NAME}`);
  const [port = 0, probes = 0] = await freePorts(2);
  const caBundle = await writeServingCertificate('/tmp', processes.directory);
  const args = [
    ...TRAINING_KINDS.map((kind) => `--enable-scheme=${kind.toLowerCase()}`),
    '--kube-api-qps=500',
    '--kube-api-burst=500',
    '--metrics-bind-address=0',
    `--health-probe-bind-address=127.0.0.1:${probes}`,
    `--webhook-server-port=${port}`,
  ];
  const env = { ...process.env, KUBECONFIG, TMPDIR: processes.directory };
  await startUntilReady(NAME, `http://127.0.0.1:${probes}/readyz`, () =>
    processes.start(NAME, program, args, { env }),
  );
  await cluster.apply([
    ...localWebhooks(MODULE, 'manifests/base/webhook/manifests.yaml', { name: NAME, port, caBundle }),
  ]);
  return { stop: () => processes.stop() };
}
