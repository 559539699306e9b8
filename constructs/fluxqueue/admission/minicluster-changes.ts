/**
 * CEL that warns about an update of a running MiniCluster without an effect. The spec is stored as it was sent, so nothing is put back: the
 * condition Stalled and the FluxJob of its Job say the same later (runtime/miniclusters), but who edits it reads only the answer.
 */
import { settingKeptProblem, settingKeptRemedy } from '../../api/granted-fields';
import { MINICLUSTER_GROUP, MINICLUSTER_VERSION } from '../../api/labels';
import type { GuardSpec } from './guard-policy';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  namespaceSelector,
  notTheController,
} from './scope';
import type { Validation } from './settings';

/** What its brokers and their pods read when they start. Kubernetes keeps most of it in the template of a started Job. */
const OF_PODS = [
  ...['containers', 'pod', 'tasks', 'workload', 'interactive', 'shareProcessNamespace'],
  ...['archive', 'logging', 'flux'],
];
const SIZES = ['size', 'maxSize'];
const MOST = 2 ** 31 - 1;
const SETTINGS = ['queue', 'priority', 'exclusive'];
/** An earlier end has an effect. */
const ENDS = ['walltime', 'deadlineSeconds'];

const value = (object: string, field: string) => `${object}.spec.?${field}`;
const same = (field: string) => `${value('object', field)} == ${value('oldObject', field)}`;
/** Whoever stops it means its next start. */
const STOPS = 'object.spec.?suspend.orValue(false)';
const IS_LOWER =
  'has(object.spec.deadlineSeconds) && has(oldObject.spec.deadlineSeconds) && object.spec.deadlineSeconds <= oldObject.spec.deadlineSeconds';
const isKept = (field: string) =>
  `${STOPS} || ${same(field)}${field === 'deadlineSeconds' ? ` || (${IS_LOWER})` : ''}`;

const KEPT = settingKeptProblem('MiniCluster');
const REMEDY = settingKeptRemedy('', 'MiniCluster');
const validations: readonly Validation[] = [
  ...OF_PODS.map((field) => ({
    expression: same(field),
    message: `FLUXQ_RELEASED: spec.${field}: a change has no effect on the pods of a MiniCluster that the queue started; revert it, or delete and recreate the MiniCluster`,
  })),
  ...SIZES.map((field) => ({
    expression: `${same(field)} || ${value('object', field)}.orValue(0) <= oldObject.status.?maximumSize.orValue(${MOST})`,
    message: `FLUXQ_RELEASED: spec.${field}: what is beyond status.maximumSize ${KEPT}; delete and recreate the MiniCluster to make it larger`,
  })),
  ...SETTINGS.map((field) => ({
    expression: isKept(field),
    message: `FLUXQ_RELEASED: spec.${field}: ${KEPT}; ${REMEDY}`,
  })),
  ...ENDS.map((field) => ({
    expression: isKept(field),
    message: `FLUXQ_RELEASED: spec.${field}: what is beyond the granted time ${KEPT}; ${REMEDY}`,
  })),
];

export function ineffectiveMiniClusterChanges(props: AdmissionScopeProps & ControllerUserProps): GuardSpec {
  return {
    matchConstraints: {
      namespaceSelector: namespaceSelector(props),
      resourceRules: [
        {
          apiGroups: [MINICLUSTER_GROUP],
          apiVersions: [MINICLUSTER_VERSION],
          operations: ['UPDATE'],
          resources: ['miniclusters'],
        },
      ],
    },
    matchConditions: [
      {
        name: 'started',
        expression: `oldObject.?status.?phase.orValue("") in ["Ready", "Running"] && object.spec != oldObject.spec`,
      },
      notTheController(props),
    ],
    action: 'Warn',
    validations,
  };
}
