/** What each prop of the stack may be, and what it needs to have an effect. Values that depend on each other: stack-checks.ts. */
import { FLUXJOB_POLICIES, MATCH_POLICIES, QUEUE_POLICIES } from '../api/policies';
import { group, type Need, type PropRules, required } from '../api/prop-rules';
import {
  annotations,
  anyText,
  cidr,
  duration,
  flag,
  instance,
  labels,
  lines,
  listOf,
  mapOf,
  number,
  oneOf,
  port,
  size,
  text,
} from '../api/rules';
import { WORKLOAD_KIND_NAMES } from '../api/workload-kinds';
import {
  BILLING_WEIGHT_RULES,
  LIMIT_RULES,
  PRIORITY_WEIGHT_RULES,
  QUOTA_RULES,
} from '../fluxsetup/prop-rules';
import type { PriorityWeights } from '../fluxsetup/props';
import type { ExternalReader, ExternalRuntime } from './admission/form';
import type { MonitoringProps } from './monitoring';
import { PODS_REFUSALS, PODS_RULES } from './pods/checks';
import type { ImageProps } from './pods/images';
import type { FluxQueueProps } from './props';

const OWN_QUEUE: Need<FluxQueueProps> = {
  met: ({ defaultQueue }) => defaultQueue !== false,
  problem: "configures the stack's own queue, and defaultQueue is false",
  remedy: 'remove one of the two',
};
const FAIR_SHARE: Need<FluxQueueProps> = {
  // A lazy value may turn out to be true.
  met: ({ fairShare }) => fairShare !== undefined && fairShare !== false,
  problem: 'requires fairShare: true',
  remedy: 'give fairShare: true, or remove it',
};
const SCHEDULER: Need<FluxQueueProps> = {
  met: ({ scheduler }) => scheduler === true,
  problem: 'requires scheduler: true',
  remedy: 'give scheduler: true, or remove it',
};
const SIDECAR: Need<FluxQueueProps> = {
  met: ({ fluxion }) => fluxion !== 'embedded',
  problem: 'is a setting of the sidecar, and fluxion is embedded',
  remedy: "remove it, or choose fluxion: 'sidecar'",
};
const POLICIES: Need<FluxQueueProps> = {
  met: ({ networkPolicies }) => networkPolicies !== false,
  problem: 'is for NetworkPolicies, and networkPolicies is false',
  remedy: 'remove one of the two',
};
/** What one of the weights needs. */
const ofWeight = (member: keyof PriorityWeights, need: Need<FluxQueueProps>): Need<FluxQueueProps> => ({
  ...need,
  member,
  met: (props) => props.priorityWeights?.[member] === undefined || need.met(props),
});
const IMAGE_RULES: PropRules<ImageProps> = {
  registry: text,
  digests: mapOf(text),
  pullSecrets: listOf(text),
};
const MONITORING_RULES: PropRules<MonitoringProps> = {
  podMonitor: flag,
  interval: duration,
  alerts: flag,
  dashboard: flag,
  labels,
};
const READER_RULES: PropRules<ExternalReader> = { host: required(text), port: required(port) };
const EXTERNAL_RULES: PropRules<ExternalRuntime> = {
  webhookUrl: text,
  webhookCa: lines,
  reader: group(READER_RULES),
  users: listOf(text),
};
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'];

export const FLUX_QUEUE_RULES: PropRules<FluxQueueProps> = {
  // The check of the place says more of a name that is none.
  namespace: anyText,
  kubernetesVersion: text,
  admission: oneOf('policies', 'webhook', 'both'),
  clusterWide: flag,
  excludedNamespaces: listOf(text),
  gitOpsUsers: listOf(text),
  kueueUsers: listOf(text),
  workloadKinds: listOf(oneOf(...WORKLOAD_KIND_NAMES)),
  database: instance('Database', 'Database.statefulSet()', ({ isDeployed }) => isDeployed !== undefined),
  fluxion: oneOf('sidecar', 'embedded'),
  fluxionEngine: [oneOf('embedded', 'library'), SIDECAR],
  scheduler: flag,
  pods: group(PODS_RULES, PODS_REFUSALS),
  images: group(IMAGE_RULES),
  labels,
  annotations,
  cluster: text,
  matchPolicy: oneOf(...MATCH_POLICIES),
  defaultQueue: flag,
  queueName: [text, OWN_QUEUE],
  queuePolicy: [oneOf(...QUEUE_POLICIES), OWN_QUEUE],
  queueReservations: [number, OWN_QUEUE],
  queueDepth: [number, OWN_QUEUE],
  queueWeight: [number, OWN_QUEUE, FAIR_SHARE],
  queueQuota: [group(QUOTA_RULES), OWN_QUEUE],
  queueLimits: [group(LIMIT_RULES), OWN_QUEUE],
  queueLimitsPerUser: [group(LIMIT_RULES), OWN_QUEUE],
  queueMinPriority: [number, OWN_QUEUE],
  queueMaxPriority: [number, OWN_QUEUE],
  queueBillingWeights: [group(BILLING_WEIGHT_RULES), OWN_QUEUE, FAIR_SHARE],
  queuePreemptionMinRuntime: [duration, OWN_QUEUE],
  queuePreemptionLimit: [number, OWN_QUEUE],
  userMinPriority: number,
  userMaxPriority: number,
  defaultWalltime: duration,
  maxWalltime: duration,
  maxGracePeriod: duration,
  retention: duration,
  archiveRetention: duration,
  recordsPerHour: number,
  fluxJobs: oneOf(...FLUXJOB_POLICIES),
  priorityWeights: [
    group(PRIORITY_WEIGHT_RULES),
    ofWeight('fairShare', FAIR_SHARE),
    ofWeight('queue', OWN_QUEUE),
  ],
  priorityMaxAge: duration,
  fairShare: flag,
  fairShareHalfLife: [duration, FAIR_SHARE],
  unschedulableTimeout: duration,
  volumeTimeout: duration,
  startTimeout: duration,
  groupTimeout: duration,
  nodeAvoidance: duration,
  coreUnitMillis: number,
  memoryUnit: size,
  networkPolicies: flag,
  apiserverPorts: [listOf(port, 1), POLICIES],
  apiserverCidrs: [listOf(cidr, 1), POLICIES],
  monitoringNamespace: text,
  monitoring: group(MONITORING_RULES),
  verticalPodAutoscalers: flag,
  flowSchemas: flag,
  webhookCertificate: instance(
    'WebhookCertificate',
    'WebhookCertificate.certManager()',
    (value) => 'certManager' in value,
  ),
  miniClusters: flag,
  readApi: flag,
  logLevel: oneOf(...LOG_LEVELS),
  runtimeImage: text,
  fluxionImage: [text, SIDECAR],
  schedulerImage: [text, SCHEDULER],
  externalRuntime: group(EXTERNAL_RULES),
};
