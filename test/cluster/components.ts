/** The command lines of the control plane's programs, and why each flag is there. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface ControllerTuning {
  /** Queries per second of the controller manager and of the scheduler. @default 1000 */
  readonly qps?: number;
  /** Burst of the same clients. @default twice qps */
  readonly burst?: number;
  /** Jobs that the Job controller syncs at once. @default 20 */
  readonly concurrentJobSyncs?: number;
  /** Seconds without a sign of life after which a node is lost. @default 300: above kwok's lease time, so that a busy machine loses none */
  readonly nodeGraceSeconds?: number;
}

export const LOOPBACK = '127.0.0.1';

/** The apiserver's port, and two of loopback. */
export interface Ports {
  readonly apiserver: number;
  readonly etcd: number;
  readonly peer: number;
}

export function etcdArgs(directory: string, ports: Ports): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  return [
    '--name=test',
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=test=${peer}`,
    // The data is thrown away with the test.
    '--unsafe-no-fsync',
    `--quota-backend-bytes=${4 * 1024 ** 3}`,
    '--log-level=warn',
  ];
}

export interface ApiserverSettings {
  /** Where it listens. */
  readonly address: string;
  readonly ports: Ports;
  readonly tokenFile: string;
  readonly serviceAccountKeyFile: string;
  readonly audit: boolean;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly verbosity: number;
  readonly extraArgs: readonly string[];
}

export const auditLogFile = (directory: string): string => join(directory, 'audit.log');

export function apiserverArgs(directory: string, settings: ApiserverSettings): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${settings.ports.etcd}`,
    // Should another cluster's etcd have taken the port, its data is not touched.
    `--etcd-prefix=${basename(directory)}`,
    `--bind-address=${settings.address}`,
    `--advertise-address=${settings.address}`,
    // A loopback advertise address is refused with any other reconciler.
    ...(settings.address === LOOPBACK ? ['--endpoint-reconciler-type=none'] : []),
    `--secure-port=${settings.ports.apiserver}`,
    // The apiserver makes its own certificate there and finds it again after a restart.
    `--cert-dir=${join(directory, 'certificates')}`,
    `--token-auth-file=${settings.tokenFile}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${settings.serviceAccountKeyFile}`,
    `--service-account-signing-key-file=${settings.serviceAccountKeyFile}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--shutdown-delay-duration=0s',
    '--profiling=false',
    ...(settings.audit ? auditArgs(directory) : []),
    ...featureGates(settings.featureGates),
    `--v=${settings.verbosity}`,
    ...settings.extraArgs,
  ];
}

function auditArgs(directory: string): string[] {
  const policy = join(directory, 'audit-policy.yaml');
  writeFileSync(
    policy,
    JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules: [
        { level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
        { level: 'None' },
      ],
    }),
  );
  // Blocking mode: when a client has its answer, the log has the line.
  return [
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${auditLogFile(directory)}`,
    '--audit-log-mode=blocking',
    '--audit-log-maxsize=0',
  ];
}

/** The apiserver's own authority: the second certificate of the pair that it wrote. */
export function writeCaFile(directory: string): string {
  const chain = readFileSync(join(directory, 'certificates', 'apiserver.crt'), 'utf8');
  const certificates = chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  // The apiserver may be writing it just now: the leaf alone would be taken for the authority.
  if (certificates.length < 2) throw new Error('apiserver.crt is not complete yet');
  const caFile = join(directory, 'ca.crt');
  writeFileSync(caFile, `${certificates.at(-1)}\n`);
  return caFile;
}

export function controllerManagerArgs(
  files: { kubeconfig: string; caFile: string; serviceAccountKeyFile: string },
  settings: { tuning: ControllerTuning; featureGates: Readonly<Record<string, boolean>>; verbosity: number },
): string[] {
  const { qps = 1000, burst = 2 * qps, concurrentJobSyncs = 20, nodeGraceSeconds = 300 } = settings.tuning;
  return [
    `--kubeconfig=${files.kubeconfig}`,
    `--root-ca-file=${files.caFile}`,
    `--service-account-private-key-file=${files.serviceAccountKeyFile}`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    '--secure-port=0',
    // The defaults (20 queries/s, 5 Job workers) hold everything to 3.4 jobs/s.
    `--kube-api-qps=${qps}`,
    `--kube-api-burst=${burst}`,
    `--concurrent-job-syncs=${concurrentJobSyncs}`,
    '--horizontal-pod-autoscaler-sync-period=1s',
    `--node-monitor-grace-period=${nodeGraceSeconds}s`,
    ...featureGates(settings.featureGates),
    `--v=${settings.verbosity}`,
  ];
}

export function schedulerArgs(
  directory: string,
  kubeconfig: string,
  settings: {
    tuning: ControllerTuning;
    configuration: Readonly<Record<string, unknown>>;
    featureGates: Readonly<Record<string, boolean>>;
    verbosity: number;
  },
): string[] {
  const { qps = 1000, burst = 2 * qps } = settings.tuning;
  const path = join(directory, 'scheduler.yaml');
  writeFileSync(
    path,
    JSON.stringify({
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      leaderElection: { leaderElect: false },
      // The default of 50 queries/s is 50 binds/s.
      clientConnection: { kubeconfig, qps, burst },
      ...settings.configuration,
    }),
  );
  return [
    `--config=${path}`,
    '--secure-port=0',
    ...featureGates(settings.featureGates),
    `--v=${settings.verbosity}`,
  ];
}

export function kwokArgs(kubeconfig: string): string[] {
  const stages = join(__dirname, 'stages');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--config=${join(stages, 'nodes.yaml')}`,
    `--config=${join(stages, 'pods.yaml')}`,
    '--manage-nodes-with-label-selector=type=kwok',
    '--node-lease-duration-seconds=200',
    '--cidr=10.244.0.0/16',
    '--node-ip=127.0.0.1',
  ];
}

function featureGates(gates: Readonly<Record<string, boolean>>): string[] {
  const pairs = Object.entries(gates).map(([name, on]) => `${name}=${on}`);
  return pairs.length === 0 ? [] : [`--feature-gates=${pairs.join()}`];
}
