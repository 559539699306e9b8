/** CEL that refuses pod specs with more than constructs/api/pod-limits.ts allows. */
import {
  POD_LIMIT_CODE,
  POD_LIMIT_REMEDY,
  POD_LIMITS,
  type PodLimit,
  podLimitField,
  podLimitProblem,
} from '../../api/pod-limits';
import { cel, type MatchCondition } from './scope';
import type { Validation } from './settings';

interface PodLimitRules {
  readonly matchConditions: readonly MatchCondition[];
  readonly validations: readonly Validation[];
}

/**
 * Most pods have none of the lists, and most updates change none of them.
 * @param spec path of the pod spec in the object, e.g. `spec.template.spec`
 */
export function podLimitRules(spec: string): PodLimitRules {
  const unchanged = ['affinity', 'topologySpreadConstraints']
    .map((field) => `object.${spec}.?${field} == oldObject.${spec}.?${field}`)
    .join(' && ');
  return {
    matchConditions: [
      {
        name: 'has-placement',
        expression: `has(object.${spec}.affinity) || has(object.${spec}.topologySpreadConstraints)`,
      },
      { name: 'changes-its-placement', expression: `oldObject == null || !(${unchanged})` },
    ],
    validations: POD_LIMITS.map((limit) => validation(spec, limit)),
  };
}

function validation(spec: string, limit: PodLimit): Validation {
  const count = countOf(`object.${spec}`, limit.lists);
  const start = `${POD_LIMIT_CODE}: ${spec}.${podLimitField(limit)}: ${podLimitProblem(limit)} (got `;
  return {
    expression: `${count} <= ${limit.most}`,
    messageExpression: `${cel(start)} + string(${count}) + ${cel(`); ${POD_LIMIT_REMEDY}`)}`,
  };
}

function countOf(value: string, [path, ...inner]: PodLimit['lists'], depth = 0): string {
  const list = `${value}${path!.map((key) => `.?${key}`).join('')}.orValue([])`;
  if (inner.length === 0) return `${list}.size()`;
  const entry = `e${depth}`;
  return `${list}.map(${entry}, ${countOf(entry, inner, depth + 1)}).sum()`;
}
