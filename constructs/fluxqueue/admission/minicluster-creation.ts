/**
 * What binds the controller to MiniClusters where the apiserver has no MutatingAdmissionPolicy, before Kubernetes 1.36. A
 * policy with params denies if one of them does, or if there is none: so with one labelled MiniCluster in the namespace it
 * requires that this one is the owner and asks for the object. Releases of the queue and Kubernetes' own controllers update
 * objects at any time, also while no MiniCluster has the label: so this holds for what is created, and what exists keeps
 * what its pods can reach.
 */
import { Construct } from 'constructs';
import {
  APPLYING_LABEL,
  MANAGED_BY,
  MANAGER,
  MINICLUSTER_GROUP,
  MINICLUSTER_VERSION,
} from '../../api/labels';
import { sameExcept } from './comparison';
import { addGuard } from './guard-policy';
import { COMPARED_RULES, COMPARISONS, IS_OWNER } from './minicluster-match';
import { SOURCE_VARIABLES } from './minicluster-match-rules';
import { isKind } from './minicluster-objects';
import { type AdmissionScopeProps, cel, type MatchCondition } from './scope';
import type { Validation } from './settings';

/** The label by which the policy finds what the controller creates; it would refuse synthesized manifests of users too. */
export const IS_MANAGED: Validation = {
  expression:
    `request.operation != "CREATE" || ${isKind('Secret')} || ` +
    `object.metadata.?labels[?${cel(MANAGED_BY)}].orValue("") == ${cel(MANAGER)}`,
  message: `FLUXQ_RESERVED: metadata.labels["${MANAGED_BY}"]: the controller can only create objects with the value ${MANAGER}`,
};

/** Compares what the controller creates with the one MiniCluster of the namespace that has the label. */
export class MiniClusterCreation extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionScopeProps, byController: MatchCondition) {
    super(scope, id);
    addGuard(this, 'minicluster-creation', props, {
      params: {
        kind: { apiVersion: `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`, kind: 'MiniCluster' },
        matchLabels: { [APPLYING_LABEL]: 'true' },
        notFound: 'Deny',
      },
      matchConstraints: {
        objectSelector: { matchLabels: { [MANAGED_BY]: MANAGER } },
        resourceRules: COMPARED_RULES.map((rule) => ({ ...rule, operations: ['CREATE'] as const })),
      },
      matchConditions: [byController],
      variables: SOURCE_VARIABLES,
      validations: [
        {
          expression: IS_OWNER,
          message:
            'FLUXQ_MINICLUSTER_TURN: metadata.ownerReferences: another MiniCluster of this namespace is being applied',
        },
        ...COMPARISONS,
      ],
      reason: 'Invalid',
    });
  }
}

const pod = (object: string) => `dyn(${object}.spec.template.?spec.orValue({}))`;
const containers = (object: string) =>
  `(${pod(object)}.?containers.orValue([]) + ${pod(object)}.?initContainers.orValue([]))`;
/** What a container runs, and with how much. */
const RUNS = [
  ...['image', 'imagePullPolicy', 'command', 'args', 'workingDir', 'env', 'ports', 'resources'],
  ...['livenessProbe', 'readinessProbe', 'startupProbe'],
];
/** Variables with a source, in a container. CEL counts next to nothing for `in` of a list of maps, which takes its whole length. A MiniCluster has up to 500 secrets. */
const MOST_SOURCES = 600;

const SAME_CONTAINER = [
  'now.name == old.name',
  sameExcept('dyn(now)', 'dyn(old)', RUNS),
  sameSources('now', 'old'),
  'now.?ports.orValue([]).all(port, port.?hostPort.orValue(0) == 0 || port in old.?ports.orValue([]))',
].join(' && ');

/** CEL: each variable with a source was there before. */
function sameSources(now: string, old: string): string {
  const sources = (container: string) => `${container}.?env.orValue([]).filter(one, has(one.valueFrom))`;
  const all =
    `[${sources(now)}].exists(mine, [${sources(old)}].exists(known, ` +
    `mine.size() <= ${MOST_SOURCES} && known.size() <= ${MOST_SOURCES} && mine.all(one, one in known)))`;
  return `(${now}.?env == ${old}.?env || ${all})`;
}

/** CEL: the pods of an updated workload reach what they reached before: accounts, Secrets, volumes, the node. */
const REACH_THE_SAME =
  `(${pod('object')} == ${pod('oldObject')} || ${sameExcept(pod('object'), pod('oldObject'), ['containers', 'initContainers', 'terminationGracePeriodSeconds'])} && ` +
  `${containers('object')}.all(now, ${containers('oldObject')}.exists(old, ${SAME_CONTAINER})))`;

/** @param when CEL of the objects with pods */
export function reachTheSame(when: string): Validation {
  return {
    expression: `request.operation != "UPDATE" || !(${when}) || ${REACH_THE_SAME}`,
    message:
      'FLUXQ_MINICLUSTER_FIXED: spec.template.spec: on this version of Kubernetes the accounts, Secrets, volumes, tolerations and ' +
      'security settings of an existing MiniCluster cannot change; delete and create it again',
  };
}
