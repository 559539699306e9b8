/** The field by which a workload waits, for the kinds that have one. Pure. */
import { type FieldPath, JOB_SUSPEND, WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { fieldAt, withField } from '../kubernetes/fields';
import type { KubernetesObject } from '../kubernetes/types';

/** @param shown `job/train`, as commands name a workload. @returns undefined for pods, which are gated */
export function suspendField(shown: string): FieldPath | undefined {
  const [word] = shown.split('/');
  if (word === 'job') return JOB_SUSPEND;
  return WORKLOAD_KINDS.find(({ kind }) => kind.toLowerCase() === word)?.suspend;
}

export function isSuspended(shown: string, object: KubernetesObject): boolean {
  const field = suspendField(shown);
  return field !== undefined && fieldAt(object, field) === true;
}

/** The merge patch that suspends or resumes a workload with such a field. */
export function suspension(shown: string, suspend: boolean): Readonly<Record<string, unknown>> {
  const field = suspendField(shown);
  return field === undefined ? {} : (withField({}, field, suspend) as Record<string, unknown>);
}
