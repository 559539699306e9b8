/** CEL that refuses what admission cannot correct in objects of the kinds of constructs/api/workload-kinds.ts. */
import { Construct } from 'constructs';
import { KEY_PREFIX } from '../../api/known-keys';
import { ADMITTED_LABEL, KUEUE_QUEUE_LABEL, USER_ANNOTATION } from '../../api/labels';
import {
  type FieldPath,
  type MakerKind,
  MOST_POD_SETS,
  makerKinds,
  REFUSAL_REMEDY,
  type RefusedField,
  refusal,
  type WorkloadKind,
  workloadKinds,
} from '../../api/workload-kinds';
import { sameExcept, sameMetadata } from './comparison';
import { type GraceProps, kindGracePart } from './grace-guard';
import { type GuardPart, guardOf } from './guard-parts';
import { addGuard, type GuardSpec } from './guard-policy';
import { settingParts, WAS_OURS } from './guards';
import { settingWarnings } from './ineffective-changes';
import { annotation, label, suspended, WAS_ADMITTED } from './job-reapplied';
import { addKindClasses } from './kind-classes';
import { hasTooManySets, newSetsIn, podSpecOfSet, resourceRules, setsIn } from './kind-fields';
import { isHeld, kindConditions, OF_THE_GRANT } from './kinds';
import { kindMetadataPart, metadataPart } from './metadata-limits';
import { BEYOND_PROBLEM, priorityRight, type ReachGuardProps, termsBeyond } from './reach-guard';
import { admittedLabel, reserved, setByQueue, USER_STAYS, withoutValue } from './reserved';
import {
  type AdmissionScopeProps,
  allConditions,
  type ControllerUserProps,
  cel,
  celList,
  fieldOr,
  type MatchCondition,
  namespaceIsEnabled,
  namespaceSelector,
  notExcluded,
  notTheController,
} from './scope';
import { INVALID, type Validation } from './settings';

type Props = AdmissionScopeProps & ControllerUserProps;

/** The endpoint by which autoscalers and `kubectl scale` write a number of pods, which rules of the object itself do not see. */
const scaleRule = ({ group, version, plural }: WorkloadKind) => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: ['UPDATE' as const],
  resources: [`${plural}/scale`],
});

interface KindGuardProps extends ReachGuardProps, GraceProps {}

/** Denies invalid settings, reserved names, a start by anybody but the queue, and changes of what it has started. */
export class KindGuards extends Construct {
  constructor(scope: Construct, id: string, props: KindGuardProps = {}) {
    super(scope, id);
    const kinds = workloadKinds(props.workloadKinds);
    // Before those of the kinds, which had its rules in versions before: kubectl applies them in this order.
    if (kinds.length > 0) this.addSettings(kinds, props);
    for (const kind of kinds) {
      this.addPodSets(kind, props);
      this.addReserved(kind, props);
      this.addWarnings(kind, props);
    }
    addKindClasses(this, kinds, props);
    for (const maker of makerKinds(props.workloadKinds))
      addGuard(this, maker.plural, props, makerGuard(maker, props));
  }

