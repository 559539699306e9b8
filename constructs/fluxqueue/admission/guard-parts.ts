/**
 * One guard with several concerns. The apiserver pays for each guard whose resources and namespaces match a request, also if
 * its conditions exclude the request, and of a guard that applies it evaluates each validation and each message. So concerns of
 * the same requests are parts of one guard with one condition, and with one sentence about the first problem.
 */
import type { GuardSpec } from './guard-policy';
import type { Variable } from './scope';

export interface GuardPart {
  /** Name of its CEL variable. */
  readonly name: string;
  /** CEL: false for every request in which it finds no problem; cheap, because it is evaluated for most requests. */
  readonly when: string;
  /** CEL: the sentence about the problem, or "". It cannot ask `authorizer`, which messages do not know. */
  readonly problem: string;
  /** Variables of `problem`. */
  readonly variables: readonly Variable[];
}

/** A guard that refuses with the sentence of the first part that finds a problem. */
export function guardOf(
  parts: readonly GuardPart[],
): Pick<GuardSpec, 'matchConditions' | 'variables' | 'validations'> {
  const conditions = [...new Set(parts.map(({ when }) => when))];
  const first = parts.map(({ name }) => `variables.${name} != "" ? variables.${name} : `).join('');
  return {
    matchConditions: [{ name: 'applies', expression: conditions.map((when) => `(${when})`).join(' || ') }],
    variables: [
      ...parts.flatMap(({ variables }) => variables),
      ...parts.map(({ name, when, problem }) => ({
        name,
        expression: `(${when}) ? (${problem}) : ""`,
      })),
      { name: 'problem', expression: `${first}""` },
    ],
    validations: [{ expression: 'variables.problem == ""', messageExpression: 'variables.problem' }],
  };
}
