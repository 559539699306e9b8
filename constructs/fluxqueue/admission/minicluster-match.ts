import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { APPLYING_LABEL, MINICLUSTER_GROUP, MINICLUSTER_LABEL, MINICLUSTER_VERSION } from '../../api/labels';
import { addGuard, type Params, paramRef } from './guard-policy';
import { POD_MATCH, SERVICE_MATCH, SOURCE_VARIABLES } from './minicluster-match-rules';
import { CHANGES_PODS, miniClusterResources, OWNER_MARK } from './minicluster-objects';
import { type AdmissionScopeProps, admissionMetadata, cel, type MatchCondition, pointerToken } from './scope';

/** Those whose objects are being written, because each of them costs time. */
const APPLYING: Params = {
  kind: { apiVersion: `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`, kind: 'MiniCluster' },
  matchLabels: { [APPLYING_LABEL]: 'true' },
};
/** Requests for other objects are not compared with each MiniCluster of their namespace. */
const LABELLED = { matchExpressions: [{ key: MINICLUSTER_LABEL, operator: 'Exists' as const }] };
const OF_PARAMS: MatchCondition = {
  name: 'its-owner',
  expression:
    'object.metadata.?ownerReferences.orValue([]).exists(owner, owner.uid == params.metadata.uid && ' +
    'owner.name == params.metadata.name && owner.?controller.orValue(false))',
};

/** The queue releases and suspends also a Job whose user has since changed the spec in a way that the Job cannot follow. */
const WRITES_PODS: MatchCondition = {
  name: 'writes-its-pods',
  expression: `oldObject == null || ${CHANGES_PODS}`,
};

const MARKS = 'object.metadata.?annotations.orValue({})';
const PATH = `/metadata/annotations/${pointerToken(OWNER_MARK)}`;
const REMOVE = `[JSONPatch{op: "remove", path: "${PATH}"}]`;
const WRITE =
  `has(object.metadata.annotations) ? [JSONPatch{op: "add", path: "${PATH}", value: params.metadata.uid}] ` +
  `: [JSONPatch{op: "add", path: "/metadata/annotations", value: {${cel(OWNER_MARK)}: string(params.metadata.uid)}}]`;

/**
 * Compares the objects that the controller writes with the MiniCluster that owns them. A policy with params denies unless
 * every labelled MiniCluster of the namespace allows, so it cannot require that one of them is the owner. Two mutations do that:
 * one removes a mark that the request brings, the other marks the object with the uid of its owner, which the guard of the
 * objects requires. The second is evaluated again after the first, so their order does not matter.
 */
export class MiniClusterMatch extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionScopeProps, byController: MatchCondition) {
    super(scope, id);
    const name = `${props.name ?? 'fluxqueue'}-minicluster`;
    const brought = { name: 'brings-a-mark', expression: `${cel(OWNER_MARK)} in ${MARKS}` };
    this.addMutation(`${name}-unmark`, 'Never', [byController, WRITES_PODS, brought], REMOVE);
    const missing = {
      name: 'not-marked-yet',
      expression: `${MARKS}[?${cel(OWNER_MARK)}].orValue("") != params.metadata.uid`,
    };
    this.addMutation(
      `${name}-mark`,
      'IfNeeded',
      [byController, WRITES_PODS, OF_PARAMS, missing],
      WRITE,
      APPLYING,
    );
    this.addMatch('minicluster-pods', props, [byController, WRITES_PODS, OF_PARAMS], POD_MATCH, [
      { apiGroups: ['apps'], resources: ['statefulsets', 'deployments'] },
      { apiGroups: ['batch'], resources: ['jobs'] },
    ]);
    this.addMatch('minicluster-services', props, [byController, WRITES_PODS, OF_PARAMS], SERVICE_MATCH, [
      { apiGroups: [''], resources: ['services'] },
    ]);
  }

  private addMatch(
    id: string,
    props: AdmissionScopeProps,
    matchConditions: readonly MatchCondition[],
    validations: typeof POD_MATCH,
    resources: readonly { readonly apiGroups: string[]; readonly resources: string[] }[],
  ): void {
    const operations = ['CREATE', 'UPDATE'] as const;
    addGuard(this, id, props, {
      params: APPLYING,
      matchConstraints: {
        objectSelector: LABELLED,
        resourceRules: resources.map((rule) => ({ ...rule, apiVersions: ['v1'], operations })),
      },
      matchConditions,
      variables: SOURCE_VARIABLES,
      validations,
    });
  }

  private addMutation(
    name: string,
    reinvocationPolicy: 'Never' | 'IfNeeded',
    matchConditions: readonly MatchCondition[],
    expression: string,
    params?: Params,
  ): void {
    const policy = new ApiObject(this, name, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: admissionMetadata(name),
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy,
        ...(params === undefined ? {} : { paramKind: params.kind }),
        matchConstraints: {
          objectSelector: LABELLED,
          resourceRules: miniClusterResources(['CREATE', 'UPDATE'], { jobs: ['CREATE', 'UPDATE'] }),
        },
        matchConditions,
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
      },
    });
    new ApiObject(this, `${name}-binding`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: admissionMetadata(name),
      spec: {
        policyName: policy.name,
        ...(params === undefined ? {} : paramRef(params)),
      },
    });
  }
}
