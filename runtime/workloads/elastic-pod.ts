/**
 * A pod beyond the gang of a running Job (decision 12) joins it: it asks by the
 * Job's terms, for what was left of the Job's time when it was made. Pure.
 */
import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import { askOf } from '../jobspec/jobspec';
import { controllerOf } from '../kubernetes/owner';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { secondsOf } from './adapter';
import { isBeyond } from './assignment';
import type { WorkloadSettings } from './settings';

/** @returns undefined for everything that stands for itself */
export function joiningSettings(
  object: KubernetesObject,
  rowOf: (uid: string) => WorkloadRow | undefined,
): WorkloadSettings | undefined {
  const { annotations, creationTimestamp } = object.metadata;
  const index = Number(annotations?.[COMPLETION_INDEX_ANNOTATION]);
  if (!isBeyond(annotations?.[ASSIGNMENT_ANNOTATION] ?? '', index)) return undefined;
  const job = rowOf(controllerOf(object)?.uid ?? '');
  if (job === undefined) return undefined;
  // The same at every look: a walltime that shrinks would be another request each time.
  const left = job.allocation === null ? job.walltime : job.allocation.end - secondsOf(creationTimestamp);
  return {
    // A FluxSetup's queue is `<namespace>/<name>`; asked for it is by its name.
    queue: job.queue.slice(job.queue.indexOf('/') + 1),
    priority: job.priority,
    walltimeSeconds: Math.max(1, left),
    hold: false,
    exclusive: askOf(job.jobspec).exclusive,
    after: [],
    preemptible: false,
  };
}
