/**
 * Every field of a workload: what a change of it after the release could do to the grant, and what keeps it from that. The
 * walk of test/attacks/generated tries the changes; this list makes a field of a new version of Kubernetes somebody's decision.
 */
import { CHANGEABLE_FIELDS, GRANTED_FIELDS } from '../../../constructs/api/granted-fields';
import { KEPT_FIELDS } from '../kept-fields';

/** `nothing`: neither size, place, time, owner, settings nor lifetime of what was granted. */
type Effect = 'size' | 'place' | 'time' | 'owner' | 'settings' | 'lifetime' | 'nothing';
/**
 * - `queue`: admission puts it back (granted-fields.ts), or the queue alone changes it.
 * - `guard`: a policy refuses the change.
 * - `kubernetes`: the apiserver refuses it in every supported version, or lets it become stricter only.
 * - `anew`: Kubernetes allows it only while the workload waits, and the queue reads it when it releases the workload.
 * - `counted`: the change stands, and what it brings is counted, shown and charged.
 * - `queued`: the change stands, and each Pod or Job that it brings is admitted by itself and waits for a grant of its own.
 */
type Keeper = 'queue' | 'guard' | 'kubernetes' | 'anew' | 'counted' | 'queued' | 'nobody';
type Entry = readonly [Effect, Keeper];

const each = (entry: Entry, ...fields: readonly string[]): Readonly<Record<string, Entry>> =>
  Object.fromEntries(fields.map((field) => [field, entry]));

const GRANTED: readonly string[] = GRANTED_FIELDS.map(({ field }) => field);

/** What a pod of a release has: the pod itself, and the template of its workload once that has started. */
const POD_SPEC: Readonly<Record<string, Entry>> = {
  // The program alone can change; a resize is a subresource, and edit has no right to it.
  ...each(['size', 'guard'], 'containers', 'initContainers', 'resources'),
  ...each(['size', 'kubernetes'], 'overhead', 'resourceClaims', 'schedulingGroup'),
  // They have no requests, and end with their pod.
  ...each(['size', 'nobody'], 'ephemeralContainers'),
  ...each(['place', 'anew'], 'affinity', 'nodeSelector'),
  // A pod that runs may tolerate more: no new taint ends it then, and it stays where it was granted until its walltime.
  ...each(['lifetime', 'nobody'], 'tolerations'),
  ...each(['place', 'guard'], 'schedulingGates'),
  ...each(
    ['place', 'kubernetes'],
    ...['hostNetwork', 'nodeName', 'os', 'preemptionPolicy', 'priority', 'priorityClassName'],
    ...['readinessGates', 'runtimeClassName', 'schedulerName', 'topologySpreadConstraints', 'volumes'],
  ),
  ...each(
    ['time', 'kubernetes'],
    ...['activeDeadlineSeconds', 'evictionResponders', 'restartPolicy', 'terminationGracePeriodSeconds'],
  ),
  ...each(['owner', 'kubernetes'], 'serviceAccount', 'serviceAccountName', 'automountServiceAccountToken'),
  ...each(
    ['nothing', 'kubernetes'],
    ...['dnsConfig', 'dnsPolicy', 'enableServiceLinks', 'hostAliases', 'hostIPC', 'hostPID', 'hostUsers'],
    ...['hostname', 'hostnameOverride', 'imagePullSecrets', 'securityContext', 'setHostnameAsFQDN'],
    ...['shareProcessNamespace', 'subdomain'],
  ),
};

const CONTAINER: Readonly<Record<string, Entry>> = {
  ...each(['size', 'guard'], 'resources'),
  ...each(['nothing', 'nobody'], 'image'),
  // A container that restarts does so in its own pod.
  ...each(['nothing', 'kubernetes'], 'resizePolicy', 'restartPolicyRules', 'imagePullPolicy'),
  // A sidecar counts beside the containers, another init container does not.
  ...each(['size', 'kubernetes'], 'name', 'restartPolicy'),
  ...each(['place', 'kubernetes'], 'ports', 'volumeDevices', 'volumeMounts'),
  ...each(
    ['nothing', 'kubernetes'],
    ...[
      'args',
      'command',
      'env',
      'envFrom',
      'lifecycle',
      'livenessProbe',
      'readinessProbe',
      'securityContext',
    ],
    ...['startupProbe', 'stdin', 'stdinOnce', 'terminationMessagePath', 'terminationMessagePolicy', 'tty'],
    'workingDir',
  ),
};

