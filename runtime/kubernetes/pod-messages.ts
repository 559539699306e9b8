/**
 * What is read of pods in protobuf: the fields that the projection of pods keeps (../shared/pod-projection), with their
 * numbers in generated.proto of k8s.io/api/core/v1 and k8s.io/apimachinery, which never change.
 */
import { message } from './protobuf';

const OWNER_REFERENCE = message({
  1: ['kind', 'text'],
  3: ['name', 'text'],
  4: ['uid', 'text'],
  5: ['apiVersion', 'text'],
  6: ['controller', 'flag'],
  7: ['blockOwnerDeletion', 'flag'],
});

export const OBJECT_META = message({
  1: ['name', 'text?'],
  3: ['namespace', 'text?'],
  5: ['uid', 'text?'],
  6: ['resourceVersion', 'text?'],
  7: ['generation', 'number?'],
  8: ['creationTimestamp', 'time?'],
  9: ['deletionTimestamp', 'time'],
  10: ['deletionGracePeriodSeconds', 'number'],
  11: ['labels', 'textMap'],
  12: ['annotations', 'textMap'],
  13: ['ownerReferences', 'messages', OWNER_REFERENCE],
  14: ['finalizers', 'texts'],
});

/** metav1.LabelSelectorRequirement and v1.NodeSelectorRequirement. */
const REQUIREMENT = message({
  1: ['key', 'text'],
  2: ['operator', 'text'],
  3: ['values', 'texts'],
});

const LABEL_SELECTOR = message({
  1: ['matchLabels', 'textMap'],
  2: ['matchExpressions', 'messages', REQUIREMENT],
});

const NODE_SELECTOR_TERM = message({
  1: ['matchExpressions', 'messages', REQUIREMENT],
  2: ['matchFields', 'messages', REQUIREMENT],
});

const NODE_SELECTOR = message({ 1: ['nodeSelectorTerms', 'messages', NODE_SELECTOR_TERM] });

const PREFERRED_SCHEDULING_TERM = message({
  1: ['weight', 'number'],
  2: ['preference', 'message', NODE_SELECTOR_TERM],
});

const NODE_AFFINITY = message({
  1: ['requiredDuringSchedulingIgnoredDuringExecution', 'message', NODE_SELECTOR],
  2: ['preferredDuringSchedulingIgnoredDuringExecution', 'messages', PREFERRED_SCHEDULING_TERM],
});

const POD_AFFINITY_TERM = message({
  1: ['labelSelector', 'message', LABEL_SELECTOR],
  2: ['namespaces', 'texts'],
  3: ['topologyKey', 'text'],
  4: ['namespaceSelector', 'message', LABEL_SELECTOR],
  5: ['matchLabelKeys', 'texts'],
  6: ['mismatchLabelKeys', 'texts'],
});

const WEIGHTED_POD_AFFINITY_TERM = message({
  1: ['weight', 'number'],
  2: ['podAffinityTerm', 'message', POD_AFFINITY_TERM],
});

/** v1.PodAffinity and v1.PodAntiAffinity. */
const POD_AFFINITY = message({
  1: ['requiredDuringSchedulingIgnoredDuringExecution', 'messages', POD_AFFINITY_TERM],
  2: ['preferredDuringSchedulingIgnoredDuringExecution', 'messages', WEIGHTED_POD_AFFINITY_TERM],
});

const AFFINITY = message({
  1: ['nodeAffinity', 'message', NODE_AFFINITY],
  2: ['podAffinity', 'message', POD_AFFINITY],
  3: ['podAntiAffinity', 'message', POD_AFFINITY],
});

const TOLERATION = message({
  1: ['key', 'text?'],
  2: ['operator', 'text?'],
  3: ['value', 'text?'],
  4: ['effect', 'text?'],
  5: ['tolerationSeconds', 'number'],
});

const TOPOLOGY_SPREAD_CONSTRAINT = message({
  1: ['maxSkew', 'number'],
  2: ['topologyKey', 'text'],
  3: ['whenUnsatisfiable', 'text'],
  4: ['labelSelector', 'message', LABEL_SELECTOR],
  5: ['minDomains', 'number'],
  6: ['nodeAffinityPolicy', 'text'],
  7: ['nodeTaintsPolicy', 'text'],
  8: ['matchLabelKeys', 'texts'],
});

const RESOURCE_CLAIM = message({
  1: ['name', 'text'],
  2: ['request', 'text?'],
});

/** v1.ResourceRequirements and v1.VolumeResourceRequirements. */
const RESOURCES = message({
  1: ['limits', 'quantityMap'],
  2: ['requests', 'quantityMap'],
  3: ['claims', 'messages', RESOURCE_CLAIM],
});

const CONTAINER_PORT = message({
  2: ['hostPort', 'number?'],
  3: ['containerPort', 'number'],
  4: ['protocol', 'text?'],
  5: ['hostIP', 'text?'],
});

const CONTAINER = message({
  1: ['name', 'text'],
  2: ['image', 'text?'],
  6: ['ports', 'messages', CONTAINER_PORT],
  8: ['resources', 'message', RESOURCES],
  24: ['restartPolicy', 'text'],
});

/** v1.TypedLocalObjectReference and v1.TypedObjectReference. */
const OBJECT_REFERENCE = message({
  1: ['apiGroup', 'text'],
  2: ['kind', 'text'],
  3: ['name', 'text'],
  4: ['namespace', 'text'],
});

