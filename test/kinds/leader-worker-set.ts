/** The controller of LeaderWorkerSets, built from its Go module, as a process with the rights of its manifests; its webhooks, too. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { LEADER_WORKER_SET } from '../../constructs/api/leader-worker-set';
import type { Cluster } from '../cluster/cluster';
import { freePorts } from '../cluster/ports';
import { ProcessSet } from '../cluster/processes';
import { GoProgram } from '../go-program';
import { installController, startUntilReady } from './install';
import { localWebhooks, writeServingCertificate } from './webhooks';

const VERSION = 'v0.8.0';
const MODULE = `sigs.k8s.io/lws@${VERSION}`;
export const LWS = new GoProgram('sigs.k8s.io/lws/cmd', VERSION, 'lws');

export async function startLeaderWorkerSets(
  program: string,
  cluster: Cluster,
): Promise<{ stop(): Promise<void> }> {
  const KUBECONFIG = await installController(cluster, {
    kinds: [LEADER_WORKER_SET],
    module: MODULE,
    crds: ['config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml'],
    role: 'config/rbac/role.yaml',
    namespace: 'lws-system',
    account: 'lws-controller-manager',
  });
  const processes = ProcessSet.create('fluxqueue-lws');
  const [port = 0, probes = 0] = await freePorts(2);
  const caBundle = await writeServingCertificate(processes.directory);
  const config = join(processes.directory, 'config.yaml');
  writeFileSync(
    config,
    stringify({
      apiVersion: 'config.lws.x-k8s.io/v1alpha1',
      kind: 'Configuration',
      webhook: {
        host: '127.0.0.1',
        port,
        certDir: join(processes.directory, 'k8s-webhook-server', 'serving-certs'),
      },
      metrics: { bindAddress: '0' },
      health: { healthProbeBindAddress: `127.0.0.1:${probes}` },
      leaderElection: { leaderElect: false },
      internalCertManagement: { enable: false },
      clientConnection: { qps: 500, burst: 500 },
    }),
  );
  const env = { ...process.env, KUBECONFIG };
  await startUntilReady('lws', `http://127.0.0.1:${probes}/readyz`, () =>
    processes.start('lws', program, [`--config=${config}`], { env }),
  );
  await cluster.apply([
    ...localWebhooks(MODULE, 'config/webhook/manifests.yaml', { name: 'lws', port, caBundle }),
  ]);
  return { stop: () => processes.stop() };
}
