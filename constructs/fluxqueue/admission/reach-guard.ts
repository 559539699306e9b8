/**
 * CEL that refuses what reaches beyond the namespace of a user without a right to it: priorities, which order the workloads of all
 * namespaces, rules that keep pods of other namespaces from nodes, and pods beside the queue on every node. A controller creates
 * Jobs and pods for the user of another object, so the objects that users write are checked: Jobs, pods, templates of both, and
 * MiniClusters.
 */
import { Construct } from 'constructs';
import { MINICLUSTER_GROUP, PRIORITY } from '../../api/labels';
import { PRIORITIZE, PRIORITIZE_ROLE, PRIORITY_CODE, USE_CLASS, USER_PRIORITIES } from '../../api/priorities';
import type { Range } from '../../api/queue-defaults';
import { SETTING_SYNTAX } from '../../api/settings';
import { addGuard, resourceRule } from './guard-policy';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  cel,
  isOfJudgedOwner,
  isOfUnjudgedOwner,
  namespaceIsEnabled,
  namespaceSelector,
  notExcluded,
} from './scope';
import { isNew, textOf, type Validation } from './settings';

export interface ReachGuardProps extends AdmissionScopeProps, ControllerUserProps {
  /** Priorities that every user may set. @default -100 to 0 */
  readonly userPriorities?: Range;
}

/** Where objects of one kind have what reaches further; each expression is CEL below `object` or `oldObject`. */
interface Kind {
  readonly id: string;
  readonly apiGroups: readonly string[];
  readonly apiVersion: string;
  readonly resources: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  /** Texts of priorities; "" for none. Those in the metadata of Jobs and pods are settings, see {@link priorityRight}. */
  readonly priorities: readonly ((object: string) => string)[];
  /** Fields from the object to the spec of its pods. */
  readonly podSpec: readonly string[];
  /** Whether the spec of its pods has affinities, which that of a MiniCluster has not. @default true */
  readonly hasAffinity?: boolean;
}

const entry = (map: string) => `${map}[?${cel(PRIORITY)}].orValue("")`;
/** The annotation takes precedence over the label. */
const ofMetadata = (path: string) => (object: string) =>
  `${object}.${path}.?annotations[?${cel(PRIORITY)}].orValue(${entry(`${object}.${path}.?labels`)})`;
const inPodSpec = ({ podSpec: [first, ...rest] }: Kind, object: string) =>
  [object, first, ...rest.map((field) => `?${field}`)].join('.');
const classOf = (kind: Kind) => (object: string) =>
  `${inPodSpec(kind, object)}.?priorityClassName.orValue("")`;
const inMap = (path: string) => (object: string) => entry(`${object}.${path}`);

const WRITES = ['CREATE', 'UPDATE'] as const;
const TEMPLATE = {
  apiVersion: 'v1',
  operations: WRITES,
  priorities: [ofMetadata('spec.?template.?metadata')],
  podSpec: ['spec', 'template', 'spec'],
};

const KINDS: readonly Kind[] = [
  {
    ...TEMPLATE,
    id: 'job-reach',
    apiGroups: ['batch'],
    resources: ['jobs'],
  },
  {
    id: 'pod-reach',
    apiGroups: [''],
    apiVersion: 'v1',
    resources: ['pods'],
    operations: ['CREATE'],
    priorities: [],
    podSpec: ['spec'],
  },
  {
    ...TEMPLATE,
    id: 'app-reach',
    apiGroups: ['apps', ''],
    resources: ['deployments', 'replicasets', 'statefulsets', 'replicationcontrollers'],
  },
  {
    id: 'cronjob-reach',
    apiGroups: ['batch'],
    apiVersion: 'v1',
    resources: ['cronjobs'],
    operations: WRITES,
    priorities: [
      ofMetadata('spec.jobTemplate.?metadata'),
      ofMetadata('spec.jobTemplate.?spec.?template.?metadata'),
    ],
    podSpec: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
  },
  {
    id: 'minicluster-reach',
    apiGroups: [MINICLUSTER_GROUP],
    apiVersion: '*',
    resources: ['miniclusters'],
    operations: WRITES,
    priorities: [
      (object) => `(has(${object}.spec.priority) ? string(${object}.spec.priority) : "")`,
      inMap('spec.?jobLabels'),
      inMap('spec.?pod.?labels'),
      inMap('spec.?pod.?annotations'),
    ],
    podSpec: ['spec', 'pod'],
    hasAffinity: false,
  },
];

