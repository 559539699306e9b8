import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { pointerToken } from '../../api/json-pointer';
import { APPLYING_LABEL, MINICLUSTER_GROUP, MINICLUSTER_LABEL, MINICLUSTER_VERSION } from '../../api/labels';
import { addGuard, type Params, paramRef, type ResourceRule, resourceRule } from './guard-policy';
import { POD_MATCH, SERVICE_MATCH, SOURCE_VARIABLES } from './minicluster-match-rules';
import { CHANGES_PODS, isKind, OWNER_MARK } from './minicluster-objects';
import { type AdmissionScopeProps, admissionMetadata, allOf, cel, type MatchCondition } from './scope';
import type { Validation } from './settings';

/** Those whose objects are being written, because each of them costs time. */
const APPLYING: Params = {
  kind: { apiVersion: `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`, kind: 'MiniCluster' },
  matchLabels: { [APPLYING_LABEL]: 'true' },
};
/** Requests for other objects are not compared with each MiniCluster of their namespace. */
const LABELLED = { matchExpressions: [{ key: MINICLUSTER_LABEL, operator: 'Exists' as const }] };
/** CEL: whether the MiniCluster in `params` owns the object. */
export const IS_OWNER =
  'object.metadata.?ownerReferences.orValue([]).exists(owner, owner.uid == params.metadata.uid && ' +
  'owner.name == params.metadata.name && owner.?controller.orValue(false))';
const OF_PARAMS: MatchCondition = { name: 'its-owner', expression: IS_OWNER };

/** The queue releases and suspends also a Job whose user has since changed the spec in a way that the Job cannot follow. */
const WRITES_PODS: MatchCondition = {
  name: 'writes-its-pods',
  expression: `oldObject == null || ${CHANGES_PODS}`,
};

const MARKS = 'object.metadata.?annotations.orValue({})';
const PATH = `/metadata/annotations/${pointerToken(OWNER_MARK)}`;
const WRITE =
  `has(object.metadata.annotations) ? [JSONPatch{op: "add", path: "${PATH}", value: params.metadata.uid}] ` +
  `: [JSONPatch{op: "add", path: "/metadata/annotations", value: {${cel(OWNER_MARK)}: string(params.metadata.uid)}}]`;

/** No match condition: a policy that it leaves out at first is not evaluated again after the mark was removed. */
const NOT_MARKED = `${MARKS}[?${cel(OWNER_MARK)}].orValue("") != params.metadata.uid`;

const rule = (group: string, ...resources: string[]) =>
  resourceRule(group, ['CREATE', 'UPDATE'], ...resources);
interface Kind {
  readonly rules: readonly ResourceRule[];
  /** CEL: whether the request is for such an object. */
  readonly isOf: string;
  /** What the spec of the owner must allow. */
  readonly match: readonly Validation[];
}

const CONFIGMAPS: Kind = { rules: [rule('', 'configmaps')], isOf: isKind('ConfigMap'), match: [] };
const COMPARED: readonly Kind[] = [
  { rules: [rule('', 'services')], isOf: isKind('Service'), match: SERVICE_MATCH },
  {
    rules: [rule('apps', 'statefulsets', 'deployments'), rule('batch', 'jobs')],
    isOf: isKind('StatefulSet', 'Deployment', 'Job'),
    match: POD_MATCH,
  },
];
const rulesOf = (kinds: readonly Kind[]) => kinds.flatMap(({ rules }) => rules);
/** What the controller writes for MiniClusters. */
export const COMPARED_RULES = rulesOf([CONFIGMAPS, ...COMPARED]);
/** Validations that compare an object with the MiniCluster in `params`. */
export const COMPARISONS: readonly Validation[] = COMPARED.flatMap(({ isOf, match }) =>
  match.map((validation) => ({ ...validation, expression: `!(${isOf}) || (${validation.expression})` })),
);

interface Mutation {
  readonly reinvocationPolicy: 'Never' | 'IfNeeded';
  readonly resourceRules: readonly ResourceRule[];
  readonly matchConditions: readonly MatchCondition[];
  /** CEL of a JSON patch. */
  readonly expression: string;
  readonly params?: Params;
}

/**
 * Compares the objects that the controller writes with the MiniCluster that owns them. A policy with params denies unless
 * every labelled MiniCluster of the namespace allows, so it cannot require that one of them is the owner. Two mutations do that:
 * one removes a mark that the request brings, the other marks the object with the uid of its owner if that asks for it, which
 * the guard of the objects requires. The second is evaluated again after the first, so their order does not matter.
 * Comparing and marking are one policy, because each has a cache of its own.
 */
export class MiniClusterMatch extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionScopeProps, byController: MatchCondition) {
    super(scope, id);
    const name = `${props.name ?? 'fluxqueue'}-minicluster`;
    const brought = { name: 'brings-a-mark', expression: `${cel(OWNER_MARK)} in ${MARKS}` };
    this.addMutation(`${name}-unmark`, {
      reinvocationPolicy: 'Never',
      resourceRules: COMPARED_RULES,
      matchConditions: [byController, WRITES_PODS, brought],
      expression: `[JSONPatch{op: "remove", path: "${PATH}"}]`,
    });
    const fits = [CONFIGMAPS, ...COMPARED].map(
      ({ isOf, match }) => `(${[isOf, ...match.map(({ expression }) => `(${expression})`)].join(' && ')})`,
    );
    this.addMutation(`${name}-mark`, {
      reinvocationPolicy: 'IfNeeded',
      resourceRules: COMPARED_RULES,
      matchConditions: [byController, WRITES_PODS, OF_PARAMS],
      expression: `${NOT_MARKED} && (${fits.join(' || ')}) ? (${WRITE}) : []`,
      params: APPLYING,
    });
    // The mark decides. This guard gives the reason, as far as its own cache has the MiniCluster.
    addGuard(this, 'minicluster-match', props, {
      params: APPLYING,
      matchConstraints: { objectSelector: LABELLED, resourceRules: rulesOf(COMPARED) },
      matchConditions: [byController, WRITES_PODS, OF_PARAMS],
      variables: SOURCE_VARIABLES,
      validations: COMPARISONS,
      reason: 'Invalid',
    });
  }

  private addMutation(name: string, mutation: Mutation): void {
    const { params, expression, reinvocationPolicy, resourceRules, matchConditions } = mutation;
    const selected = { objectSelector: LABELLED };
    const policy = new ApiObject(this, name, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: admissionMetadata(name),
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy,
        ...(params === undefined ? {} : { paramKind: params.kind, variables: SOURCE_VARIABLES }),
        matchConstraints: { ...(params === undefined ? {} : selected), resourceRules },
        matchConditions: allOf(matchConditions),
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
      },
    });
    new ApiObject(this, `${name}-binding`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: admissionMetadata(name),
      spec: {
        policyName: policy.name,
        // In a binding, the selector costs only the requests that the policy matches.
        ...(params === undefined ? { matchResources: selected } : paramRef(params)),
      },
    });
  }
}
