/** Kubeflow Trainer, built from its Go module, as a process with the rights of its manifests; its webhooks, too. It needs the manager of JobSet. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { makerKinds } from '../../constructs/api/workload-kinds';
import type { Cluster } from '../cluster/cluster';
import { freePorts } from '../cluster/ports';
import { ProcessSet } from '../cluster/processes';
import { GoProgram } from '../go-program';
import { installController, startUntilReady } from './install';
import { localWebhooks, writeServingCertificate } from './webhooks';

const VERSION = 'v2.3.0';
const MODULE = `github.com/kubeflow/trainer/v2@${VERSION}`;
export const TRAINER = new GoProgram(
  'github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager',
  VERSION,
  'trainer-controller-manager',
);

const NAME = 'kubeflow-trainer-controller-manager';
const CRDS = ['clustertrainingruntimes', 'trainingruntimes', 'trainjobs'];

export async function startTrainer(program: string, cluster: Cluster): Promise<{ stop(): Promise<void> }> {
  const KUBECONFIG = await installController(cluster, {
    kinds: makerKinds(['JobSet']),
    module: MODULE,
    crds: CRDS.map((plural) => `manifests/base/crds/trainer.kubeflow.org_${plural}.yaml`),
    role: 'manifests/base/rbac/role.yaml',
    namespace: 'kubeflow-system',
    account: NAME,
  });
  const processes = ProcessSet.create('fluxqueue-trainer');
  const [port = 0, probes = 0, status = 0] = await freePorts(3);
  const caBundle = await writeServingCertificate(processes.directory);
  const config = join(processes.directory, 'config.yaml');
  writeFileSync(config, stringify(settings(port, probes, status)));
  const env = { ...process.env, KUBECONFIG, TMPDIR: processes.directory };
  await startUntilReady('trainer', `http://127.0.0.1:${probes}/readyz`, () =>
    processes.start('trainer', program, [`--config=${config}`], { env }),
  );
  const file = 'manifests/base/webhook/manifests.yaml';
  await cluster.apply([...localWebhooks(MODULE, file, { name: 'trainer', port, caBundle })]);
  return { stop: () => processes.stop() };
}

function settings(port: number, probes: number, status: number) {
  return {
    apiVersion: 'config.trainer.kubeflow.org/v1alpha1',
    kind: 'Configuration',
    webhook: { host: '127.0.0.1', port },
    metrics: { bindAddress: '0' },
    health: { healthProbeBindAddress: `127.0.0.1:${probes}` },
    leaderElection: { leaderElect: false },
    certManagement: { enable: false },
    statusServer: { port: status },
    clientConnection: { qps: 500, burst: 500 },
  };
}
