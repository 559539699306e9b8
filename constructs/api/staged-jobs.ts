/**
 * Jobs whose pods wait for another controller: the template has a scheduling gate that is not the queue's. Admission starts
 * them at once, because only pods that exist can lose their gate, and gates each of their pods: it is queued by itself, with the
 * settings of its Job, once the other controller has removed its own gate, and holds nothing before. The pods of a gang are
 * granted together, so a gang is held as any other Job.
 */
import { AFTER, EXCLUSIVE, GANG_SIZE, HOLD, PREEMPTIBLE, PRIORITY, QUEUE, WALLTIME } from './labels';

/** The Jobs of these kinds talk to each other. */
export const GANG_OWNERS: readonly string[] = ['MiniCluster', 'JobSet'];

/** With one of these settings, which are about the whole Job, it is held as any other Job. */
export const WHOLE_JOB_SETTINGS: readonly string[] = [GANG_SIZE, HOLD];

/** Settings of the Job that each of its pods gets. */
export const POD_SETTINGS: readonly string[] = [AFTER, EXCLUSIVE, PREEMPTIBLE, PRIORITY, QUEUE, WALLTIME];
