/**
 * CEL that bounds grace periods. A pod that its deadline ends runs on for its grace period, beyond the walltime with which the
 * queue has planned, so that is a limit of the whole stack. Whoever writes a template or deletes a pod is judged; what a
 * controller makes of a template that was there before the limit is not. No user deletes a pod that runs without any.
 */
import { Construct } from 'constructs';
import { ADMITTED_LABEL, JOBID_ANNOTATION, MINICLUSTER_GROUP, QUEUED_BY_ANNOTATION } from '../../api/labels';
import { STACK_DEFAULTS } from '../../api/queue-defaults';
import type { WorkloadKind } from '../../api/workload-kinds';
import type { GuardPart } from './guard-parts';
import { addGuard, resourceRule } from './guard-policy';
import { podSpecOfSet, setsIn } from './kind-fields';
import {
  type AdmissionScopeProps,
  BY_KUBERNETES,
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

/** CEL of the sentence. @param field CEL */
function sentence(props: GraceProps, field: string, value: string): string {
  const start = `: must be at most ${limitOf(props)}, because the pod runs for so many seconds beyond its walltime (got `;
  const end = '); shorten it, or ask an administrator for a longer maxGracePeriod of FluxQueue';
  return `${cel('FLUXQ_GRACE_PERIOD: ')} + ${field} + ${cel(start)} + string(${value}) + ${cel(end)}`;
}

/** A kubelet that ends a container after one of these failed waits for so long, and looks at no deadline of the pod meanwhile. */
const PROBES = ['livenessProbe', 'startupProbe'];
const OF_PODS = ['containers', 'initContainers'];

/** Where a pod spec is, and CEL for that of an object. */
interface Place {
  readonly path: string;
  readonly of: (object: string) => string;
  /** Its lists of containers. */
  readonly lists: readonly string[];
}

/** CEL of the longest time of each container of a pod spec for its end after a failed probe. */
function ofProbes(spec: string, lists: readonly string[]): string {
  const [first, second] = PROBES.map((probe) => `c.?${probe}.?${FIELD}.orValue(0)`);
  const containers = lists.map((list) => `${spec}.?${list}.orValue([])`).join(' + ');
  return `(${containers}).map(c, ${first} > ${second} ? ${first} : ${second})`;
}

/** CEL: whether an object has a longer grace period than it may have, and had not before, and the sentence about it. */
function graceOf(props: GraceProps, place: Place): { readonly isNew: string; readonly problem: string } {
  const most = limitOf(props);
  const own = (object: string) => `${place.of(object)}.?${FIELD}.orValue(0)`;
  const probes = (object: string) => ofProbes(place.of(object), place.lists);
  const isLong = `(${own('object')} > ${most} && (oldObject == null || ${own('object')} != ${own('oldObject')}))`;
  const hasLongProbe =
    `${probes('object')}.exists(seconds, seconds > ${most} && ` +
    `(oldObject == null || !(seconds in ${probes('oldObject')})))`;
  const longest = `${probes('object')}.filter(seconds, seconds > ${most})[0]`;
  const problem =
    `${isLong} ? ${sentence(props, cel(`${place.path}.${FIELD}`), own('object'))} : ` +
    sentence(props, cel(`${place.path}.containers[].*Probe.${FIELD}`), longest);
  return { isNew: `(${isLong} || ${hasLongProbe})`, problem };
}

/**
 * New Jobs and Pods.
 * @param spec path of the pod spec in the object, e.g. `spec.template.spec`
 */
export function gracePart(spec: string, props: GraceProps): GuardPart {
  const { isNew, problem } = graceOf(props, {
    path: spec,
    of: (object) => `${object}.${spec}`,
    lists: OF_PODS,
  });
  // Of a Job the annotation means nothing.
  const isMade = spec === 'spec' ? ` && (${NO_MIRROR})` : '';
  return { name: 'grace', when: `${isNew}${isMade} && !${isOfJudgedOwner(props)}`, variables: [], problem };
}

/** Pod templates of an object whose own controller makes its pods. */
interface Templates {
  /** CEL of the list of what has them, now and before. */
  readonly now: string;
  readonly old: string;
  /** CEL of the pod spec of one, `set`. */
  readonly spec: string;
  /** Path of the pod specs in the object. */
  readonly path: string;
}

/** Objects of a workload kind: without this they would be granted before anybody refuses their pods. */
export function kindGracePart(kind: WorkloadKind, props: GraceProps): GuardPart {
  const { in: sets, template } = kind.podSets;
  return templatesGracePart(
    {
      now: setsIn('object', kind),
      old: setsIn('oldObject', kind),
      spec: podSpecOfSet(kind),
      path: [...sets, '*', ...template, 'spec'].join('.'),
    },
    props,
  );
}

export function templatesGracePart({ now, old, spec, path }: Templates, props: GraceProps): GuardPart {
  const most = limitOf(props);
  const times = `([${spec}.?${FIELD}.orValue(0)] + ${ofProbes(spec, OF_PODS)})`;
  const isNew = `(oldObject == null || !${old}.exists(set, seconds in ${times}))`;
  const long = `${now}.map(set, ${times}.filter(seconds, seconds > ${most} && ${isNew})).filter(long, long.size() > 0)`;
  return {
    name: 'grace',
    when: `${long}.size() > 0 && !${isOfJudgedOwner(props)}`,
    variables: [],
    problem: sentence(props, cel(`${path}.${FIELD}`), `${long}[0][0]`),
  };
}

/** Where the other kinds that users write have the pods that controllers make of them; a MiniCluster has its containers in its spec. */
const TEMPLATES: readonly Place[] = [
  'spec.template.spec',
  'spec.jobTemplate.spec.template.spec',
  'spec.pod',
  'spec',
].map((path) => ({
  path,
  of: (object) => `dyn(${object}).${path.replaceAll('.', '.?')}`,
  lists: [...OF_PODS, 'services'],
}));

const annotations = 'dyn(oldObject).metadata.?annotations.orValue({})';
/** CEL: pods of a grant of this queue, and of a Job that Kueue started. */
const IS_QUEUED =
  `(dyn(oldObject).metadata.?labels[?${cel(ADMITTED_LABEL)}].orValue("") == "true" || ` +
  `${cel(JOBID_ANNOTATION)} in ${annotations} || ${cel(QUEUED_BY_ANNOTATION)} in ${annotations})`;

/** -1: the request says none, so the pod has its own. */
const ASKED =
  '(request.operation == "DELETE" ? dyn(request.options).?gracePeriodSeconds.orValue(-1) : ' +
  'dyn(object).?deleteOptions.?gracePeriodSeconds.orValue(-1))';
/** Of a pod that had a longer one before the limit, its own is taken. */
const OWN = `(request.operation == "DELETE" ? dyn(oldObject).spec.?${FIELD}.orValue(0) : 0)`;

/**
 * CEL: a deletion by force. The apiserver forgets the pod at once, and the kubelet then ends its containers with the grace period of
 * the pod: meanwhile its units would be free, and whoever does that again and again would run any number of pods on one grant.
 * A pod without a grace period of its own is ended at once by every deletion. An Eviction does not show its pod.
 */
const IS_FORCED =
  `(${ASKED} == 0 && (request.operation != "DELETE" || (${OWN} > 0 && dyn(oldObject).spec.?nodeName.orValue("") != "" && ` +
  `!(dyn(oldObject).?status.?phase.orValue("") in ["Failed", "Succeeded"]) && ${IS_QUEUED})))`;

/** CEL: kubelets, also virtual ones, and whoever removes nodes, as an autoscaler does. An expression can ask `authorizer` twice. */
const ENDS_NODES =
  `((${BY_KUBERNETES}) || authorizer.group("").resource("nodes").subresource("status").check("patch").allowed() || ` +
  'authorizer.group("").resource("nodes").check("delete").allowed())';

const FORCED =
  'FLUXQ_GRACE_PERIOD: gracePeriodSeconds: must be at least 1, because the pod may run on for its own grace period after a deletion ' +
  'by force (got 0); delete it with kubectl delete --now, or ask an administrator (the right to delete nodes) if its node is lost';

/** Applies in both forms of admission, so no deletion of a pod calls the webhook. */
export class GraceGuard extends Construct {
  constructor(scope: Construct, id: string, props: GraceProps = {}) {
    super(scope, id);
    const most = limitOf(props);
    const templates = TEMPLATES.map((place) => graceOf(props, place));
    const problem = templates.map(({ isNew, problem: its }) => `${isNew} ? (${its}) : `).join('');
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
        { name: 'has-a-long-one', expression: templates.map(({ isNew }) => isNew).join(' || ') },
        { name: 'by-a-user', expression: `!${isOfJudgedOwner(props)}` },
      ],
      variables: [{ name: 'problem', expression: `${problem}""` }],
      validations: [{ expression: 'variables.problem == ""', messageExpression: 'variables.problem' }],
    });
    const isLong = `(${ASKED} > ${most} && ${ASKED} > ${OWN})`;
    addGuard(this, 'grace-of-deletions', props, {
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: [resourceRule('', ['DELETE'], 'pods'), resourceRule('', ['CREATE'], 'pods/eviction')],
      },
      matchConditions: [{ name: 'has-a-long-one-or-none', expression: `${isLong} || ${IS_FORCED}` }],
      validations: [
        { expression: `!${isLong}`, messageExpression: sentence(props, cel('gracePeriodSeconds'), ASKED) },
        { expression: `!${IS_FORCED} || ${ENDS_NODES}`, message: FORCED },
      ],
    });
  }
}
