/** User name of the Job controller with credentials of its own. */
export const JOB_CONTROLLER = 'system:serviceaccount:kube-system:job-controller';
/** It has these, or those of the controller manager. */
export const JOB_CONTROLLER_USERS: readonly string[] = [JOB_CONTROLLER, 'system:kube-controller-manager'];