/** Applies in both forms of admission: the webhook asks nobody, and the apiserver knows the rights of the user. */
export class ReachGuard extends Construct {
  constructor(scope: Construct, id: string, props: ReachGuardProps = {}) {
    super(scope, id);
    for (const kind of KINDS) this.addKind(kind, props);
    this.addDaemonSets(props);
  }

  private addKind(kind: Kind, props: ReachGuardProps): void {
    const { id, apiGroups, apiVersion, resources, operations, priorities, hasAffinity = true } = kind;
    const className = classOf(kind);
    // A priority that is written into a template before its namespace is one of the queue would stay there after it. Users of operators
    // would not be told there.
    const isEarly = priorities.length > 0;
    const isEnabled = `(${namespaceIsEnabled(props)})`;
    const inQueue = (validation: Validation) => (isEarly ? where(isEnabled, validation) : validation);
    // Conditions see no namespace.
    const hasNew = [...[...priorities, className].map(newText), ...(hasAffinity ? [hasNewTerm(kind)] : [])];
    addGuard(this, id, props, {
      // CEL cannot look up the value of a class, so the policy is evaluated with each of them.
      params: { kind: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' } },
      matchConstraints: {
        namespaceSelector: isEarly ? notExcluded(props) : namespaceSelector(props),
        resourceRules: [{ apiGroups, apiVersions: [apiVersion], operations, resources }],
      },
      matchConditions: [
        {
          name: 'reaches-further',
          expression: hasNew.join(' || '),
        },
        { name: 'by-a-user', expression: `!${isOfJudgedOwner(props)}` },
      ],
      variables: [{ name: 'class', expression: className('object') }],
      validations: [
        ...(isEarly
          ? [where(`(${isEnabled} || !${isOfUnjudgedOwner(props)})`, templatePriorities(kind, props))]
          : []),
        inQueue(classValidation(props)),
        ...(hasAffinity ? [inQueue(termValidation(kind, props))] : []),
      ],
    });
  }

  /** Its pods run beside the queue, with the priority that it gives them. Controllers write the metadata of one. */
  private addDaemonSets(props: ReachGuardProps): void {
    addGuard(this, 'daemonset-reach', props, {
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: [resourceRule('apps', WRITES, 'daemonsets')],
      },
      matchConditions: [
        { name: 'changes-the-spec', expression: 'oldObject == null || object.spec != oldObject.spec' },
      ],
      validations: [
        {
          expression: mayCreateEverywhere('apps', 'daemonsets'),
          message:
            'FLUXQ_REACH: kind: its pods would run on every node beside the queue (got "DaemonSet"); use a Deployment, or ask an ' +
            'administrator with the right to create DaemonSets in the whole cluster',
        },
      ],
    });
  }
}

/** @param applies CEL: whether the rule does */
const where = (applies: string, validation: Validation): Validation => ({
  ...validation,
  expression: `!${applies} || ${validation.expression}`,
});

/** CEL: whether the user may create such objects in every namespace. */
function mayCreateEverywhere(group: string, resource: string): string {
  return `authorizer.group(${cel(group)}).resource(${cel(resource)}).check("create").allowed()`;
}

/**
 * CEL: terms of a pod spec that keep pods of other namespaces from nodes for as long as a pod with them runs. A required affinity,
 * and preferences, keep nobody from a node.
 */
