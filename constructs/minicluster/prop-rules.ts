/** The props that a MiniCluster has, for programs that TypeScript does not check. */
import { group, isObject, type PropRules, type Rule, required, rule } from '../api/prop-rules';
import {
  amount,
  duration,
  envName,
  fields,
  flag,
  instance,
  listOf,
  mapOf,
  orText,
  reference,
  size,
  text,
} from '../api/rules';
import type { ComputeProps, EnvFromProps, MiniClusterContainerProps, SecretKey } from './container-props';
import type { FluxViewProps, MiniClusterFluxProps } from './flux-props';
import type { MiniClusterJobProps } from './job-props';
import type { MiniClusterLoggingProps } from './logging-props';
import type { MiniClusterNetworkProps } from './network-props';
import type { MiniClusterPodProps, PodResources } from './pod-props';
import type { MiniClusterProps } from './props';
import type { MiniClusterSchedulingProps } from './scheduling-props';

/** For values that become a field of the resource as they are: its schema checks them. */
const bySchema = rule('schema', () => []);
type Rules<Props> = PropRules<Props, Rule<'schema'>>;

export const VOLUME = instance('MiniClusterVolume', 'MiniClusterVolume.fromClaim(claim, path)', isVolume);

function isVolume({ spec }: Readonly<Record<string, unknown>>): boolean {
  return typeof spec === 'object' && spec !== null;
}

const SECRET_KEY: Rules<SecretKey> = { secret: required(reference('Secret')), key: required(bySchema) };
const ENV_FROM: Rules<EnvFromProps> = {
  configMap: reference('ConfigMap'),
  secret: reference('Secret'),
  prefix: bySchema,
};
const FLUX_SETUP = rule('object', (value) =>
  isObject(value) && 'namespaceLabels' in value
    ? []
    : [{ problem: 'must be a FluxSetup', remedy: 'give it, or its name' }],
);
const POD_RESOURCES: Rules<PodResources> = { cpu: amount, memory: size, devices: mapOf(amount) };
const COMPUTE: Rules<ComputeProps> = {
  cpu: amount,
  cpuLimit: amount,
  memory: size,
  memoryLimit: size,
  devices: mapOf(amount),
  claims: listOf(text),
  securityContext: fields,
};
const CONTAINER: Rules<MiniClusterContainerProps> = {
  ...COMPUTE,
  image: bySchema,
  name: bySchema,
  command: bySchema,
  script: bySchema,
  launcher: bySchema,
  batch: bySchema,
  batchRaw: bySchema,
  logs: bySchema,
  init: bySchema,
  pre: bySchema,
  brokerPre: bySchema,
  workerPre: bySchema,
  servicePre: bySchema,
  post: bySchema,
  prefix: bySchema,
  workingDir: bySchema,
  environment: mapOf(bySchema, envName),
  secrets: mapOf(group(SECRET_KEY), envName),
  env: bySchema,
  envFrom: listOf(group(ENV_FROM)),
  volumes: mapOf(VOLUME),
  ports: bySchema,
  serviceName: bySchema,
  noWrapEntrypoint: bySchema,
  imagePullPolicy: bySchema,
  pullAlways: bySchema,
  imagePullSecret: reference('Secret'),
  postStart: bySchema,
  preStop: bySchema,
  livenessProbe: fields,
  readinessProbe: fields,
  startupProbe: fields,
};
const VIEW: Rules<FluxViewProps> = {
  ...COMPUTE,
  image: bySchema,
  imagePullSecret: reference('Secret'),
  pullAlways: bySchema,
  name: bySchema,
  workingDir: bySchema,
  pythonPath: bySchema,
};
const FLUX: Rules<MiniClusterFluxProps> = {
  inImage: bySchema,
  view: group(VIEW),
  mountPath: bySchema,
  submitCommand: bySchema,
  optionFlags: bySchema,
  wrap: bySchema,
  environment: fields,
  simpleScheduler: bySchema,
  queuePolicy: bySchema,
  matchPolicy: bySchema,
  cores: bySchema,
  gpus: bySchema,
  report: bySchema,
  cpuAffinity: bySchema,
  topology: bySchema,
  connectTimeout: duration,
  socket: flag,
  waitSocket: flag,
  completeWorkers: bySchema,
  bursting: fields,
  mungeSecret: reference('Secret'),
  brokerConfig: bySchema,
};
const JOB: Rules<MiniClusterJobProps> = {
  labels: fields,
  deadline: duration,
  backoffLimit: bySchema,
  ttlAfterFinished: duration,
  podFailurePolicy: fields,
};
const LOGGING: Rules<MiniClusterLoggingProps> = {
  quiet: bySchema,
  strict: bySchema,
  debug: bySchema,
  zeromq: bySchema,
  timed: bySchema,
  level: bySchema,
};
const NETWORK: Rules<MiniClusterNetworkProps> = {
  headlessName: bySchema,
  clusterDomain: bySchema,
  fqdn: bySchema,
  port: bySchema,
  minimalService: bySchema,
  hostNetwork: bySchema,
  dnsPolicy: bySchema,
};
const POD: Rules<MiniClusterPodProps> = {
  annotations: fields,
  labels: fields,
  serviceAccount: reference('ServiceAccount'),
  automountServiceAccountToken: bySchema,
  restricted: bySchema,
  securityContext: fields,
  restartPolicy: bySchema,
  terminationGracePeriod: duration,
  resources: group(POD_RESOURCES),
  resourceClaims: bySchema,
  runtimeClassName: bySchema,
  shareProcessNamespace: bySchema,
  hostIpc: bySchema,
  hostPid: bySchema,
};
const SCHEDULING: Rules<MiniClusterSchedulingProps> = {
  priority: bySchema,
  exclusive: bySchema,
  arch: bySchema,
  nodeSelector: fields,
  nodeAffinity: fields,
  affinity: flag,
  tolerations: bySchema,
  topologySpread: bySchema,
  priorityClassName: bySchema,
  schedulerName: bySchema,
};

export const MINICLUSTER_RULES: Rules<MiniClusterProps> = {
  container: required(group(CONTAINER)),
  sidecars: listOf(group(CONTAINER)),
  services: listOf(group(CONTAINER)),
  size: bySchema,
  minSize: bySchema,
  maxSize: bySchema,
  tasks: bySchema,
  interactive: bySchema,
  queue: orText(FLUX_SETUP),
  walltime: duration,
  suspend: bySchema,
  certificate: instance('Certificate', 'Certificate.ofCluster()', (value) => 'secretName' in value),
  archivePath: bySchema,
  name: text,
  namespace: text,
  workload: bySchema,
  live: flag,
  cleanup: bySchema,
  flux: group(FLUX),
  pod: group(POD),
  network: group(NETWORK),
  scheduling: group(SCHEDULING),
  logging: group(LOGGING),
  job: group(JOB),
};
