/** User name of all controllers without credentials of their own. */
const CONTROLLER_MANAGER = 'system:kube-controller-manager';

/** User name of the Job controller with credentials of its own. */
export const JOB_CONTROLLER = 'system:serviceaccount:kube-system:job-controller';
/** It has these, or those of the controller manager. */
export const JOB_CONTROLLER_USERS: readonly string[] = [JOB_CONTROLLER, CONTROLLER_MANAGER];

/** User names of the garbage collector, which orphans the pods of a Job that is deleted without them. */
export const GARBAGE_COLLECTOR_USERS: readonly string[] = [
  'system:serviceaccount:kube-system:generic-garbage-collector',
  CONTROLLER_MANAGER,
];

/** Finalizer of each pod of a Job. The Job controller removes it once it has counted the end of the pod. */
export const JOB_TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
