/**
 * Names that users and both halves of the project share: labels, annotations, accounts, API groups. Constants only,
 * no imports (docs/decisions/0001-shared-names.md).
 */

/** Namespaces opt in with this label set to "true". */
export const NAMESPACE_LABEL = 'fluxqueue/enabled';

/** Admission sets this label to "true" on every Job and gated Pod that it admits to the queue; the runtime watches by it. */
export const ADMITTED_LABEL = 'fluxqueue/admitted';

/** Scheduling gate of pods that wait in the queue. */
export const GATE = 'fluxqueue';

/**
 * Annotation on a Job's pod template, and so on its pods: the node of each pod.
 * The runtime writes it in the release patch, and pod admission reads it.
 * runtime/workloads/assignment.ts describes the format.
 */
export const ASSIGNMENT_ANNOTATION = 'fluxqueue/assignment';

/** Annotation beside the assignment: Fluxion's job id of the allocation, for the recovery of a queue that lost its row. */
export const JOBID_ANNOTATION = 'fluxqueue/jobid';

/** Completion index that Kubernetes gives each pod of an indexed Job. */
export const COMPLETION_INDEX_ANNOTATION = 'batch.kubernetes.io/job-completion-index';

/** Labels that the Job controller gives each pod of a Job: uid and name of the Job. An orphaned pod keeps them. */
export const JOB_UID_LABEL = 'batch.kubernetes.io/controller-uid';
export const JOB_NAME_LABEL = 'batch.kubernetes.io/job-name';

/** Label or annotation: name of the queue. As a label of a namespace: the queue of its workloads that name none. */
export const QUEUE = 'fluxqueue/queue';
/** Label or annotation: an integer; a workload with a higher priority starts first. */
export const PRIORITY = 'fluxqueue/priority';
/** Label or annotation: duration ("1h30m", "2d", "1-12:00:00") or seconds ("5400"). */
export const WALLTIME = 'fluxqueue/walltime';
/** Label or annotation: "true" holds the workload in the queue until the setting is removed or "false". */
export const HOLD = 'fluxqueue/hold';
/** Label or annotation: dependencies of the workload, `[afterok:|afterany:|afternotok:]NAME`, separated by commas. */
export const AFTER = 'fluxqueue/after';
/** Label or annotation: "true" lets workloads of higher priority preempt this one. */
export const PREEMPTIBLE = 'fluxqueue/preemptible';
/**
 * Label or annotation: duration ("30m") or seconds; the workload saves its state at least that often, so an eviction loses no
 * more work than that.
 */
export const CHECKPOINT_INTERVAL = 'fluxqueue/checkpoint-interval';
/** Label or annotation of Pods: pods of a namespace with the same name are one workload, and start together. */
export const GROUP = 'fluxqueue/group';
/** Label or annotation of Pods: number of pods of that group. */
export const GROUP_SIZE = 'fluxqueue/group-size';
/**
 * Annotation on a pod that was released with its group: `UID/SET`, the group as the queue knows it and the pod set of the pod.
 * Only the controller writes it, with the job id of the grant.
 */
export const GROUP_MEMBER_ANNOTATION = 'fluxqueue/group-member';
/**
 * Label or annotation of an indexed Job that may grow while it runs: the number of pods (index 0 and up) that start together;
 * each further pod enters the queue as a workload of its own when it is created (docs/decisions/0012-elastic-miniclusters.md).
 */
export const GANG_SIZE = 'fluxqueue/gang-size';
/** Label or annotation: "true" asks for whole nodes. */
export const EXCLUSIVE = 'fluxqueue/exclusive';

/** Label of a Node: a whole number; nodes with a lower one are granted first. */
export const NODE_WEIGHT_LABEL = 'fluxqueue/node-weight';

/** Annotation: the user who created the workload. Admission writes it, except on objects that a controller created. */
export const USER_ANNOTATION = 'fluxqueue/user';

/**
 * Annotation on pods that were made for an object of a workload kind, and on the pod template of Jobs that were: `KIND/NAME/UID` of
 * that object. Admission writes it from their owners when they are created, and nothing changes it.
 */
export const OWNER_ANNOTATION = 'fluxqueue/owner';

/**
 * Annotation on an object of a workload kind that the queue has stopped for good: `TimedOut`. It stays suspended, and waits for
 * nothing.
 */
export const ENDED_ANNOTATION = 'fluxqueue/ended';

/** Label with which Kueue takes a Job into one of its queues. */
export const KUEUE_QUEUE_LABEL = 'kueue.x-k8s.io/queue-name';
/**
 * Annotation on the pod template of a Job that another queue has, and so on its pods: the name of that queue. Admission writes
 * it when the Job is created, and leaves the pods alone that the Job controller makes with it.
 */
