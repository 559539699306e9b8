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
  byController,
  type ControllerUserProps,
  cel,
  namespaceSelector,
} from './scope';

export interface PriorityGuardProps extends AdmissionScopeProps, ControllerUserProps {
  /** Priorities that every user may set. @default -100 to 0 */
  readonly userPriorities?: Range;
}

/** Where objects of one kind have priorities; each expression is CEL below `object` or `oldObject`. */
interface Kind {
  readonly id: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resources: readonly string[];
  /** Texts of priorities; "" for none. */
  readonly priorities: readonly ((object: string) => string)[];
  readonly className: (object: string) => string;
}

const entry = (map: string) => `${map}[?${cel(PRIORITY)}].orValue("")`;
/** The annotation takes precedence over the label. */
const ofMetadata = (path: string) => (object: string) =>
  `${object}.${path}.?annotations[?${cel(PRIORITY)}].orValue(${entry(`${object}.${path}.?labels`)})`;
const classOf = (path: string) => (object: string) => `${object}.${path}.?priorityClassName.orValue("")`;
const inMap = (path: string) => (object: string) => entry(`${object}.${path}`);

const TEMPLATE = {
  apiVersion: 'v1',
  priorities: [ofMetadata('spec.?template.?metadata')],
  className: classOf('spec.?template.?spec'),
};

const KINDS: readonly Kind[] = [
  {
    ...TEMPLATE,
    id: 'job-priority',
    apiGroup: 'batch',
    resources: ['jobs'],
    priorities: [ofMetadata('metadata')],
  },
  {
    id: 'pod-priority',
    apiGroup: '',
    apiVersion: 'v1',
    resources: ['pods'],
    priorities: [ofMetadata('metadata')],
    className: classOf('spec'),
  },
  {
    ...TEMPLATE,
    id: 'app-priority',
    apiGroup: 'apps',
    resources: ['deployments', 'replicasets', 'statefulsets'],
  },
  {
    ...TEMPLATE,
    id: 'replicationcontroller-priority',
    apiGroup: '',
    resources: ['replicationcontrollers'],
  },
  {
    id: 'cronjob-priority',
    apiGroup: 'batch',
    apiVersion: 'v1',
    resources: ['cronjobs'],
    priorities: [ofMetadata('spec.jobTemplate.?metadata')],
    className: classOf('spec.jobTemplate.?spec.?template.?spec'),
  },
  {
    id: 'minicluster-priority',
    apiGroup: MINICLUSTER_GROUP,
    apiVersion: '*',
    resources: ['miniclusters'],
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
    const { id, apiGroup, apiVersion, resources } = kind;
    addGuard(this, id, props, {
      // CEL cannot look up the value of a class, so the policy is evaluated with each of them.
      params: { kind: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' } },
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: [
          { apiGroups: [apiGroup], apiVersions: [apiVersion], operations: ['CREATE', 'UPDATE'], resources },
        ],
      },
      matchConditions: [
        {
          name: 'by-a-user',
          expression: `!(${byController(props)})`,
        },
        { name: 'has-a-new-priority', expression: `${hasNewPriority(kind)} || ${hasNewClass(kind)}` },
      ],
      variables: [
        { name: 'priorities', expression: listOf(kind, 'object') },
        { name: 'before', expression: `oldObject == null ? [] : ${listOf(kind, 'oldObject')}` },
        { name: 'class', expression: kind.className('object') },
      ],
      validations: [priorityValidation(props.userPriorities ?? USER_PRIORITIES), classValidation(props)],
    });
  }
}

function listOf({ priorities }: Kind, object: string): string {
  return `[${priorities.map((text) => text(object)).join(', ')}]`;
}

function hasNewPriority({ priorities }: Kind): string {
  const isNew = priorities.map(
    (text) => `${text('object')} != "" && (oldObject == null || ${text('object')} != ${text('oldObject')})`,
  );
  return `(${isNew.join(' || ')})`;
}

function hasNewClass({ className }: Kind): string {
  const name = className('object');
  return `(${name} != "" && (oldObject == null || ${name} != ${className('oldObject')}))`;
}

/** A text that is no number is refused elsewhere. */
function priorityValidation({ min, max }: Range) {
  const { group, resource, verb } = PRIORITIZE;
  const inRange = `(int(p) >= ${min} && int(p) <= ${max})`;
  const isFree = `p in variables.before || !p.matches(${cel(SETTING_SYNTAX[PRIORITY].pattern)}) || ${inRange}`;
  return {
    expression:
      `variables.priorities.all(p, ${isFree}) || authorizer.group(${cel(group)}).resource(${cel(resource)})` +
      `.namespace(request.namespace).check(${cel(verb)}).allowed()`,
    message:
      `${PRIORITY_CODE}: ${PRIORITY}: must be from ${min} to ${max}; ask an administrator for ` +
      `the ClusterRole ${PRIORITIZE_ROLE} in this namespace`,
  };
}

function classValidation({ userPriorities: { max } = USER_PRIORITIES }: PriorityGuardProps) {
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
