/** JobSet's own manager, built from its Go module, as a process with the rights of its manifests; its webhooks, too. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { workloadKinds } from '../../constructs/api/workload-kinds';
import { makeCertificate } from '../../runtime/admission/certificates';
import type { Cluster, KubeObject } from '../cluster/cluster';
import { freePorts } from '../cluster/ports';
import { ProcessSet } from '../cluster/processes';
import { GoProgram } from '../go-program';
import { installController, startUntilReady } from './install';

const VERSION = 'v0.12.0';
export const JOBSET = new GoProgram('sigs.k8s.io/jobset', VERSION);

/** The manager, its rights and its webhooks for JobSets; those for pods do nothing without an exclusive topology. */
export async function startJobSet(program: string, cluster: Cluster): Promise<{ stop(): Promise<void> }> {
  // Its webhooks come only once the kind is there.
  const KUBECONFIG = await installController(cluster, {
    kinds: workloadKinds(['JobSet']),
    module: `sigs.k8s.io/jobset@${VERSION}`,
    crds: ['config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml'],
    role: 'config/components/rbac/role.yaml',
    namespace: 'jobset-system',
    account: 'jobset-controller-manager',
  });
  const processes = ProcessSet.create('fluxqueue-jobset');
  const [port = 0, probes = 0] = await freePorts(2);
  const { cert, key, bundle } = await makeCertificate({ names: ['127.0.0.1'], now: new Date() });
  writeFileSync(join(processes.directory, 'tls.crt'), cert);
  writeFileSync(join(processes.directory, 'tls.key'), key);
  const config = join(processes.directory, 'config.yaml');
  writeFileSync(config, stringify(settings(processes.directory, port, probes)));
  const env = { ...process.env, KUBECONFIG };
  await startUntilReady('jobset', `http://127.0.0.1:${probes}/readyz`, () =>
    processes.start('jobset', program, [`--config=${config}`], { env }),
  );
  await cluster.apply(webhooks(port, Buffer.from(bundle).toString('base64')));
  return { stop: () => processes.stop() };
}

function settings(folder: string, port: number, probes: number) {
  return {
    apiVersion: 'config.jobset.x-k8s.io/v1alpha1',
    kind: 'Configuration',
    webhook: { host: '127.0.0.1', port, certDir: folder },
    metrics: { bindAddress: '0' },
    health: { healthProbeBindAddress: `127.0.0.1:${probes}` },
    leaderElection: { leaderElect: false },
    internalCertManagement: { enable: false },
    clientConnection: { qps: 500, burst: 500 },
  };
}

function webhooks(port: number, caBundle: string): KubeObject[] {
  const of = (kind: string, verb: string, operations: readonly string[]) =>
    ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: `jobset-${verb}` },
      webhooks: [
        {
          name: `${verb}.jobset.kb.io`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Fail',
          clientConfig: {
            url: `https://127.0.0.1:${port}/${verb}-jobset-x-k8s-io-v1alpha2-jobset`,
            caBundle,
          },
          rules: [
            {
              apiGroups: ['jobset.x-k8s.io'],
              apiVersions: ['v1alpha2'],
              operations,
              resources: ['jobsets'],
            },
          ],
        },
      ],
    }) as KubeObject;
  return [of('Mutating', 'mutate', ['CREATE']), of('Validating', 'validate', ['CREATE', 'UPDATE'])];
}
