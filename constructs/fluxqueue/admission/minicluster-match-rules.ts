/**
 * CEL that compares the pods and Services of a MiniCluster with its spec, which is `params`: whatever gives a pod access to
 * something (images, Secrets, volumes, accounts, the node) must be in the spec. The content of ConfigMaps and commands is
 * not compared, because it is rendered text.
 */
import { REPORT_AUDIENCE } from '../../api/labels';
import { cel, celList, type Variable } from './scope';
import type { Validation } from './settings';

/** CEL: a field of the pod is unset, one of these values, or the same as in the spec. */
const likeSpec = (field: string, ...harmless: readonly string[]) =>
  `!has(variables.pod.${field}) || variables.pod.${field} in [${harmless.map(cel).join(', ')}] || ` +
  `variables.pod.${field} == variables.wanted.?${field}.orValue("")`;
const unlessWanted = (field: string, otherwise: string) =>
  `(!variables.pod.?${field}.orValue(${otherwise}) || variables.wanted.?${field}.orValue(false))`;
/** CEL: a container of the spec mounts a volume with this value. */
const mounts = (field: string, value: string) =>
  `variables.sources.exists(source, source.?volumes.orValue({}).exists(key, source.volumes[key].?${field}.orValue("") == ${value}))`;

export const SOURCE_VARIABLES: readonly Variable[] = [
  { name: 'spec', expression: 'dyn(params.spec)' },
  { name: 'wanted', expression: 'variables.spec.?pod.orValue({})' },
  { name: 'view', expression: 'variables.spec.?flux.?container.orValue({})' },
  {
    name: 'sources',
    expression: 'variables.spec.containers + variables.spec.?services.orValue([]) + [variables.view]',
  },
  { name: 'name', expression: 'params.metadata.name' },
  { name: 'pod', expression: 'dyn(object.spec.?template.?spec.orValue({}))' },
  {
    name: 'containers',
    expression: 'variables.pod.?containers.orValue([]) + variables.pod.?initContainers.orValue([])',
  },
  {
    name: 'secrets',
    expression:
      '[dyn(variables.name + "-curve"), variables.spec.?flux.?curveCertSecret.orValue(""), variables.spec.?flux.?mungeSecret.orValue("")]',
  },
];

const differs = (field: string, problem: string) =>
  `FLUXQ_MINICLUSTER_DIFFERS: spec.template.spec.${field}: ${problem} that the MiniCluster does not have`;

const VOLUME_KINDS = [
  'has(volume.emptyDir)',
  'has(volume.projected) && volume.projected.sources.all(part, has(part.configMap) && ' +
    'part.configMap.name in [variables.name + "-config", variables.name + "-entrypoint"])',
  // Its audience makes the token good for nothing but reports.
  'has(volume.projected) && variables.spec.?flux.?report.orValue(false) && ' +
    'volume.projected.sources.all(part, has(part.serviceAccountToken) && ' +
    `part.serviceAccountToken.?audience.orValue("") == ${cel(REPORT_AUDIENCE)})`,
  `has(volume.secret) && (volume.secret.secretName in variables.secrets || ${mounts('secretName', 'volume.secret.secretName')})`,
  `has(volume.configMap) && ${mounts('configMapName', 'volume.configMap.name')}`,
  `has(volume.persistentVolumeClaim) && ${mounts('claimName', 'volume.persistentVolumeClaim.claimName')}`,
  `has(volume.hostPath) && ${mounts('hostPath', 'volume.hostPath.path')}`,
  `has(volume.nfs) && ${mounts('nfsServer', 'volume.nfs.server')} && ${mounts('nfsPath', 'volume.nfs.path')}`,
  `has(volume.csi) && ${mounts('csiDriver', 'volume.csi.driver')} && ` +
    `(!has(volume.csi.nodePublishSecretRef) || ${mounts('csiDriverSecretName', 'volume.csi.nodePublishSecretRef.name')})`,
];

/** Values of pod.restricted, and of fields that Kubernetes sets. */
const HARMLESS_POD_CONTEXT = ['fsGroup', 'runAsGroup', 'runAsNonRoot', 'runAsUser', 'seccompProfile'];
const HARMLESS_CONTEXT =
  '(key == "allowPrivilegeEscalation" && !container.securityContext[key]) || ' +
  '(key == "readOnlyRootFilesystem" && container.securityContext[key]) || ' +
  '(key == "capabilities" && !has(container.securityContext.capabilities.add))';

const SECRET_NAME = 'variable.valueFrom.secretKeyRef.name';

