/**
 * Hands a workload that waits back to Kubernetes: one patch takes from the object all that made it a workload of the
 * queue, and starts it. Without the label of admission the object is like any other: its user changes, suspends and
 * resumes it without the queue, and it stays outside when its namespace comes back.
 */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  HOLD,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { WorkloadKind } from '../../constructs/api/workload-kinds';
import { patchEntries } from '../kubernetes/json-patch';
import type { KubernetesObject } from '../kubernetes/types';
import type { WatchedJob } from '../shared/job-projection';
import type { JsonPatchOperation } from './adapter';
import { sameSpec } from './compared';
import { ownDeadline } from './deadlines';
import { isReplacementNoted } from './job-release';
import { REPLACEMENT_FIELD } from './replacement-policy';
import { settingOf } from './settings';

/** Whether its user, and not the queue, keeps the workload from starting. */
export function isHeldByUser({ metadata }: Pick<KubernetesObject, 'metadata'>): boolean {
  return settingOf(metadata, HOLD) === 'true';
}

/** @param starts whether the Job starts, too: one that its user suspended stays suspended */
export function jobHandOver(job: WatchedJob, starts: boolean): readonly JsonPatchOperation[] {
  const { metadata, spec, status } = job;
  const own = ownDeadline(job);
  const template = spec.template.metadata?.annotations;
  // Kubernetes lets nobody change the template of a Job that has started. Its annotations mean nothing without the queue.
  const isFree = status?.startTime === undefined && spec.suspend === true;
  return [
    ...sameSpec(metadata),
    ...patchEntries('/metadata/labels', metadata.labels, { [ADMITTED_LABEL]: undefined }),
    ...patchEntries('/metadata/annotations', metadata.annotations, { [DEADLINE_ANNOTATION]: undefined }),
    ...(isFree && template !== undefined
      ? patchEntries('/spec/template/metadata/annotations', template, {
          [ASSIGNMENT_ANNOTATION]: undefined,
          [JOBID_ANNOTATION]: undefined,
        })
      : []),
    ...deadlineOperation(spec.activeDeadlineSeconds, own),
    ...(spec.podReplacementPolicy === 'Failed' && isReplacementNoted(job)
      ? [{ op: 'add', path: REPLACEMENT_FIELD, value: 'TerminatingOrFailed' } as const]
      : []),
    ...(starts ? [{ op: 'add', path: '/spec/suspend', value: false } as const] : []),
  ];
}

/** @param starts as of a Job */
export function kindHandOver(
  { suspend }: WorkloadKind,
  { metadata }: KubernetesObject,
  starts: boolean,
): readonly JsonPatchOperation[] {
  return [
    ...sameSpec(metadata),
    ...patchEntries('/metadata/labels', metadata.labels, { [ADMITTED_LABEL]: undefined }),
    ...patchEntries('/metadata/annotations', metadata.annotations, {
      [ASSIGNMENT_ANNOTATION]: undefined,
      [JOBID_ANNOTATION]: undefined,
    }),
    ...(starts ? [{ op: 'add', path: `/${suspend.join('/')}`, value: false } as const] : []),
  ];
}

function deadlineOperation(is: number | undefined, own: number | undefined): readonly JsonPatchOperation[] {
  const path = '/spec/activeDeadlineSeconds';
  if (is === own) return [];
  return own === undefined ? [{ op: 'remove', path }] : [{ op: 'add', path, value: own }];
}
