/** One rule of admission, as both forms render it. */
import type { MatchCondition, namespaceSelector, Variable } from './scope';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly apiVersion?: string;
  readonly resources: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  /** End of the policy's name. */
  readonly suffix: string;
  readonly conditions: readonly MatchCondition[];
  readonly variables: readonly Variable[];
  readonly patch: string;
  /** Namespaces to which it applies. @default - the enabled ones */
  readonly namespaces?: ReturnType<typeof namespaceSelector>;
}