const CLAIM_SPEC = message({
  1: ['accessModes', 'texts'],
  2: ['resources', 'message', RESOURCES],
  3: ['volumeName', 'text?'],
  4: ['selector', 'message', LABEL_SELECTOR],
  5: ['storageClassName', 'text'],
  6: ['volumeMode', 'text'],
  7: ['dataSource', 'message', OBJECT_REFERENCE],
  8: ['dataSourceRef', 'message', OBJECT_REFERENCE],
  9: ['volumeAttributesClassName', 'text'],
});

const CLAIM_TEMPLATE = message({
  1: ['metadata', 'message', OBJECT_META],
  2: ['spec', 'message', CLAIM_SPEC],
});

const EPHEMERAL_VOLUME = message({ 1: ['volumeClaimTemplate', 'message', CLAIM_TEMPLATE] });

const CLAIM_VOLUME = message({
  1: ['claimName', 'text'],
  2: ['readOnly', 'flag?'],
});

const SECRET_REFERENCE = message({ 1: ['name', 'text?'] });

const ISCSI_VOLUME = message({
  1: ['targetPortal', 'text'],
  2: ['iqn', 'text'],
  3: ['lun', 'number'],
  4: ['iscsiInterface', 'text?'],
  5: ['fsType', 'text?'],
  6: ['readOnly', 'flag?'],
  7: ['portals', 'texts'],
  8: ['chapAuthDiscovery', 'flag?'],
  10: ['secretRef', 'message', SECRET_REFERENCE],
  11: ['chapAuthSession', 'flag?'],
  12: ['initiatorName', 'text'],
});

const RBD_VOLUME = message({
  1: ['monitors', 'texts'],
  2: ['image', 'text'],
  3: ['fsType', 'text?'],
  4: ['pool', 'text?'],
  5: ['user', 'text?'],
  6: ['keyring', 'text?'],
  7: ['secretRef', 'message', SECRET_REFERENCE],
  8: ['readOnly', 'flag?'],
});

const VOLUME_SOURCE = message({
  8: ['iscsi', 'message', ISCSI_VOLUME],
  10: ['persistentVolumeClaim', 'message', CLAIM_VOLUME],
  11: ['rbd', 'message', RBD_VOLUME],
  29: ['ephemeral', 'message', EPHEMERAL_VOLUME],
});

const VOLUME = message({
  1: ['name', 'text'],
  2: ['volumeSource', 'embedded', VOLUME_SOURCE],
});

const POD_RESOURCE_CLAIM = message({
  1: ['name', 'text'],
  3: ['resourceClaimName', 'text'],
  4: ['resourceClaimTemplateName', 'text'],
});

export const POD_SPEC = message({
  1: ['volumes', 'messages', VOLUME],
  2: ['containers', 'messages', CONTAINER],
  3: ['restartPolicy', 'text?'],
  4: ['terminationGracePeriodSeconds', 'number'],
  5: ['activeDeadlineSeconds', 'number'],
  7: ['nodeSelector', 'textMap'],
  8: ['serviceAccountName', 'text?'],
  10: ['nodeName', 'text?'],
  11: ['hostNetwork', 'flag?'],
  18: ['affinity', 'message', AFFINITY],
  19: ['schedulerName', 'text?'],
  20: ['initContainers', 'messages', CONTAINER],
  22: ['tolerations', 'messages', TOLERATION],
  24: ['priorityClassName', 'text?'],
  25: ['priority', 'number'],
  29: ['runtimeClassName', 'text'],
  32: ['overhead', 'quantityMap'],
  33: ['topologySpreadConstraints', 'messages', TOPOLOGY_SPREAD_CONSTRAINT],
  38: ['schedulingGates', 'messages', message({ 1: ['name', 'text'] })],
  39: ['resourceClaims', 'messages', POD_RESOURCE_CLAIM],
  40: ['resources', 'message', RESOURCES],
});

const CONDITION = message({
  1: ['type', 'text'],
  2: ['status', 'text'],
  5: ['reason', 'text?'],
  6: ['message', 'text?'],
});

const STATE_WAITING = message({
  1: ['reason', 'text?'],
  2: ['message', 'text?'],
});

const STATE_TERMINATED = message({
  1: ['exitCode', 'number'],
  2: ['signal', 'number?'],
  3: ['reason', 'text?'],
  4: ['message', 'text?'],
  5: ['startedAt', 'time'],
  6: ['finishedAt', 'time'],
  7: ['containerID', 'text?'],
});

const CONTAINER_STATE = message({
  1: ['waiting', 'message', STATE_WAITING],
  2: ['running', 'message', message({ 1: ['startedAt', 'time'] })],
  3: ['terminated', 'message', STATE_TERMINATED],
});

const CONTAINER_STATUS = message({
  1: ['name', 'text'],
  2: ['state', 'message', CONTAINER_STATE],
  3: ['lastState', 'message', CONTAINER_STATE],
  4: ['ready', 'flag'],
  5: ['restartCount', 'number'],
});

const POD_RESOURCE_CLAIM_STATUS = message({
  1: ['name', 'text'],
  2: ['resourceClaimName', 'text'],
});

const POD_STATUS = message({
  1: ['phase', 'text?'],
  2: ['conditions', 'messages', CONDITION],
  3: ['message', 'text?'],
  4: ['reason', 'text?'],
  7: ['startTime', 'time'],
  8: ['containerStatuses', 'messages', CONTAINER_STATUS],
  10: ['initContainerStatuses', 'messages', CONTAINER_STATUS],
  15: ['resourceClaimStatuses', 'messages', POD_RESOURCE_CLAIM_STATUS],
});

export const POD = message({
  1: ['metadata', 'message', OBJECT_META],
  2: ['spec', 'message', POD_SPEC],
  3: ['status', 'message', POD_STATUS],
});
