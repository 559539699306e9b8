/** The fields of Kubernetes that settings of pods have, with the kinds of their values: cdk8s-plus leaves out what it does not know. */
import type { k8s } from 'cdk8s-plus-28';
import { group, type PropRules, type Rule, required, rule } from '../../api/prop-rules';
import { anyText, envName, fields, flag, labels, listOf, quantity, text, whole } from '../../api/rules';

function fieldsOf<Fields extends object>(rules: PropRules<Fields>): Rule<'object'> {
  const known = group(rules, { unknown: 'is not a field of it in Kubernetes' });
  return rule('object', (value) => [fields(value), known(value)].find((wrong) => wrong.length > 0) ?? []);
}

const KEY_OF: PropRules<k8s.SecretKeySelector & k8s.ConfigMapKeySelector> = {
  key: required(text),
  name: text,
  optional: flag,
};
const ENV_SOURCE: PropRules<k8s.EnvVarSource> = {
  configMapKeyRef: fieldsOf(KEY_OF),
  fieldRef: fieldsOf<k8s.ObjectFieldSelector>({ apiVersion: text, fieldPath: required(text) }),
  resourceFieldRef: fieldsOf<k8s.ResourceFieldSelector>({
    containerName: text,
    divisor: quantity,
    resource: required(text),
  }),
  secretKeyRef: fieldsOf(KEY_OF),
};
export const envVar = fieldsOf<k8s.EnvVar>({
  name: required(envName),
  value: anyText,
  valueFrom: fieldsOf(ENV_SOURCE),
});

const seLinuxOptions = fieldsOf<k8s.SeLinuxOptions>({
  level: anyText,
  role: anyText,
  type: anyText,
  user: anyText,
});
const seccompProfile = fieldsOf<k8s.SeccompProfile>({ localhostProfile: text, type: required(text) });
const windowsOptions = fieldsOf<k8s.WindowsSecurityContextOptions>({
  gmsaCredentialSpec: text,
  gmsaCredentialSpecName: text,
  hostProcess: flag,
  runAsUserName: text,
});
export const securityContext = fieldsOf<k8s.SecurityContext>({
  allowPrivilegeEscalation: flag,
  capabilities: fieldsOf<k8s.Capabilities>({ add: listOf(text), drop: listOf(text) }),
  privileged: flag,
  procMount: text,
  readOnlyRootFilesystem: flag,
  runAsGroup: whole,
  runAsNonRoot: flag,
  runAsUser: whole,
  seLinuxOptions,
  seccompProfile,
  windowsOptions,
});
export const podSecurityContext = fieldsOf<k8s.PodSecurityContext>({
  fsGroup: whole,
  fsGroupChangePolicy: text,
  runAsGroup: whole,
  runAsNonRoot: flag,
  runAsUser: whole,
  seLinuxOptions,
  seccompProfile,
  supplementalGroups: listOf(whole),
  sysctls: listOf(fieldsOf<k8s.Sysctl>({ name: required(text), value: required(anyText) })),
  windowsOptions,
});

export const toleration = fieldsOf<k8s.Toleration>({
  effect: anyText,
  key: anyText,
  operator: anyText,
  tolerationSeconds: whole,
  value: anyText,
});

/** Of a selector of labels, or of nodes. */
const requirement = fieldsOf<k8s.LabelSelectorRequirement & k8s.NodeSelectorRequirement>({
  key: required(text),
  operator: required(text),
  values: listOf(anyText),
});
const labelSelector = fieldsOf<k8s.LabelSelector>({
  matchExpressions: listOf(requirement),
  matchLabels: labels,
});
export const topologySpread = fieldsOf<k8s.TopologySpreadConstraint>({
  labelSelector,
  matchLabelKeys: listOf(text),
  maxSkew: required(whole),
  minDomains: whole,
  nodeAffinityPolicy: text,
  nodeTaintsPolicy: text,
  topologyKey: required(text),
  whenUnsatisfiable: required(text),
});

const nodeTerm = fieldsOf<k8s.NodeSelectorTerm>({
  matchExpressions: listOf(requirement),
  matchFields: listOf(requirement),
});
const nodeAffinity = fieldsOf<k8s.NodeAffinity>({
  preferredDuringSchedulingIgnoredDuringExecution: listOf(
    fieldsOf<k8s.PreferredSchedulingTerm>({ preference: required(nodeTerm), weight: required(whole) }),
  ),
  requiredDuringSchedulingIgnoredDuringExecution: fieldsOf<k8s.NodeSelector>({
    nodeSelectorTerms: required(listOf(nodeTerm)),
  }),
});
const podTerm = fieldsOf<k8s.PodAffinityTerm>({
  labelSelector,
  namespaceSelector: labelSelector,
  namespaces: listOf(text),
  topologyKey: required(text),
});
const podAffinity = fieldsOf<k8s.PodAffinity & k8s.PodAntiAffinity>({
  preferredDuringSchedulingIgnoredDuringExecution: listOf(
    fieldsOf<k8s.WeightedPodAffinityTerm>({ podAffinityTerm: required(podTerm), weight: required(whole) }),
  ),
  requiredDuringSchedulingIgnoredDuringExecution: listOf(podTerm),
});
export const affinity = fieldsOf<k8s.Affinity>({
  nodeAffinity,
  podAffinity,
  podAntiAffinity: podAffinity,
});
