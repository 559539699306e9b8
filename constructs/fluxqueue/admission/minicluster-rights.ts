import { Construct } from 'constructs';
import { QUEUE_KEYS } from '../../api/known-keys';
import { APPLYING_LABEL, MINICLUSTER_GROUP } from '../../api/labels';
import { addGuard } from './guard-policy';
import { miniClusterOfKueue } from './kueue';
import { type AdmissionScopeProps, type ControllerUserProps, cel, celList, notTheController } from './scope';
import type { Validation } from './settings';

/** CEL: whether the user may create these objects in the namespace of the request. */
const mayCreate = (group: string, resource: string) =>
  `authorizer.group(${cel(group)}).resource(${cel(resource)}).namespace(request.namespace).check("create").allowed()`;

function needed(when: string, group: string, resource: string): Validation {
  const name = group === '' ? resource : `${resource}.${group}`;
  return {
    expression: `!(${when}) || ${mayCreate(group, resource)}`,
    message: `FLUXQ_RIGHTS: spec: a MiniCluster creates ${name}, which you cannot create in this namespace; ask for that right`,
  };
}

const LABEL = (object: string) => `${object}.metadata.?labels[?${cel(APPLYING_LABEL)}].orValue("")`;
/** Maps that reach the Jobs and pods of a MiniCluster. */
const POD_METADATA = ['jobLabels', 'pod.?labels', 'pod.?annotations'];
const IS_SET = 'variables.spec.?workload.orValue("Job") == "StatefulSet"';
const HAS_SERVICES = 'variables.spec.?services.orValue([]).size() > 0';

/** Pod Security of the namespace refuses the pods too; here their user sees it at once, and no Job waits for its pods. */
const NOT_PRIVILEGED =
  '["hostNetwork", "hostPID", "hostIPC"].all(key, !variables.pod[?key].orValue(false)) && ' +
  'variables.containers.all(container, ' +
  '!container.?volumes.orValue({}).exists(key, has(container.volumes[key].hostPath)) && ' +
  '!container.?securityContext.?privileged.orValue(false) && ' +
  `container.?securityContext.?capabilities.?add.orValue([]).all(one, one in ${celList([
    ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
    ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
  ])}))`;
const MAY_BE_RESTRICTED =
  'variables.containers.all(container, container.?securityContext.?allowPrivilegeEscalation.orValue(!variables.hardened) == false && ' +
  'container.?securityContext.?runAsUser.orValue(1) != 0)';

/**
 * A MiniCluster gives its user no right that the user lacks: the controller creates its objects, so the one who writes the
 * spec must have the right to create each of them. Whoever may create Jobs may run any pod that the namespace allows; what
 * it does not allow is refused for the MiniCluster too.
 */
export class MiniClusterRights extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionScopeProps & ControllerUserProps) {
    super(scope, id);
    addGuard(this, 'minicluster-rights', props, {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [MINICLUSTER_GROUP],
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['miniclusters'],
          },
        ],
      },
      matchConditions: [
        {
          name: 'changes-the-spec',
          expression: `oldObject == null || object.spec != oldObject.spec || ${LABEL('object')} != ${LABEL('oldObject')}`,
        },
        notTheController(props),
      ],
      variables: [
        { name: 'spec', expression: 'dyn(object.spec)' },
        { name: 'pod', expression: 'variables.spec.?pod.orValue({})' },
        { name: 'hardened', expression: 'variables.pod.?restricted.orValue(false)' },
        {
          name: 'containers',
          expression:
            'variables.spec.containers + variables.spec.?services.orValue([]) + ' +
            '[variables.spec.?flux.?container.orValue({})].filter(view, !view.?disable.orValue(false))',
        },
        {
          name: 'level',
          expression:
            'namespaceObject.metadata.?labels[?"pod-security.kubernetes.io/enforce"].orValue("privileged")',
        },
      ],
      validations: [
        {
          expression: POD_METADATA.map(
            (map) => `!variables.spec.?${map}.orValue({}).exists(key, key in ${celList(QUEUE_KEYS)})`,
          ).join(' && '),
          message: `FLUXQ_RESERVED: spec.pod: ${QUEUE_KEYS.join(', ')} can only be set by the queue; remove them`,
        },
        {
          expression: `${LABEL('object')} == "" || (oldObject != null && ${LABEL('object')} == ${LABEL('oldObject')})`,
          message: `FLUXQ_RESERVED: metadata.labels["${APPLYING_LABEL}"]: can only be set by the controller; remove it`,
        },
        miniClusterOfKueue(props),
        needed(`!(${IS_SET})`, 'batch', 'jobs'),
        needed(IS_SET, 'apps', 'statefulsets'),
        needed(HAS_SERVICES, 'apps', 'deployments'),
        needed('true', '', 'services'),
        needed('true', '', 'configmaps'),
        {
          expression: `variables.level == "privileged" || (${NOT_PRIVILEGED})`,
          message:
            'FLUXQ_RIGHTS: spec: Pod Security of this namespace refuses access to the node (host namespaces, hostPath, privileged, capabilities); remove it',
        },
        {
          expression: `variables.level != "restricted" || (${MAY_BE_RESTRICTED})`,
          message:
            'FLUXQ_RIGHTS: spec: Pod Security of this namespace is restricted; set spec.pod.restricted: true and remove what contradicts it',
        },
      ],
    });
  }
}
