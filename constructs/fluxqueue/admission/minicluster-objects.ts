/** CEL of the objects that the controller creates for MiniClusters, as far as the objects themselves show it. */
import {
  APPLYING_LABEL,
  ASSIGNMENT_ANNOTATION,
  CERTIFICATE_KEY,
  JOBID_ANNOTATION,
  MINICLUSTER_GROUP,
  MINICLUSTER_LABEL,
  MINICLUSTER_VERSION,
  STACK_NAMESPACE,
} from '../../api/labels';
import { sameExcept, sameMetadata } from './comparison';
import { type GuardSpec, type ResourceRule, resourceRule } from './guard-policy';
import { type AdmissionScopeProps, cel, celList, type MatchCondition } from './scope';
import type { Validation } from './settings';

/** The uid of the MiniCluster that owns an object; admission writes it each time that it has found that MiniCluster. */
export const OWNER_MARK = 'flux-framework.org/minicluster-uid';

export const owners = (object: string) =>
  `${object}.metadata.?ownerReferences.orValue([]).filter(owner, owner.?controller.orValue(false) && ` +
  `owner.kind == "MiniCluster" && owner.apiVersion == ${cel(`${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`)})`;

/** CEL: whether a MiniCluster controls the object. */
export function ownedByMiniCluster(object: string): string {
  return `${owners(object)}.size() == 1`;
}

type Operations = ResourceRule['operations'];

/** @param more operations of Jobs, of Secrets, and of what the controller can delete */
function miniClusterResources(
  write: Operations,
  {
    jobs,
    secrets = [],
    remove = [],
  }: { readonly jobs: Operations; readonly secrets?: Operations; readonly remove?: Operations },
): ResourceRule[] {
  const rule = (group: string, operations: Operations, ...resources: string[]): ResourceRule[] =>
    operations.length === 0 ? [] : [resourceRule(group, operations, ...resources)];
  return [
    ...rule('', write, 'configmaps'),
    ...rule('', [...write, ...remove], 'services'),
    ...rule('apps', write, 'statefulsets'),
    ...rule('apps', [...write, ...remove], 'deployments'),
    ...rule('batch', jobs, 'jobs'),
    ...rule('', secrets, 'secrets'),
  ];
}

const changes = (field: string) => `dyn(object).?spec.?${field} != dyn(oldObject).?spec.?${field}`;
/** CEL: whether an update changes the pods of a workload, or their number. */
export const CHANGES_PODS = `(${['template.?spec', 'parallelism', 'replicas'].map(changes).join(' || ')})`;
/** CEL: whether admission has found the MiniCluster that owns the object. */
export const isMarked = (owner: string) =>
  `object.metadata.?annotations[?${cel(OWNER_MARK)}].orValue("") == ${owner}.uid`;

const KIND = 'request.kind.kind';
/** CEL: whether the request is for an object of one of these kinds. */
export const isKind = (...kinds: readonly string[]) => `${KIND} in ${celList(kinds)}`;
/** Names by kind, as constructs/minicluster/names.ts gives them; users choose those of Services. */
const NAMES = [
  ['ConfigMap', ['-config', '-entrypoint']],
  ['Deployment', ['-services']],
  ['Job', ['']],
  ['Secret', ['-curve']],
  ['StatefulSet', ['']],
] as const;

/** @param bound validations that bind the objects to their MiniCluster */
export function miniClusterObjects(
  props: AdmissionScopeProps,
  byController: MatchCondition,
  bound: readonly Validation[],
): GuardSpec {
  return {
    matchConstraints: {
      resourceRules: miniClusterResources(['CREATE', 'UPDATE'], {
        jobs: ['CREATE'],
        secrets: ['CREATE', 'UPDATE'],
        remove: ['DELETE'],
      }),
    },
    matchConditions: [byController],
    variables: [
      { name: 'subject', expression: 'object == null ? dyn(oldObject) : dyn(object)' },
      { name: 'owners', expression: owners('variables.subject') },
      { name: 'owner', expression: 'variables.owners.size() == 1 ? variables.owners[0].name : ""' },
      { name: 'template', expression: 'object == null ? {} : dyn(object.?spec.?template.orValue({}))' },
      { name: 'pod', expression: 'variables.template.?spec.orValue({})' },
    ],
    validations: [
      ...OWNERSHIP,
      {
        expression: `!(request.namespace in ${celList(['kube-system', props.stackNamespace ?? STACK_NAMESPACE])})`,
        message: 'FLUXQ_RESERVED: the controller can write no objects of MiniClusters in this namespace',
      },
      ...CONTENT,
      ...bound,
    ],
  };
}

const OWNERSHIP: readonly Validation[] = [
  {
    expression: `${KIND} != "Secret" || (variables.subject.type == "Opaque" && variables.owner != "" && variables.subject.?data.orValue({}).all(key, key == ${cel(CERTIFICATE_KEY)}))`,
    message: 'FLUXQ_RESERVED: the controller can only create Secrets with certificates of MiniClusters',
  },
  {
    expression: 'request.operation != "DELETE" || variables.owner != ""',
    message: 'FLUXQ_RESERVED: the controller can only delete objects of MiniClusters',
  },
  {
    expression: 'variables.owner != ""',
    message:
      'FLUXQ_RESERVED: metadata.ownerReferences: the controller can only write objects of a MiniCluster',
  },
  {
    expression: `request.operation != "UPDATE" || ${owners('oldObject')} == variables.owners`,
    message: 'FLUXQ_RESERVED: metadata.ownerReferences: the controller cannot take over an object',
  },
  {
    expression: `object == null || ${isKind('Secret')} || object.metadata.?labels[?${cel(MINICLUSTER_LABEL)}].orValue("") == variables.owner`,
    message: `FLUXQ_RESERVED: metadata.labels["${MINICLUSTER_LABEL}"]: must name the MiniCluster that owns the object`,
  },
];

const CONTENT: readonly Validation[] = [
  {
    expression: NAMES.map(
      ([kind, suffixes]) =>
        `(${KIND} != ${cel(kind)} || ${celList(suffixes)}.exists(suffix, variables.subject.metadata.name == variables.owner + suffix))`,
    ).join(' && '),
    message: 'FLUXQ_RESERVED: metadata.name: must follow from the name of the MiniCluster',
  },
  {
    expression:
      `object == null || ${KIND} != "Service" || (variables.subject.spec.?type.orValue("ClusterIP") == "ClusterIP" && ` +
      'variables.subject.spec.?externalIPs.orValue([]).size() == 0 && ' +
      'variables.subject.spec.?selector.orValue({}).exists(key, variables.subject.spec.selector[key] == variables.owner))',
    message: 'FLUXQ_RESERVED: spec: a Service of a MiniCluster is internal and selects its own pods',
  },
  {
    // A Job with a node or an assignment would pass the queue by.
    expression:
      `!has(variables.pod.nodeName) && ${celList([ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION])}.all(key, ` +
      '!(key in variables.template.?metadata.?annotations.orValue({})))',
    message: 'FLUXQ_RESERVED: spec.template: the controller cannot create a workload that is granted already',
  },
  {
    expression: `object == null || ${KIND} != "StatefulSet" || !has(variables.subject.spec.volumeClaimTemplates)`,
    message: 'FLUXQ_RESERVED: spec.volumeClaimTemplates: MiniClusters have none',
  },
];

export const UNKNOWN_OWNER =
  'FLUXQ_MINICLUSTER_UNKNOWN: metadata.ownerReferences: this namespace has no such MiniCluster that is being applied';

/** Admission has found the MiniCluster that owns the object, and it asks for what the object has. */
export const MARKED: Validation = {
  expression:
    `object == null || ${isKind('Secret')} || (oldObject != null && !${CHANGES_PODS}) || ` +
    isMarked('variables.owners[0]'),
  message: UNKNOWN_OWNER,
};

/** The controller deletes a MiniCluster only if its spec asks for that, and changes only the label that it sets for a write. */
export function miniClusterChanges(byController: MatchCondition): GuardSpec {
  return {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: [MINICLUSTER_GROUP],
          apiVersions: ['*'],
          operations: ['UPDATE', 'DELETE'],
          resources: ['miniclusters'],
        },
      ],
    },
    matchConditions: [byController],
    validations: [
      {
        expression: 'request.operation != "DELETE" || oldObject.spec.?cleanup.orValue(false) == true',
        message: 'FLUXQ_RESERVED: spec.cleanup: the controller can only delete MiniClusters that ask for it',
      },
      {
        expression:
          'object == null || (object.spec == oldObject.spec && ' +
          `${sameMetadata('annotations', 'ownerReferences', 'finalizers')} && ` +
          `${sameExcept(labels('object'), labels('oldObject'), [APPLYING_LABEL])})`,
        message: `FLUXQ_RESERVED: the controller can only change the label ${APPLYING_LABEL} of a MiniCluster`,
      },
    ],
  };
}

const labels = (object: string) => `dyn(${object}.metadata.?labels.orValue({}))`;
