import { PropsError } from '../api/errors';
import type { ClusterContext } from './context';
import { propPath } from './prop-path';
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
  const found = issues.map(atProp);
  throw new PropsError(
    `MiniCluster ${constructPath}`,
    `has ${issues.length === 1 ? 'a mistake' : `${issues.length} mistakes`}:\n  ${found.map(formatIssue).join('\n  ')}\n `,
    found.map(({ path }) => path),
    'correct each of them; docs/minicluster-fields.md lists every prop',
  );
}

function atProp(issue: ValidationIssue): ValidationIssue {
  return { ...issue, path: propPath(issue.path), remedy: issue.propRemedy ?? issue.remedy };
}