export const POD_MATCH: readonly Validation[] = [
  {
    expression:
      'variables.containers.all(container, variables.sources.exists(source, source.?image.orValue("") == container.image))',
    message: differs('containers', 'an image'),
  },
  {
    expression: ['hostNetwork', 'hostPID', 'hostIPC']
      .map((field) => unlessWanted(field, 'false'))
      .concat(
        'variables.containers.all(container, container.?ports.orValue([]).all(port, port.?hostPort.orValue(0) == 0 || ' +
          'variables.wanted.?hostNetwork.orValue(false)))',
      )
      .join(' && '),
    message: differs('hostNetwork', 'access to the node'),
  },
  {
    // The older name of the field gets the same value from the apiserver.
    expression:
      `(${likeSpec('serviceAccountName', '')}) && ` +
      '(!has(variables.pod.serviceAccount) || variables.pod.serviceAccount == variables.pod.?serviceAccountName.orValue("")) && ' +
      unlessWanted('automountServiceAccountToken', 'true'),
    message: differs('serviceAccountName', 'a ServiceAccount'),
  },
  {
    expression: ['priorityClassName', 'runtimeClassName']
      .map((field) => `(${likeSpec(field, '')})`)
      .concat(`(${likeSpec('schedulerName', 'default-scheduler')})`)
      .concat(
        ...['tolerations', 'resourceClaims'].map(
          (field) =>
            `variables.pod.?${field}.orValue([]).all(one, one in variables.wanted.?${field}.orValue([]))`,
        ),
      )
      .join(' && '),
    message: differs('tolerations', 'a class, scheduler, toleration or claim'),
  },
  {
    expression: `variables.pod.?volumes.orValue([]).all(volume, ${VOLUME_KINDS.map((one) => `(${one})`).join(' || ')})`,
    message: differs('volumes', 'a volume'),
  },
  {
    expression:
      'variables.pod.?securityContext.orValue({}).all(key, ' +
      'variables.wanted.?securityContext[?key] == optional.of(variables.pod.securityContext[key]) || ' +
      `(variables.wanted.?restricted.orValue(false) && key in ${celList(HARMLESS_POD_CONTEXT)} && ` +
      'variables.pod.securityContext[key] in [dyn(1000), dyn(true), dyn({"type": "RuntimeDefault"})]))',
    message: differs('securityContext', 'a setting'),
  },
  {
    expression:
      'variables.containers.all(container, container.?securityContext.orValue({}).all(key, ' +
      'variables.sources.exists(source, source.?image.orValue("") == container.image && ' +
      'source.?securityContext[?key] == optional.of(container.securityContext[key])) || ' +
      `${HARMLESS_CONTEXT}))`,
    message: differs('containers', 'a securityContext'),
  },
  {
    expression:
      'variables.containers.all(container, container.?env.orValue([]).all(variable, ' +
      '!has(variable.valueFrom) || !has(variable.valueFrom.secretKeyRef) || variables.sources.exists(source, ' +
      `source.?secrets.orValue({}).exists(key, source.secrets[key].name == ${SECRET_NAME}) || ` +
      `source.?env.orValue([]).exists(own, own.?valueFrom.?secretKeyRef.?name.orValue("") == ${SECRET_NAME}))))`,
    message: differs('containers', 'a variable from a Secret'),
  },
  {
    expression:
      'variables.containers.all(container, container.?envFrom.orValue([]).all(all, !has(all.secretRef) || ' +
      'variables.sources.exists(source, source.?envFrom.orValue([]).exists(own, own.?secretRef.?name.orValue("") == all.secretRef.name)))) && ' +
      'variables.pod.?imagePullSecrets.orValue([]).all(secret, variables.sources.exists(source, ' +
      'source.?imagePullSecret.orValue("") == secret.name))',
    message: differs('containers', 'a Secret'),
  },
  {
    expression:
      'dyn(object).spec.?parallelism.orValue(dyn(object).spec.?replicas.orValue(1)) <= ' +
      '(variables.spec.?maxSize.orValue(0) > variables.spec.size ? variables.spec.maxSize : variables.spec.size)',
    message: 'FLUXQ_MINICLUSTER_DIFFERS: spec: has more pods than the MiniCluster',
  },
];

export const SERVICE_MATCH: readonly Validation[] = [
  {
    expression:
      'object.metadata.name == variables.spec.?network.?headlessName.orValue(variables.name) || ' +
      'variables.sources.exists(source, object.metadata.name == source.?serviceName.orValue(' +
      'variables.name + "-" + source.?name.orValue("")))',
    message: 'FLUXQ_MINICLUSTER_DIFFERS: metadata.name: is no Service of the MiniCluster',
  },
];