export const QUEUED_BY_ANNOTATION = 'fluxqueue/queued-by';

/**
 * Annotation of a Job that its user suspends: what `spec.suspend` says is the queue's, so admission notes what the user last
 * asked for. `held` if admission added the hold for it, else `true`.
 */
export const SUSPEND_ANNOTATION = 'fluxqueue/suspend';

/**
 * Annotation on a Job or Pod: `604800/864000` is the activeDeadlineSeconds that the queue wrote at the release, and the user's own
 * (`none` if there was none). A field with another value is the user's. `604800+3600/none` allows for a start that is an
 * hour late, until half of the walltime is over.
 */
export const DEADLINE_ANNOTATION = 'fluxqueue/deadline';

/**
 * Annotation on a Job or an object of a workload kind: what the last update of a user wanted to change, and what admission put back,
 * separated by commas: keys of the queue, and fields of the spec of a started Job. Guards warn about them, and the FluxJob shows the fields.
 */
export const IGNORED_ANNOTATION = 'fluxqueue/ignored';

/** Audience of the tokens with which MiniClusters report to the controller; the apiserver accepts such a token for nothing. */
export const REPORT_AUDIENCE = 'fluxqueue.converged-computing.org';
/** Label of every object of a MiniCluster: the name of the MiniCluster. */
export const MINICLUSTER_LABEL = 'flux-framework.org/minicluster';

/** Label of a MiniCluster while the controller writes its objects; only the controller sets it. */
export const APPLYING_LABEL = 'flux-framework.org/applying';

/** Label of every object of the stack, and its value. */
export const PART_OF = 'app.kubernetes.io/part-of';
export const STACK = 'fluxqueue';

/** Label of every object that the controller makes for a MiniCluster, and its value; synthesized manifests do not have it. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const MANAGER = 'fluxqueue';

/** Scheduler profile of the kube-scheduler that the stack deploys. */
export const SCHEDULER_NAME = 'fluxqueue-scheduler';

/** PriorityClass of the stack's pods; admission refuses it to pods of other namespaces. */
export const PRIORITY_CLASS = 'fluxqueue';

/** Namespace and ServiceAccounts of the default stack. */
export const STACK_NAMESPACE = 'fluxqueue-system';
export const CONTROLLER_SERVICE_ACCOUNT = 'fluxqueue-controller';
export const WEBHOOK_SERVICE_ACCOUNT = 'fluxqueue-webhook';
export const READER_SERVICE_ACCOUNT = 'fluxqueue-reader';
export const SCHEDULER_SERVICE_ACCOUNT = 'fluxqueue-scheduler';

/** Key and file of the configuration in its ConfigMap. */
export const CONFIG_FILE_NAME = 'config.yaml';
/** Lease of the controller's leader election. */
export const CONTROLLER_LEASE = 'fluxqueue-controller';
/** Name of the webhook's Deployment and Service; the certificate is issued for the Service. */
export const WEBHOOK_SERVICE = 'fluxqueue-webhook';
/** Secret with the certificate that the webhook creates for itself. */
export const WEBHOOK_SECRET = 'fluxqueue-webhook-tls';
/** Name of the MutatingWebhookConfiguration. */
export const WEBHOOK_CONFIGURATION = 'fluxqueue';

/** Name of the reader's Deployment and Service; its certificate is issued for the Service. */
export const READER_SERVICE = 'fluxqueue-reader';
/** Secret with the certificate that the reader creates for itself. */
export const READER_SECRET = 'fluxqueue-reader-tls';

/** Field manager of every write of the runtime. */
export const FIELD_MANAGER = 'fluxqueue';

export const FLUXJOB_GROUP = 'jobs.converged-computing.org';
export const FLUXJOB_VERSION = 'v1alpha1';

/** Group of the read API, which the runtime serves through the apiserver (docs/decisions/0042-read-api.md). */
export const READ_GROUP = 'queue.converged-computing.org';
export const READ_VERSION = 'v1alpha1';
/** Name of the APIService. */
export const READ_API_SERVICE = `${READ_VERSION}.${READ_GROUP}`;

export const FLUXSETUP_GROUP = 'flux-framework.org';
export const FLUXSETUP_VERSION = 'v1alpha1';
export const MINICLUSTER_GROUP = 'flux-framework.org';
export const MINICLUSTER_VERSION = 'v1alpha2';

/** Key of the Secret that holds the brokers' certificate. */
export const CERTIFICATE_KEY = 'curve.cert';

/** Metadata of the constructs in an app that have the stack. */
export const STACK_METADATA = 'fluxqueue:stack';
