/** The props that a MiniCluster has, for programs that TypeScript does not check. Their values are checked as fields of the resource. */
import {
  amount,
  any,
  duration,
  fields,
  flag,
  group,
  listOf,
  mapOf,
  object,
  orText,
  type PropRules,
  reference,
  size,
} from '../api/prop-rules';
import type { ComputeProps, EnvFromProps, MiniClusterContainerProps, SecretKey } from './container-props';
import type { FluxViewProps, MiniClusterFluxProps } from './flux-props';
import type { MiniClusterJobProps } from './job-props';
import type { MiniClusterLoggingProps } from './logging-props';
import type { MiniClusterNetworkProps } from './network-props';
import type { MiniClusterPodProps, PodResources } from './pod-props';
import type { MiniClusterProps } from './props';
import type { MiniClusterSchedulingProps } from './scheduling-props';

export const VOLUME = object('MiniClusterVolume', 'MiniClusterVolume.fromClaim(claim, path)', 'spec');
const SECRET_KEY: PropRules<SecretKey> = { secret: reference('Secret'), key: any };
const ENV_FROM: PropRules<EnvFromProps> = {
  configMap: reference('ConfigMap'),
  secret: reference('Secret'),
  prefix: any,
};
const POD_RESOURCES: PropRules<PodResources> = { cpu: amount, memory: size, devices: fields };
const COMPUTE: PropRules<ComputeProps> = {
  cpu: amount,
  cpuLimit: amount,
  memory: size,
  memoryLimit: size,
  devices: fields,
  claims: any,
  securityContext: fields,
};
const CONTAINER: PropRules<MiniClusterContainerProps> = {
  ...COMPUTE,
  image: any,
  name: any,
  command: any,
  script: any,
  launcher: any,
  batch: any,
  batchRaw: any,
  logs: any,
  init: any,
  pre: any,
  brokerPre: any,
  workerPre: any,
  servicePre: any,
  post: any,
  prefix: any,
  workingDir: any,
  environment: fields,
  secrets: mapOf(group(SECRET_KEY)),
  env: any,
  envFrom: listOf(group(ENV_FROM)),
  volumes: mapOf(VOLUME),
  ports: any,
  serviceName: any,
  noWrapEntrypoint: any,
  imagePullPolicy: any,
  pullAlways: any,
  imagePullSecret: reference('Secret'),
  postStart: any,
  preStop: any,
  livenessProbe: fields,
  readinessProbe: fields,
  startupProbe: fields,
};
const VIEW: PropRules<FluxViewProps> = {
  ...COMPUTE,
  image: any,
  imagePullSecret: reference('Secret'),
  pullAlways: any,
  name: any,
  workingDir: any,
  pythonPath: any,
};
const FLUX: PropRules<MiniClusterFluxProps> = {
  inImage: any,
  view: group(VIEW),
  mountPath: any,
  submitCommand: any,
  optionFlags: any,
  wrap: any,
  environment: fields,
  simpleScheduler: any,
  queuePolicy: any,
  matchPolicy: any,
  cores: any,
  gpus: any,
  report: any,
  cpuAffinity: any,
  topology: any,
  connectTimeout: duration,
  socket: flag,
  waitSocket: flag,
  completeWorkers: any,
  bursting: fields,
  mungeSecret: reference('Secret'),
  brokerConfig: any,
};
const JOB: PropRules<MiniClusterJobProps> = {
  labels: fields,
  deadline: duration,
  backoffLimit: any,
  ttlAfterFinished: duration,
  podFailurePolicy: fields,
};
const LOGGING: PropRules<MiniClusterLoggingProps> = {
  quiet: any,
  strict: any,
  debug: any,
  zeromq: any,
  timed: any,
  level: any,
};
const NETWORK: PropRules<MiniClusterNetworkProps> = {
  headlessName: any,
  clusterDomain: any,
  fqdn: any,
  port: any,
  minimalService: any,
  hostNetwork: any,
  dnsPolicy: any,
};
const POD: PropRules<MiniClusterPodProps> = {
  annotations: fields,
  labels: fields,
  serviceAccount: reference('ServiceAccount'),
  automountServiceAccountToken: any,
  restricted: any,
  securityContext: fields,
  restartPolicy: any,
  terminationGracePeriod: duration,
  resources: group(POD_RESOURCES),
  resourceClaims: any,
  runtimeClassName: any,
  shareProcessNamespace: any,
  hostIpc: any,
  hostPid: any,
};
const SCHEDULING: PropRules<MiniClusterSchedulingProps> = {
  priority: any,
  exclusive: any,
  arch: any,
  nodeSelector: fields,
  nodeAffinity: fields,
  affinity: flag,
  tolerations: any,
  topologySpread: any,
  priorityClassName: any,
  schedulerName: any,
};

export const MINICLUSTER_RULES: PropRules<MiniClusterProps> = {
  container: group(CONTAINER),
  sidecars: listOf(group(CONTAINER)),
  services: listOf(group(CONTAINER)),
  size: any,
  minSize: any,
  maxSize: any,
  tasks: any,
  interactive: any,
  queue: orText(reference('FluxSetup', 'give it, or its name')),
  walltime: duration,
  suspend: any,
  certificate: object('Certificate', 'Certificate.ofCluster()', 'secretName'),
  archivePath: any,
  name: any,
  namespace: any,
  workload: any,
  live: flag,
  cleanup: any,
  flux: group(FLUX),
  pod: group(POD),
  network: group(NETWORK),
  scheduling: group(SCHEDULING),
  logging: group(LOGGING),
  job: group(JOB),
};
