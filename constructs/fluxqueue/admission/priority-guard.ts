/**
 * CEL that refuses priorities to which a user has no right. A controller creates Jobs and pods for the user of another
 * object, so the objects that users write are checked: Jobs, pods, templates of both, and MiniClusters.
 */
import { Construct } from 'constructs';
import { MINICLUSTER_GROUP, PRIORITY } from '../../api/labels';
import { PRIORITIZE, PRIORITIZE_ROLE, PRIORITY_CODE, USE_CLASS, USER_PRIORITIES } from '../../api/priorities';
import type { Range } from '../../api/queue-defaults';
import { SETTING_SYNTAX } from '../../api/settings';
import { addGuard } from './guard-policy';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  cel,
  isOfJudgedOwner,
  isOfUnjudgedOwner,
  namespaceSelector,
} from './scope';
import { isNew, textOf, type Validation } from './settings';

export interface PriorityGuardProps extends AdmissionScopeProps, ControllerUserProps {
  /** Priorities that every user may set. @default -100 to 0 */
  readonly userPriorities?: Range;
}

/** Where objects of one kind have priorities; each expression is CEL below `object` or `oldObject`. */
interface Kind {
  readonly id: string;
  readonly apiGroups: readonly string[];
  readonly apiVersion: string;
  readonly resources: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  /** Texts of priorities; "" for none. Those in the metadata of Jobs and pods are settings, see {@link priorityRight}. */
  readonly priorities: readonly ((object: string) => string)[];
  readonly className: (object: string) => string;
}

const entry = (map: string) => `${map}[?${cel(PRIORITY)}].orValue("")`;
/** The annotation takes precedence over the label. */
const ofMetadata = (path: string) => (object: string) =>
  `${object}.${path}.?annotations[?${cel(PRIORITY)}].orValue(${entry(`${object}.${path}.?labels`)})`;
const classOf = (path: string) => (object: string) => `${object}.${path}.?priorityClassName.orValue("")`;
const inMap = (path: string) => (object: string) => entry(`${object}.${path}`);

const WRITES = ['CREATE', 'UPDATE'] as const;
const TEMPLATE = {
  apiVersion: 'v1',
  operations: WRITES,
  priorities: [ofMetadata('spec.?template.?metadata')],
  className: classOf('spec.?template.?spec'),
};

const KINDS: readonly Kind[] = [
  {
    ...TEMPLATE,
    id: 'job-priority',
    apiGroups: ['batch'],
    resources: ['jobs'],
  },
  {
    id: 'pod-priority',
    apiGroups: [''],
    apiVersion: 'v1',
    resources: ['pods'],
    operations: ['CREATE'],
    priorities: [],
    className: classOf('spec'),
  },
  {
    ...TEMPLATE,
    id: 'app-priority',
    apiGroups: ['apps', ''],
    resources: ['deployments', 'replicasets', 'statefulsets', 'replicationcontrollers'],
  },
  {
    id: 'cronjob-priority',
    apiGroups: ['batch'],
    apiVersion: 'v1',
    resources: ['cronjobs'],
    operations: WRITES,
    priorities: [
      ofMetadata('spec.jobTemplate.?metadata'),
      ofMetadata('spec.jobTemplate.?spec.?template.?metadata'),
    ],
    className: classOf('spec.jobTemplate.?spec.?template.?spec'),
  },
  {
    id: 'minicluster-priority',
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
    className: classOf('spec.?pod'),
  },
];

/** Applies in both forms of admission: the webhook asks nobody, and the apiserver knows the rights of the user. */
export class PriorityGuard extends Construct {
  constructor(scope: Construct, id: string, props: PriorityGuardProps = {}) {
    super(scope, id);
    for (const kind of KINDS) this.addKind(kind, props);
  }

  private addKind(kind: Kind, props: PriorityGuardProps): void {
    const { id, apiGroups, apiVersion, resources, operations, priorities } = kind;
    const hasNew = [...priorities, kind.className].map(newText).join(' || ');
    addGuard(this, id, props, {
      // CEL cannot look up the value of a class, so the policy is evaluated with each of them.
      params: { kind: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' } },
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: [{ apiGroups, apiVersions: [apiVersion], operations, resources }],
      },
      matchConditions: [
        { name: 'has-a-new-priority', expression: hasNew },
        { name: 'by-a-user', expression: `!${isOfJudgedOwner(props)}` },
      ],
      variables: [{ name: 'class', expression: kind.className('object') }],
      validations: [
        ...(priorities.length === 0 ? [] : [templatePriorities(kind, props)]),
        classValidation(props),
      ],
    });
  }
}

function newText(text: (object: string) => string): string {
  return `(${text('object')} != "" && (oldObject == null || ${text('object')} != ${text('oldObject')}))`;
}

function listOf({ priorities }: Kind, object: string): string {
  return `[${priorities.map((text) => text(object)).join(', ')}]`;
}

function templatePriorities(kind: Kind, props: PriorityGuardProps): Validation {
  const before = `(oldObject == null ? [] : ${listOf(kind, 'oldObject')})`;
  return priorityValidation(`${listOf(kind, 'object')}.all(p, p in ${before} || ${isFree(props)})`, props);
}

/** The rule for Jobs and pods. It needs the variables of settings. */
export function priorityRight(props: PriorityGuardProps): Validation {
  const text = `[${textOf(PRIORITY)}].all(p, !${isNew(PRIORITY, 'p')} || ${isFree(props)})`;
  return priorityValidation(`${text} || ${isOfJudgedOwner(props)}`, props);
}

/** CEL: whether every user may set the text `p`. A text that is no number is refused elsewhere. */
function isFree({ userPriorities: { min, max } = USER_PRIORITIES }: PriorityGuardProps): string {
  return `!p.matches(${cel(SETTING_SYNTAX[PRIORITY].pattern)}) || (int(p) >= ${min} && int(p) <= ${max})`;
}

function priorityValidation(allowed: string, props: PriorityGuardProps): Validation {
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

function classValidation({ userPriorities: { max } = USER_PRIORITIES }: PriorityGuardProps): Validation {
  const { group, resource, verb } = USE_CLASS;
  return {
    expression:
      `params.metadata.name != variables.class || params.value <= ${max} || params.?globalDefault.orValue(false) || ` +
      `authorizer.group(${cel(group)}).resource(${cel(resource)}).name(variables.class).check(${cel(verb)}).allowed()`,
    message:
      `${PRIORITY_CODE}: priorityClassName: this PriorityClass is not for every user, because its value is more than ` +
      `${max}; ask an administrator for the verb ${verb} on it`,
  };
}