  /** The same rules for all kinds: the apiserver compiles each text of a policy, and these are most of all texts. */
  private addSettings(kinds: readonly WorkloadKind[], props: ReachGuardProps): void {
    const {
      variables = [],
      validations,
      ...guard
    } = guardOf([...settingParts('Job', `(variables.isHeld || ${WAS_OURS})`), metadataPart(props)]);
    addGuard(this, 'kind-settings', props, {
      ...guard,
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: kinds.flatMap((kind) => resourceRules(kind, ['CREATE', 'UPDATE'])),
      },
      variables: [{ name: 'isHeld', expression: isHeld(kinds, props) }, ...variables],
      validations: [...validations, priorityRight(props)],
    });
  }

  /** What its pod sets and the kind itself must not have. It keeps its name from when it had the settings, too, so that an update replaces it. */
  private addPodSets(kind: WorkloadKind, props: KindGuardProps): void {
    const isOurs = `(${allConditions(kindConditions(kind, props))} || ${WAS_OURS})`;
    const guard = guardOf([
      kueuePart(kind),
      setsPart(kind, isOurs),
      templateKeyPart(kind, isOurs),
      reachPart(kind, isOurs),
      kindGracePart(kind, props),
      kindMetadataPart(kind),
      ...(kind.refused ?? []).map((refused) => refusedPart(kind, refused, isOurs)),
    ]);
    addGuard(this, `${kind.plural}-settings`, props, {
      ...guard,
      matchConstraints: {
        namespaceSelector: namespaceSelector(props),
        resourceRules: resourceRules(kind, ['CREATE', 'UPDATE']),
      },
    });
  }

  /** Reserved names apply in every namespace except the excluded ones, also in namespaces that are not enabled. */
  private addReserved(kind: WorkloadKind, props: Props): void {
    addGuard(this, kind.plural, props, {
      matchConstraints: {
        namespaceSelector: notExcluded(props),
        resourceRules: [...resourceRules(kind, ['CREATE', 'UPDATE']), scaleRule(kind)],
      },
      matchConditions: [notTheController(props)],
      ...reservedOf(kind, props),
    });
  }

  private addWarnings(kind: WorkloadKind, props: KindGuardProps): void {
    const started = `${WAS_ADMITTED} && ${isStarted(kind)}`;
    addGuard(this, `ineffective-${kind.plural}`, props, {
      matchConstraints: {
        namespaceSelector: notExcluded(props),
        resourceRules: resourceRules(kind, ['UPDATE']),
      },
      matchConditions: [
        notTheController(props),
        { name: 'started', expression: `${started} && !${hasEnded(kind)}` },
      ],
      action: 'Warn',
      validations: settingWarnings(kind.kind, props),
    });
  }
}

const isStarted = ({ suspend }: WorkloadKind) =>
  `!${suspended('oldObject', suspend)} && !${suspended('object', suspend)}`;

const hasEnded = ({ ends: { Succeeded, Failed } }: WorkloadKind) =>
  `oldObject.?status.?conditions.orValue([]).exists(it, it.type in ${celList([...Succeeded, ...Failed])} && it.status == "True")`;

/**
 * No settings in the metadata of an object that is not itself the workload, where they would be ignored.
 * @param settings where to write them
 */
export function noSettings({ kind, settings }: Pick<MakerKind, 'kind' | 'settings'>): Validation {
  const isNew = (map: 'labels' | 'annotations') => {
    const [now, old] = ['object', 'oldObject'].map((object) => `dyn(${object}.metadata.?${map}.orValue({}))`);
    const isSetting = `key.startsWith(${cel(KEY_PREFIX)}) && key != ${cel(USER_ANNOTATION)}`;
    return `${now}.exists(key, ${isSetting} && (oldObject == null || !(key in ${old})))`;
  };
  return {
    expression: `!(${isNew('labels')}) && !(${isNew('annotations')})`,
    message: `${INVALID}: metadata: a label or annotation ${KEY_PREFIX}… has no effect on a ${kind}; move it to ${settings}`,
  };
}

function makerGuard(maker: MakerKind, props: Props): GuardSpec {
  return {
    matchConstraints: {
      namespaceSelector: namespaceSelector(props),
      resourceRules: resourceRules(maker, ['CREATE', 'UPDATE']),
    },
    matchConditions: [notTheController(props)],
    validations: [noSettings(maker)],
  };
}

/** Its controller would let Kueue suspend and start it in turn with the queue. */
function kueuePart({ kind }: WorkloadKind): GuardPart {
  return {
    name: 'kueue',
    when: `oldObject == null && ${cel(KUEUE_QUEUE_LABEL)} in ${labelsOf('object')}`,
    variables: [],
    problem: cel(
      `FLUXQ_OTHER_QUEUE: metadata.labels["${KUEUE_QUEUE_LABEL}"]: would put the ${kind} into a queue of Kueue beside ` +
        'the one of its namespace; remove it',
    ),
  };
}

