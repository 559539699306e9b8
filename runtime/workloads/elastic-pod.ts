/**
 * An elastic pod is a pod that a running Job gains beyond its gang (decision
 * 12). It is queued by itself, with the settings of its Job and with the
 * walltime that the Job had left when the pod was created.
 */
import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import { askOf } from '../jobspec/jobspec';
import { controllerOf } from '../kubernetes/owner';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { secondsOf } from './adapter';
import { isBeyondAssignment } from './assignment';
import type { WorkloadSettings } from './settings';

/** The settings of an elastic pod; `queue` and `user` are those of its Job. */
type ElasticPodSettings = WorkloadSettings & { readonly queue: string; readonly user: string };

/** Undefined for every other object, which has its own settings. */
export function elasticPodSettings(
  object: KubernetesObject,
  rowOf: (uid: string) => WorkloadRow | undefined,
): ElasticPodSettings | undefined {
  const { annotations, creationTimestamp } = object.metadata;
  const index = Number(annotations?.[COMPLETION_INDEX_ANNOTATION]);
  if (!isBeyondAssignment(annotations?.[ASSIGNMENT_ANNOTATION] ?? '', index)) return undefined;
  const job = rowOf(controllerOf(object)?.uid ?? '');
  if (job === undefined) return undefined;
  // From the creation time, not from now: a walltime that shrinks would change the submission at each reconcile.
  const left = job.allocation === null ? job.walltime : job.allocation.end - secondsOf(creationTimestamp);
  return {
    queue: job.queue,
    user: job.user,
    priority: job.priority,
    walltimeSeconds: Math.max(1, left),
    hold: false,
    exclusive: askOf(job.jobspec).exclusive,
    after: [],
    preemptible: false,
  };
}
