/** The command lines of the programs of the control plane, with the reason for each unusual flag. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ClusterOptions } from './cluster-options';
import type { FrontProxyFiles } from './credentials';

export const LOOPBACK = '127.0.0.1';

/** The port of the apiserver and two ports of loopback. */
export interface Ports {
  readonly apiserver: number;
  readonly etcd: number;
  readonly peer: number;
}

export function etcdDirectory(directory: string): string {
  return join(directory, 'etcd');
}

export function etcdArgs(directory: string, ports: Ports): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  return [
    '--name=test',
    `--data-dir=${etcdDirectory(directory)}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=test=${peer}`,
    // The data is not needed after the test.
    '--unsafe-no-fsync',
    `--quota-backend-bytes=${4 * 1024 ** 3}`,
    '--log-level=warn',
  ];
}

export interface ApiserverSettings {
  /** Address on which the apiserver listens. */
  readonly address: string;
  readonly ports: Ports;
  readonly tokenFile: string;
  readonly serviceAccountKeyFile: string;
  readonly frontProxy: FrontProxyFiles;
}

/** What all programs can be given; the defaults are those of ClusterOptions. */
type Common = Pick<ClusterOptions, 'featureGates' | 'emulatedVersion' | 'verbosity'>;

const commonArgs = ({ featureGates: gates = {}, emulatedVersion, verbosity = 1 }: Common): string[] => [
  ...featureGates(gates),
  ...(emulatedVersion === undefined ? [] : [`--emulated-version=kube=${emulatedVersion}`]),
  `--v=${verbosity}`,
];

export const auditLogFile = (directory: string): string => join(directory, 'audit.log');

export function apiserverArgs(
  directory: string,
  settings: ApiserverSettings,
  options: Common & Pick<ClusterOptions, 'auditLog' | 'apiserverArgs'>,
): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${settings.ports.etcd}`,
    // If the etcd of another cluster has taken the port, its data stays untouched.
    `--etcd-prefix=${basename(directory)}`,
    `--bind-address=${settings.address}`,
    `--advertise-address=${settings.address}`,
    // Other reconcilers refuse a loopback address.
    ...(settings.address === LOOPBACK ? ['--endpoint-reconciler-type=none'] : []),
    `--secure-port=${settings.ports.apiserver}`,
    // The apiserver creates its certificate there and reuses it after a restart.
    `--cert-dir=${join(directory, 'certificates')}`,
    `--token-auth-file=${settings.tokenFile}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${settings.serviceAccountKeyFile}`,
    `--service-account-signing-key-file=${settings.serviceAccountKeyFile}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    ...frontProxyArgs(settings.frontProxy),
    '--shutdown-delay-duration=0s',
    '--profiling=false',
    ...(options.auditLog === true ? auditArgs(directory) : []),
    ...commonArgs(options),
    ...(options.apiserverArgs ?? []),
  ];
}

/** With them, the apiserver passes requests on to the servers of APIServices in the name of their users. */
function frontProxyArgs({ name, caFile, certFile, keyFile }: FrontProxyFiles): string[] {
  return [
    `--requestheader-client-ca-file=${caFile}`,
    `--requestheader-allowed-names=${name}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${certFile}`,
    `--proxy-client-key-file=${keyFile}`,
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
  // In blocking mode the log has the line before the client gets its response.
  return [
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${auditLogFile(directory)}`,
    '--audit-log-mode=blocking',
    '--audit-log-maxsize=0',
  ];
}

/** Writes the authority of the apiserver, which is the second certificate in its file. */
export function writeCaFile(directory: string): string {
  const chain = readFileSync(join(directory, 'certificates', 'apiserver.crt'), 'utf8');
  const certificates = chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  // The apiserver may still be writing the file; the first certificate alone is not the authority.
  if (certificates.length < 2) throw new Error('apiserver.crt is not complete yet');
  const caFile = join(directory, 'ca.crt');
  writeFileSync(caFile, `${certificates.at(-1)}\n`);
  return caFile;
}

export function controllerManagerArgs(
  files: { kubeconfig: string; caFile: string; serviceAccountKeyFile: string },
  options: Common & Pick<ClusterOptions, 'tuning'>,
): string[] {
  const {
    qps = 1000,
    burst = 2 * qps,
    concurrentJobSyncs = 20,
    nodeGraceSeconds = 300,
    nodeMonitorSeconds = 5,
  } = options.tuning ?? {};
  return [
    `--kubeconfig=${files.kubeconfig}`,
    `--root-ca-file=${files.caFile}`,
    `--service-account-private-key-file=${files.serviceAccountKeyFile}`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    '--secure-port=0',
    // The defaults (20 queries/s, 5 Job workers) limit the throughput to 3.4 jobs/s.
    `--kube-api-qps=${qps}`,
    `--kube-api-burst=${burst}`,
    `--concurrent-job-syncs=${concurrentJobSyncs}`,
    '--horizontal-pod-autoscaler-sync-period=1s',
    // It checks the types of each policy, and writes its status, so that the apiserver compiles the policy again: 10 s of
    // processor time for a stack, for warnings that nobody reads here.
    '--controllers=*,-validatingadmissionpolicy-status-controller',
    `--node-monitor-grace-period=${nodeGraceSeconds}s`,
    `--node-monitor-period=${nodeMonitorSeconds}s`,
    ...commonArgs(options),
  ];
}

export function schedulerArgs(
  directory: string,
  kubeconfig: string,
  options: Common & Pick<ClusterOptions, 'tuning' | 'schedulerConfiguration'>,
): string[] {
  const { qps = 1000, burst = 2 * qps } = options.tuning ?? {};
  const path = join(directory, 'scheduler.yaml');
  writeFileSync(
    path,
    JSON.stringify({
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      leaderElection: { leaderElect: false },
      // The default of 50 queries/s limits the scheduler to 50 binds/s.
      clientConnection: { kubeconfig, qps, burst },
      ...options.schedulerConfiguration,
    }),
  );
  return [`--config=${path}`, '--secure-port=0', ...commonArgs(options)];
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