export function termsBeyond(podSpec: string): string {
  return (
    `${podSpec}.?affinity.?podAntiAffinity.?requiredDuringSchedulingIgnoredDuringExecution.orValue([])` +
    '.filter(term, has(term.namespaceSelector) || term.?namespaces.orValue([]).exists(name, name != request.namespace))'
  );
}

/** Why such a term is refused. */
export const BEYOND_PROBLEM =
  'a required term would keep pods of other namespaces from nodes; remove its namespaces and namespaceSelector';

function hasNewTerm(kind: Kind): string {
  const [now, old] = ['object', 'oldObject'].map((object) => termsBeyond(inPodSpec(kind, object)));
  return `${now}.exists(term, oldObject == null || !(term in ${old}))`;
}

function termValidation(kind: Kind, props: ReachGuardProps): Validation {
  return {
    expression: `!${hasNewTerm(kind)} || (!${isOfUnjudgedOwner(props)} && ${mayCreateEverywhere('', 'pods')})`,
    message:
      `FLUXQ_REACH: ${kind.podSpec.join('.')}.affinity.podAntiAffinity: ${BEYOND_PROBLEM}, ` +
      'or ask an administrator with the right to create Pods in the whole cluster',
  };
}

function newText(text: (object: string) => string): string {
  return `(${text('object')} != "" && (oldObject == null || ${text('object')} != ${text('oldObject')}))`;
}

function listOf({ priorities }: Kind, object: string): string {
  return `[${priorities.map((text) => text(object)).join(', ')}]`;
}

function templatePriorities(kind: Kind, props: ReachGuardProps): Validation {
  const before = `(oldObject == null ? [] : ${listOf(kind, 'oldObject')})`;
  return priorityValidation(`${listOf(kind, 'object')}.all(p, p in ${before} || ${isFree(props)})`, props);
}

/** The rule for Jobs and pods. It needs the variables of settings. */
export function priorityRight(props: ReachGuardProps): Validation {
  const text = `[${textOf(PRIORITY)}].all(p, !${isNew(PRIORITY, 'p')} || ${isFree(props)})`;
  return priorityValidation(`${text} || ${isOfJudgedOwner(props)}`, props);
}

/** CEL: whether the user may set this text. */
export function mayHavePriority(text: string, props: ReachGuardProps): string {
  return priorityValidation(`[${text}].all(p, ${isFree(props)})`, props).expression;
}

/** CEL: whether every user may set the text `p`. A text that is no number is refused elsewhere. */
export function isFree({ userPriorities: { min, max } = USER_PRIORITIES }: ReachGuardProps): string {
  return `!p.matches(${cel(SETTING_SYNTAX[PRIORITY].pattern)}) || (int(p) >= ${min} && int(p) <= ${max})`;
}

function priorityValidation(allowed: string, props: ReachGuardProps): Validation {
  const { min, max } = props.userPriorities ?? USER_PRIORITIES;
  const { group, resource, verb } = PRIORITIZE;
  return {
    expression:
      `${allowed} || (!${isOfUnjudgedOwner(props)} && authorizer.group(${cel(group)}).resource(${cel(resource)})` +
      `.namespace(request.namespace).check(${cel(verb)}).allowed())`,
    message:
      `${PRIORITY_CODE}: ${PRIORITY}: must be from ${min} to ${max}; ask an administrator for ` +
      `the ClusterRole ${PRIORITIZE_ROLE} in this namespace`,
  };
}

function classValidation(props: ReachGuardProps): Validation {
  const { max } = props.userPriorities ?? USER_PRIORITIES;
  const { group, resource, verb } = USE_CLASS;
  return {
    expression:
      `params.metadata.name != variables.class || params.value <= ${max} || params.?globalDefault.orValue(false) || ` +
      `(!${isOfUnjudgedOwner(props)} && authorizer.group(${cel(group)}).resource(${cel(resource)}).name(variables.class).check(${cel(verb)}).allowed())`,
    message:
      `${PRIORITY_CODE}: priorityClassName: this PriorityClass is not for every user, because its value is more than ` +
      `${max}; ask an administrator for the verb ${verb} on it`,
  };
}
