/** CEL that refuses pod specs with more than constructs/api/pod-limits.ts allows. */
import {
  POD_LIMIT_CODE,
  POD_LIMIT_REMEDY,
  POD_LIMITS,
  type PodLimit,
  podLimitField,
  podLimitProblem,
} from '../../api/pod-limits';
import type { GuardPart } from './guard-parts';
import { cel } from './scope';

/**
 * Most pods have none of the lists, and most updates change none of them.
 * @param spec path of the pod spec in the object, e.g. `spec.template.spec`
 * @param isOurs CEL: whether the queue has the object
 */
export function podLimitPart(spec: string, isOurs: string): GuardPart {
  const unchanged = ['affinity', 'topologySpreadConstraints']
    .map((field) => `object.${spec}.?${field} == oldObject.${spec}.?${field}`)
    .join(' && ');
  return {
    name: 'limits',
    when:
      `(has(object.${spec}.affinity) || has(object.${spec}.topologySpreadConstraints)) && ` +
      `(oldObject == null || !(${unchanged})) && ${isOurs}`,
    variables: [],
    problem: `${POD_LIMITS.map((limit) => problemOf(spec, limit)).join('')}""`,
  };
}

/** Start of a conditional expression. */
function problemOf(spec: string, limit: PodLimit): string {
  const count = countOf(`object.${spec}`, limit.lists);
  const start = `${POD_LIMIT_CODE}: ${spec}.${podLimitField(limit)}: ${podLimitProblem(limit)} (got `;
  return `${count} > ${limit.most} ? ${cel(start)} + string(${count}) + ${cel(`); ${POD_LIMIT_REMEDY}`)} : `;
}

function countOf(value: string, [path, ...inner]: PodLimit['lists'], depth = 0): string {
  const list = `${value}${path!.map((key) => `.?${key}`).join('')}.orValue([])`;
  if (inner.length === 0) return `${list}.size()`;
  const entry = `e${depth}`;
  return `${list}.map(${entry}, ${countOf(entry, inner, depth + 1)}).sum()`;
}