const METADATA: Readonly<Record<string, Entry>> = {
  ...each(['settings', 'queue'], 'annotations', 'labels'),
  ...each(['owner', 'guard'], 'ownerReferences'),
  // It keeps the object, not its containers: units are free when the pod has ended.
  ...each(['lifetime', 'counted'], 'finalizers'),
  ...each(
    ['nothing', 'kubernetes'],
    ...['creationTimestamp', 'deletionGracePeriodSeconds', 'deletionTimestamp', 'generateName', 'generation'],
    ...['managedFields', 'name', 'namespace', 'resourceVersion', 'selfLink', 'uid'],
  ),
};

/** The kinds whose controllers make Pods and Jobs: what was granted is one of these, and not the object. */
const MAKERS: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  CronJobSpec: {
    ...each(
      ['size', 'queued'],
      'concurrencyPolicy',
      'jobTemplate',
      'schedule',
      'startingDeadlineSeconds',
      'suspend',
      'timeZone',
    ),
    // Its Jobs that run go on.
    ...each(['nothing', 'nobody'], 'failedJobsHistoryLimit', 'successfulJobsHistoryLimit'),
  },
  JobTemplateSpec: {
    ...each(['settings', 'queued'], 'metadata'),
    ...each(['size', 'queued'], 'spec'),
  },
  DeploymentSpec: {
    ...each(['size', 'queued'], 'paused', 'replicas', 'strategy', 'template'),
    ...each(['nothing', 'nobody'], 'minReadySeconds', 'progressDeadlineSeconds', 'revisionHistoryLimit'),
    ...each(['owner', 'kubernetes'], 'selector'),
  },
  ReplicaSetSpec: {
    ...each(['size', 'queued'], 'replicas', 'template'),
    ...each(['nothing', 'nobody'], 'minReadySeconds'),
    ...each(['owner', 'kubernetes'], 'selector'),
  },
  ReplicationControllerSpec: {
    ...each(['size', 'queued'], 'replicas', 'template'),
    ...each(['nothing', 'nobody'], 'minReadySeconds'),
    // It adopts Pods that nobody owns, and lets others go: each keeps its own grant.
    ...each(['owner', 'counted'], 'selector'),
  },
  StatefulSetSpec: {
    ...each(['size', 'queued'], 'ordinals', 'replicas', 'template', 'updateStrategy'),
    ...each(
      ['nothing', 'nobody'],
      ...['minReadySeconds', 'persistentVolumeClaimRetentionPolicy', 'revisionHistoryLimit'],
    ),
    ...each(['owner', 'kubernetes'], 'selector'),
    ...each(['place', 'kubernetes'], 'volumeClaimTemplates'),
    ...each(['nothing', 'kubernetes'], 'podManagementPolicy', 'serviceName'),
  },
  // Who may not have one on every node has none at all in a namespace of the queue (reach-guard.ts).
  DaemonSetSpec: {
    ...each(['size', 'guard'], 'template', 'updateStrategy'),
    ...each(['nothing', 'nobody'], 'minReadySeconds', 'revisionHistoryLimit'),
    ...each(['owner', 'kubernetes'], 'selector'),
  },
};

export const EFFECTS: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  JobSpec: {
    ...each(['size', 'queue'], ...GRANTED, ...KEPT_FIELDS),
    ...each(['time', 'queue'], 'activeDeadlineSeconds', 'suspend'),
    ...each(['time', 'nobody'], 'backoffLimit', 'maxFailedIndexes', 'ttlSecondsAfterFinished'),
    ...each(
      ['size', 'kubernetes'],
      ...['backoffLimitPerIndex', 'completionMode', 'managedBy', 'podFailurePolicy', 'selector'],
      ...['successPolicy', 'template'],
    ),
  },
  ...MAKERS,
  PodTemplateSpec: each(['size', 'kubernetes'], 'metadata', 'spec'),
  PodSpec: POD_SPEC,
  Container: CONTAINER,
  ObjectMeta: METADATA,
};

/** The fields of a started Job of which admission has an opinion. */
export const KNOWN_TO_ADMISSION: readonly string[] = [...CHANGEABLE_FIELDS, ...KEPT_FIELDS];
