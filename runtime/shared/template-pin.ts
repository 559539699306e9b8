/**
 * The pin that a release writes into the template of a Job whose pods all go to one node, so that admission need not
 * change its pods (docs/decisions/0005-assignment.md). It stays in the template when the Job is suspended again, so whatever
 * reads a Job reads its template without it.
 */
import { ASSIGNMENT_ANNOTATION, PINNED_ANNOTATION } from '../../constructs/api/labels';
import type { Job, PodSpec } from '../kubernetes/types';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
/** JSON pointers in a Job. */
export const TEMPLATE_AFFINITY = '/spec/template/spec/affinity';
export const TEMPLATE_NODE_TERMS = `${TEMPLATE_AFFINITY}/nodeAffinity/${REQUIRED}`;

/** Merge patch of an affinity that has more than the pin. */
export const UNPINNED = { nodeAffinity: { [REQUIRED]: null } };

type Affinity = NonNullable<PodSpec['affinity']>;
type Template = Job['spec']['template'];

/** The affinity of pods that may run on this node only. */
export function affinityTo(node: string): Affinity {
  const onNode = { key: 'metadata.name', operator: 'In', values: [node] } as const;
  return { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [{ matchFields: [onNode] }] } } };
}

/** Whether the template has a pin of the queue, and not what its user has written over it since. */
export function isPinned({ metadata, spec }: Template): boolean {
  const { [PINNED_ANNOTATION]: pinned, [ASSIGNMENT_ANNOTATION]: assignment } = metadata?.annotations ?? {};
  if (pinned === undefined || assignment === undefined) return false;
  const [term, ...others] = spec.affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const [field, ...more] = term?.matchFields ?? [];
  return (
    field?.key === 'metadata.name' &&
    field.operator === 'In' &&
    field.values?.length === 1 &&
    assignment.endsWith(`:${field.values[0]}`) &&
    (term?.matchExpressions ?? []).length + more.length + others.length === 0
  );
}

/** The spec without the pin that it has. */
export function withoutPin({ affinity, ...spec }: PodSpec): PodSpec {
  const { nodeAffinity = {}, ...others } = affinity ?? {};
  const { [REQUIRED]: _, ...preferred } = nodeAffinity;
  const left = { ...others, ...(Object.keys(preferred).length > 0 && { nodeAffinity: preferred }) };
  return Object.keys(left).length > 0 ? { ...spec, affinity: left } : spec;
}
