/** CEL that refuses LeaderWorkerSets of which no leader could start together with its workers, and settings that nobody would read. */
import { Construct } from 'constructs';
import { PRIORITY } from '../../api/labels';
import { LEADER_WORKER_SET, LWS_EXCLUSIVE_ANNOTATION, LWS_SETTINGS } from '../../api/leader-worker-set';
import { PRIORITY_CODE, USER_PRIORITIES } from '../../api/priorities';
import { GROUP_SETTINGS, MAX_GROUP_SIZE, SETTINGS_OF_GROUPS } from '../../api/settings';
import { type GraceProps, templatesGracePart } from './grace-guard';
import { addGuard } from './guard-policy';
import { resourceRules } from './kind-fields';
import { noSettings } from './kind-guards';
import { BEYOND_PROBLEM, isFree, type ReachGuardProps, termsBeyond } from './reach-guard';
import { cel, celList, namespaceSelector, notTheController, type Variable } from './scope';
import { INVALID, type Validation } from './settings';

const TEMPLATE = 'spec.leaderWorkerTemplate';

/** The object, or what it was before the request: CEL of it, and of its pod templates, one or two. */
interface Version {
  readonly object: string;
  readonly templates: string;
}
const NOW: Version = { object: 'dyn(object)', templates: 'variables.templates' };
const BEFORE: Version = { object: 'dyn(oldObject)', templates: 'variables.oldTemplates' };

const templatesIn = ({ object }: Version) =>
  `["workerTemplate", "leaderTemplate"].map(name, ${object}.spec.?leaderWorkerTemplate[?name].orValue({})).filter(it, it.size() > 0)`;
const VARIABLES: readonly Variable[] = [
  { name: 'templates', expression: templatesIn(NOW) },
  { name: 'oldTemplates', expression: `oldObject == null ? [] : ${templatesIn(BEFORE)}` },
];

const mapOf = (template: string, map: string) => `${template}.?metadata.?${map}.orValue({})`;
/** @param key CEL */
const settingOf = (template: string, key: string) =>
  `${mapOf(template, 'annotations')}[?${key}].orValue(${mapOf(template, 'labels')}[?${key}].orValue(""))`;

/** CEL: what the pods of a group have in common, and leader and workers do not. */
function differencesIn({ templates }: Version): string {
  const differing = (keys: readonly string[], value: (template: string) => string) =>
    `${celList(keys)}.filter(key, ${templates}.exists(it, ${value('it')} != ${value(`${templates}[0]`)}))`;
  const classes = differing(['priorityClassName'], (template) => `${template}.?spec[?key].orValue("")`);
  return `(${differing(SETTINGS_OF_GROUPS, (template) => settingOf(template, 'key'))} + ${classes})`;
}

/** What an update leaves wrong is older than the rule, or than the opt-in of its namespace. */
const unlessBefore = (isRight: (version: Version) => string) =>
  `${isRight(NOW)} || (oldObject != null && !(${isRight(BEFORE)}))`;

const TOGETHER = 'but a leader starts together with its workers';

/** What would keep a leader from starting together with its workers, or means nothing. */
const VALIDATIONS: readonly Validation[] = [
  {
    expression: unlessBefore(({ object }) => `${object}.spec.?startupPolicy.orValue("") != "LeaderReady"`),
    message: `FLUXQ_POD_SETS: spec.startupPolicy: LeaderReady makes the workers once their leader runs, ${TOGETHER}; write LeaderCreated`,
  },
  {
    expression: unlessBefore(
      ({ object }) => `!(${cel(LWS_EXCLUSIVE_ANNOTATION)} in ${object}.metadata.?annotations.orValue({}))`,
    ),
    message: `FLUXQ_POD_SETS: metadata.annotations["${LWS_EXCLUSIVE_ANNOTATION}"]: makes the workers once their leader has a node, ${TOGETHER}; remove it`,
  },
  {
    expression: unlessBefore(
      ({ object }) => `${object}.spec.?leaderWorkerTemplate.?size.orValue(1) <= ${MAX_GROUP_SIZE}`,
    ),
    message: `FLUXQ_POD_SETS: ${TEMPLATE}.size: a leader and its workers are at most ${MAX_GROUP_SIZE} pods; make smaller groups, and more of them`,
  },
  {
    expression: unlessBefore(
      ({ templates }) =>
        `${templates}.all(it, ${celList(GROUP_SETTINGS)}.all(key, ` +
        `!(key in ${mapOf('it', 'labels')}) && !(key in ${mapOf('it', 'annotations')})))`,
    ),
    message: `${INVALID}: ${TEMPLATE}: ${GROUP_SETTINGS.join(' and ')} have no effect in its templates, because a leader and its workers are a group already; remove them`,
  },
  {
    expression: unlessBefore((version) => `${differencesIn(version)}.size() == 0`),
    messageExpression:
      `${cel(`FLUXQ_POD_SETS: ${TEMPLATE}: leaderTemplate and workerTemplate differ in `)} + ` +
      `${differencesIn(NOW)}.join(", ") + ${cel(`, ${TOGETHER}; write the same in both`)}`,
  },
];

/**
 * What its StatefulSets would be refused for. Its controller makes them, so no right of its user counts for them, and it tells nobody
 * why it cannot.
 */
function ofStatefulSets(props: LeaderWorkerGuardProps): readonly Validation[] {
  const { min, max } = props.userPriorities ?? USER_PRIORITIES;
  const grace = templatesGracePart(
    { now: NOW.templates, old: BEFORE.templates, spec: 'set.?spec', path: `${TEMPLATE}.*.spec` },
    props,
  );
  return [
    {
      expression: unlessBefore(
        ({ templates }) => `${templates}.map(it, ${settingOf('it', cel(PRIORITY))}).all(p, ${isFree(props)})`,
      ),
      message:
        `${PRIORITY_CODE}: ${TEMPLATE}: ${PRIORITY}: must be from ${min} to ${max}, because its controller makes its pods; ` +
        'raise its workloads with kubectl fluxqueue priority podgroup/NAME',
    },
    {
      expression: unlessBefore(
        ({ templates }) => `${templates}.all(it, ${termsBeyond('it.?spec')}.size() == 0)`,
      ),
      message: `FLUXQ_REACH: ${TEMPLATE}: podAntiAffinity: ${BEYOND_PROBLEM}`,
    },
    { expression: `!(${grace.when})`, messageExpression: grace.problem },
  ];
}

export interface LeaderWorkerGuardProps extends ReachGuardProps, GraceProps {}

/** Refuses LeaderWorkerSets that would wait for ever. */
export class LeaderWorkerGuard extends Construct {
  constructor(scope: Construct, id: string, props: LeaderWorkerGuardProps = {}) {
    super(scope, id);
    addGuard(this, LEADER_WORKER_SET.plural, props, {
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: resourceRules(LEADER_WORKER_SET, ['CREATE', 'UPDATE']),
      },
      matchConditions: [notTheController(props)],
      variables: VARIABLES,
      validations: [
        noSettings({ kind: LEADER_WORKER_SET.kind, settings: LWS_SETTINGS }),
        ...VALIDATIONS,
        ...ofStatefulSets(props),
      ],
    });
  }
}
