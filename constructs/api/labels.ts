/**
 * The names users and our components agree on. Constants only, no imports:
 * the one file that both constructs/ and runtime/ may read
 * (docs/decisions/0001-shared-names.md).
 */

/** Namespaces opt in with this label set to "true". */
export const NAMESPACE_LABEL = 'fluxqueue/enabled';

/** Admission sets this label to "true" on every Job and gated Pod it takes in; the runtime watches by it. */
export const ADMITTED_LABEL = 'fluxqueue/admitted';

/** Scheduling gate of pods that wait in the queue. */
export const GATE = 'fluxqueue';

/**
 * Annotation on a Job's pod template (and so on its pods): which pod goes where.
 * Written by the runtime in the release patch, read by pod admission.
 * Format: see runtime/workloads/assignment.ts.
 */
export const ASSIGNMENT_ANNOTATION = 'fluxqueue/assignment';

/** Annotation beside it: Fluxion's job id of that allocation, for the recovery of a queue that has forgotten it. */
export const JOBID_ANNOTATION = 'fluxqueue/jobid';

/** Kubernetes' own completion index of a pod of an indexed Job. */
export const COMPLETION_INDEX_ANNOTATION = 'batch.kubernetes.io/job-completion-index';

/** Label or annotation: name of the queue. */
export const QUEUE = 'fluxqueue/queue';
/** What the name of a queue looks like; RE2 and JavaScript read it alike. */
export const QUEUE_NAME_PATTERN = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$';
/** The same in words. */
export const QUEUE_NAME_SYNTAX = 'at most 63 lower-case letters, digits and "-"';
/** Label or annotation: integer, higher starts first. */
export const PRIORITY = 'fluxqueue/priority';
/** Label or annotation: Go duration ("1h30m") or seconds ("5400"). */
export const WALLTIME = 'fluxqueue/walltime';
/** Label or annotation: "true" holds the workload until it is removed or "false". */
export const HOLD = 'fluxqueue/hold';
/** Label or annotation: what this workload waits for, `[afterok:|afterany:|afternotok:]NAME`, separated by commas. */
export const AFTER = 'fluxqueue/after';
/** Label or annotation: "true" lets the queue take it back for a more urgent workload. */
export const PREEMPTIBLE = 'fluxqueue/preemptible';
/** Label or annotation: plain pods of one name form a gang. */
export const GROUP = 'fluxqueue/group';
/** Label or annotation: number of pods of the gang. */
export const GROUP_SIZE = 'fluxqueue/group-size';
/**
 * Annotation of an indexed Job that may grow while it runs: so many of its pods (index 0 and up) are granted together;
 * each of the others enters the queue by itself when it is made (docs/decisions/0012-elastic-miniclusters.md).
 */
export const GANG_SIZE = 'fluxqueue/gang-size';
/** Label or annotation: "true" asks for whole nodes. */
export const EXCLUSIVE = 'fluxqueue/exclusive';

/** Annotation: the user who made the workload. Admission writes it, and leaves it out where a controller made it. */
export const USER_ANNOTATION = 'fluxqueue/user';

/** Annotation on a Job: the activeDeadlineSeconds that the queue wrote when it released it; another one is its user's. */
export const DEADLINE_ANNOTATION = 'fluxqueue/deadline';
/** Label of everything a MiniCluster is made of: its name. */
export const MINICLUSTER_LABEL = 'flux-framework.org/minicluster';

/** Scheduler profile of the stack's own kube-scheduler. */
export const SCHEDULER_NAME = 'fluxqueue-scheduler';

/** Namespace and ServiceAccounts of the default stack. */
export const STACK_NAMESPACE = 'fluxqueue-system';
export const CONTROLLER_SERVICE_ACCOUNT = 'fluxqueue-controller';
export const WEBHOOK_SERVICE_ACCOUNT = 'fluxqueue-webhook';
export const SCHEDULER_SERVICE_ACCOUNT = 'fluxqueue-scheduler';

/** Field manager of every write of the runtime. */
export const FIELD_MANAGER = 'fluxqueue';

export const FLUXJOB_GROUP = 'jobs.converged-computing.org';
export const FLUXJOB_VERSION = 'v1alpha1';

export const FLUXSETUP_GROUP = 'flux-framework.org';
export const FLUXSETUP_VERSION = 'v1alpha1';
export const MINICLUSTER_GROUP = 'flux-framework.org';
export const MINICLUSTER_VERSION = 'v1alpha2';

/** Key of a Secret under which the brokers' certificate stands. */
export const CERTIFICATE_KEY = 'curve.cert';