/** Rules compare the sets of an object with those that it had, so those of what had too many before may not change either. */
function setsPart(kind: WorkloadKind, isOurs: string): GuardPart {
  const isMany = (object: string) => hasTooManySets(object, kind);
  return {
    name: 'sets',
    when: `(${isMany('object')} || (oldObject != null && ${isMany('oldObject')})) && (oldObject == null || ${setsIn('object', kind)} != ${setsIn('oldObject', kind)}) && ${isOurs}`,
    variables: [],
    problem: cel(
      `FLUXQ_POD_SETS: ${kind.podSets.in.join('.')}: has too many sets of pods: a workload has at most ${MOST_POD_SETS}; ` +
        'make several objects',
    ),
  };
}

/** A field by which its pods would become more or fewer than were granted. */
function refusedPart(kind: WorkloadKind, refused: RefusedField, isOurs: string): GuardPart {
  const isSet = (object: string) =>
    `${[object, ...refused.field.map((key) => `?${key}`)].join('.')}.hasValue()`;
  return {
    name: refused.field.join('_'),
    when: `${isSet('object')} && (oldObject == null || !${isSet('oldObject')}) && ${isOurs}`,
    variables: [],
    problem: cel(`FLUXQ_POD_SETS: ${refused.field.join('.')}: ${refusal(kind, refused)}; ${REFUSAL_REMEDY}`),
  };
}

/** Settings below the metadata of the object, where they would be ignored. */
function templateKeyPart(kind: WorkloadKind, isOurs: string): GuardPart {
  const { template, jobMetadata } = kind.podSets;
  const holders = [[...template, 'metadata'], ...(jobMetadata === undefined ? [] : [jobMetadata])];
  const maps = holders.flatMap((holder) =>
    ['labels', 'annotations'].map((map) => `set${[...holder, map].map((key) => `.?${key}`).join('')}`),
  );
  const hasKeys = maps
    .map((map) => `${map}.orValue({}).exists(key, key.startsWith(${cel(KEY_PREFIX)}))`)
    .join(' || ');
  return {
    name: 'template',
    when: `${newSetsIn(kind)}.exists(set, ${hasKeys}) && ${isOurs}`,
    variables: [],
    problem: cel(
      `${INVALID}: ${kind.podSets.in.join('.')}: a label or annotation ${KEY_PREFIX}… has no effect in its templates; ` +
        `move it to the metadata of the ${kind.kind}`,
    ),
  };
}

/** Its operator may create pods everywhere, and makes what its user writes, so none of its pods may have such a term. */
function reachPart(kind: WorkloadKind, isOurs: string): GuardPart {
  return {
    name: 'reach',
    when: `${newSetsIn(kind)}.exists(set, ${termsBeyond(podSpecOfSet(kind))}.size() > 0) && ${isOurs}`,
    variables: [],
    problem: cel(`FLUXQ_REACH: ${kind.podSets.in.join('.')}: podAntiAffinity: ${BEYOND_PROBLEM}`),
  };
}

function reservedOf(kind: WorkloadKind, props: Props): Pick<GuardSpec, 'variables' | 'validations'> {
  const { suspend } = kind;
  const before = (value: string, none: string) => `oldObject == null ? ${none} : ${value}`;
  const released = `oldObject == null || !(${WAS_ADMITTED}) || !(${isStarted(kind)})`;
  const field = suspend.join('.');
  return {
    variables: [
      { name: 'admitted', expression: label('object', ADMITTED_LABEL) },
      { name: 'wasAdmitted', expression: before(label('oldObject', ADMITTED_LABEL), '""') },
      { name: 'suspended', expression: suspended('object', suspend) },
      { name: 'wasSuspended', expression: before(suspended('oldObject', suspend), 'false') },
    ],
    validations: [
      ...OF_THE_GRANT.map((key) => ({
        expression: `${annotation('object', key)} == (${before(annotation('oldObject', key), '""')})`,
        message: setByQueue(`metadata.annotations["${key}"]`),
      })),
      withoutValue(OF_THE_GRANT, annotationsOf, 'metadata.annotations'),
      admittedLabel(props, `variables.suspended && ${allConditions(kindConditions(kind, props))}`),
      USER_STAYS,
      {
        expression: 'variables.wasAdmitted != "true" || !variables.wasSuspended || variables.suspended',
        message: `FLUXQ_HELD: ${field}: only the queue can start this ${kind.kind}; keep its value, and remove its hold if it has one`,
      },
      {
        // Admission decides once who makes its pods: what was left alone would run by pods without the user of the object.
        expression: `oldObject == null || !(${namespaceIsEnabled(props)}) || ${managerOf('object', kind)} == ${managerOf('oldObject', kind)}`,
        message: reserved(
          kind.managedBy.field.join('.'),
          'cannot be changed',
          `create another ${kind.kind} instead`,
        ),
      },
      {
        expression: `${released} || (${sameExceptFields('object.spec', 'oldObject.spec', fieldsBelow(kind))})`,
        message:
          `FLUXQ_RELEASED: spec: cannot be changed after the queue started the ${kind.kind}; ` +
          `set ${field}: true to stop it first, or submit another one`,
      },
      {
        expression: `request.?subResource.orValue("") != "scale" || !(${namespaceIsEnabled(props)})`,
        message:
          `FLUXQ_POD_SETS: spec.replicas: the pods of a ${kind.kind} are granted together, so nothing scales it; ` +
          `change its ${kind.podSets.in.join('.')} while it waits`,
      },
    ],
  };
}

