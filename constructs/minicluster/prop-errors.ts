import { PropsError } from '../api/errors';
import { propProblems } from '../api/prop-rules';
import type { ClusterContext } from './context';
import { propPath } from './prop-path';
import { MINICLUSTER_RULES } from './prop-rules';
import type { MiniClusterProps } from './props';
import type { MiniClusterResource } from './resource';
import { validateContext } from './validate';
import { staticReportIssues } from './validate-report';
import { formatIssue, type ValidationIssue } from './validation-issue';

/**
 * Validates the resource that the props of a construct stand for, and returns its context.
 * @param live whether the MiniCluster itself is applied, or its manifests
 * @throws PropsError that lists every mistake at the path of its prop
 */
export function validProps(
  resource: MiniClusterResource,
  constructPath: string,
  { live = false } = {},
): ClusterContext {
  const { issues: always, context } = validateContext(resource);
  const issues = live ? always : [...always, ...staticReportIssues(resource)];
  if (context !== undefined && issues.length === 0) return context;
  throw mistakes(constructPath, issues.map(atProp));
}

/** @throws PropsError for props that the conversion to a spec would drop, or cannot read */
export function checkNames(props: MiniClusterProps, constructPath: string): void {
  const found = propProblems(props, MINICLUSTER_RULES).map(({ problem, ...place }) => ({
    ...place,
    message: problem,
  }));
  if (found.length > 0) throw mistakes(constructPath, found);
}

function mistakes(constructPath: string, found: readonly ValidationIssue[]): PropsError {
  return new PropsError(
    `MiniCluster ${constructPath}`,
    `has ${found.length === 1 ? 'a mistake' : `${found.length} mistakes`}:\n  ${found.map(formatIssue).join('\n  ')}\n `,
    undefined,
    'correct each of them; docs/minicluster-fields.md lists every prop',
  );
}

function atProp(issue: ValidationIssue): ValidationIssue {
  return { ...issue, path: propPath(issue.path), remedy: issue.propRemedy ?? issue.remedy };
}
