/**
 * CEL that bounds grace periods. A pod that its deadline ends runs on for its grace period, beyond the walltime with which the
 * queue has planned, so that is a limit of the whole stack. Whoever writes a template or deletes a pod is judged; what a
 * controller makes of a template that was there before the limit is not.
 */
import { Construct } from 'constructs';
import { MINICLUSTER_GROUP } from '../../api/labels';
import { STACK_DEFAULTS } from '../../api/queue-defaults';
import type { GuardPart } from './guard-parts';
import { addGuard, resourceRule } from './guard-policy';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  cel,
  isOfJudgedOwner,
  NO_MIRROR,
  namespaceSelector,
} from './scope';

export interface GraceProps extends AdmissionScopeProps, ControllerUserProps {
  /** Longest grace period of a pod in whole seconds. @default 3600 */
  readonly maxGraceSeconds?: number;
}

const FIELD = 'terminationGracePeriodSeconds';

const limitOf = ({ maxGraceSeconds = STACK_DEFAULTS.maxGraceSeconds }: GraceProps) => maxGraceSeconds;

/** CEL of the sentence. */
function sentence(props: GraceProps, field: string, value: string): string {
  const start = `: must be at most ${limitOf(props)}, because the pod runs for so many seconds beyond its walltime (got `;
  const end = '); shorten it, or ask an administrator for a longer maxGracePeriod of FluxQueue';
  return `${cel('FLUXQ_GRACE_PERIOD: ')} + ${field} + ${cel(start)} + string(${value}) + ${cel(end)}`;
}

/**
 * New Jobs and Pods.
 * @param spec path of the pod spec in the object, e.g. `spec.template.spec`
 */
export function gracePart(spec: string, props: GraceProps): GuardPart {
  const value = (object: string) => `${object}.${spec}.?${FIELD}.orValue(0)`;
  return {
    name: 'grace',
    when:
      `${value('object')} > ${limitOf(props)} && (oldObject == null || ${value('object')} != ${value('oldObject')}) && ` +
      `(${NO_MIRROR}) && !${isOfJudgedOwner(props)}`,
    variables: [],
    problem: sentence(props, cel(`${spec}.${FIELD}`), value('object')),
  };
}

/** Where the other kinds that users write have the pods that controllers make of them. */
const TEMPLATES = ['spec.template.spec', 'spec.jobTemplate.spec.template.spec', 'spec.pod'];
const ofTemplate = (object: string, path: string) =>
  `dyn(${object}).${[...path.split('.'), FIELD].join('.?')}.orValue(0)`;

/** Of a pod that had a longer one before the limit, its own is taken. */
const ASKED =
  '(request.operation == "DELETE" ? dyn(request.options).?gracePeriodSeconds.orValue(0) : ' +
  'dyn(object).?deleteOptions.?gracePeriodSeconds.orValue(0))';
const OWN = `(request.operation == "DELETE" ? dyn(oldObject).spec.?${FIELD}.orValue(0) : 0)`;

/** Applies in both forms of admission, so no deletion of a pod calls the webhook. */
export class GraceGuard extends Construct {
  constructor(scope: Construct, id: string, props: GraceProps = {}) {
    super(scope, id);
    const most = limitOf(props);
    const isNew = (path: string) =>
      `(${ofTemplate('object', path)} > ${most} && (oldObject == null || ` +
      `${ofTemplate('object', path)} != ${ofTemplate('oldObject', path)}))`;
    const problem = TEMPLATES.map(
      (path) => `${isNew(path)} ? ${sentence(props, cel(`${path}.${FIELD}`), ofTemplate('object', path))} : `,
    ).join('');
    const writes = ['CREATE', 'UPDATE'] as const;
    addGuard(this, 'grace', props, {
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: [
          resourceRule('apps', writes, 'deployments', 'replicasets', 'statefulsets', 'daemonsets'),
          resourceRule('', writes, 'replicationcontrollers'),
          resourceRule('batch', writes, 'cronjobs'),
          { ...resourceRule(MINICLUSTER_GROUP, writes, 'miniclusters'), apiVersions: ['*'] },
        ],
      },
      matchConditions: [
        { name: 'has-a-long-one', expression: TEMPLATES.map(isNew).join(' || ') },
        { name: 'by-a-user', expression: `!${isOfJudgedOwner(props)}` },
      ],
      variables: [{ name: 'problem', expression: `${problem}""` }],
      validations: [{ expression: 'variables.problem == ""', messageExpression: 'variables.problem' }],
    });
    addGuard(this, 'grace-of-deletions', props, {
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: [resourceRule('', ['DELETE'], 'pods'), resourceRule('', ['CREATE'], 'pods/eviction')],
      },
      matchConditions: [{ name: 'has-a-long-one', expression: `${ASKED} > ${most} && ${ASKED} > ${OWN}` }],
      validations: [
        { expression: 'false', messageExpression: sentence(props, cel('gracePeriodSeconds'), ASKED) },
      ],
    });
  }
}