/** CEL: the controller that makes its pods. */
const managerOf = (object: string, { managedBy: { field, builtIn } }: WorkloadKind) =>
  fieldOr(object, field, cel(builtIn));

/** Fields below `spec` that may change while it runs. */
function fieldsBelow({ suspend, changeable }: WorkloadKind): readonly FieldPath[] {
  return [suspend, ...changeable].map((path) => path.slice(1));
}

/** CEL: two objects are equal except for these fields in them. */
function sameExceptFields(now: string, old: string, fields: readonly FieldPath[]): string {
  const nested = fields.filter(({ length }) => length > 1);
  const keys = new Set(nested.map(([first]) => first!));
  const maps = [now, old].map((map) => `dyn(${map})`) as [string, string];
  return [
    sameExcept(...maps, [...new Set(fields.map(([first]) => first!))]),
    ...[...keys].map((key) => {
      const [inNow, inOld] = maps.map((map) => `${map}.?${key}.orValue({})`) as [string, string];
      const below = nested.filter(([first]) => first === key);
      return sameExceptFields(
        inNow,
        inOld,
        below.map((path) => path.slice(1)),
      );
    }),
  ].join(' && ');
}

const annotationsOf = (object: string) => `dyn(${object}.metadata.?annotations.orValue({}))`;
const labelsOf = (object: string) => `dyn(${object}.metadata.?labels.orValue({}))`;

/** What the controller can change of an object of a workload kind: its suspension, and what it notes of its grant. */
export const kindReleaseGuard = (
  kind: WorkloadKind,
  scope: AdmissionScopeProps,
  byController: MatchCondition,
): GuardSpec => {
  const [now, old] = [labelsOf('object'), labelsOf('oldObject')];
  const leaves = `!(${namespaceIsEnabled(scope)}) && ${sameExcept(now, old, [ADMITTED_LABEL])} && !(${cel(ADMITTED_LABEL)} in ${now})`;
  const sameAnnotations = sameExcept(annotationsOf('object'), annotationsOf('oldObject'), OF_THE_GRANT);
  return {
    matchConstraints: { resourceRules: resourceRules(kind, ['UPDATE']) },
    matchConditions: [byController],
    validations: [
      {
        expression: WAS_ADMITTED,
        message: `FLUXQ_RESERVED: metadata: the controller can only change objects that are admitted to the queue`,
      },
      {
        expression: `${sameMetadata('ownerReferences', 'finalizers')} && (${sameMetadata('labels')} || (${leaves})) && ${sameAnnotations}`,
        message:
          'FLUXQ_RESERVED: metadata: a release changes no label and no annotation of another, and only a namespace that left the queue loses the label of admission',
      },
      {
        expression: sameExceptFields('object.spec', 'oldObject.spec', [kind.suspend.slice(1)]),
        message: `FLUXQ_RESERVED: spec: a release changes only ${kind.suspend.join('.')}`,
      },
    ],
  };
};
