// generated from constructs/crds by npm run generate:imports

/**
 * State of the workload in the queue. Only the controller writes it.
 */
export interface FluxJobStatus {
  /**
   * Waiting: in its queue, with the reason in the condition Scheduled. Ready: nodes are allocated and the workload is released. Running: its first pod runs. Finished: it has ended, with the outcome in result.
   */
  readonly phase?: FluxJobStatusPhase;

  /**
   * Position in its queue in phase Waiting; 1 is next.
   */
  readonly position?: number;

  /**
   * Nodes of the allocation as an RFC 29 hostlist, for example `node[0-3,7]`. One of more than 8 KiB is cut behind an entry and ends in `,…`.
   */
  readonly nodes?: string;

  /**
   * Number of nodes of the allocation.
   */
  readonly nodeCount?: number;

  /**
   * Start time (RFC 3339) for the printer column; with the prefix `~` the estimatedStart, with the prefix `?` the plannedStart.
   */
  readonly start?: string;

  /**
   * Estimated start time of a waiting workload that has a reservation. Absent while the start depends on a workload that should have ended by now. RFC 3339.
   */
  readonly estimatedStart?: string;

  /**
   * When a waiting workload near the front of its queue would start if nothing were submitted and every workload used its whole walltime, to the minute. An estimate that may move in both directions, not a promise; absent beside estimatedStart. RFC 3339.
   */
  readonly plannedStart?: string;

  /**
   * When it would start if workloads ended as early as the last two of their users, to the minute; present where that is sooner than estimatedStart or plannedStart. It may move in both directions, and nothing is decided by it. RFC 3339.
   */
  readonly likelyStart?: string;

  /**
   * Time at which the workload was created. RFC 3339.
   */
  readonly submitTime?: string;

  /**
   * Time at which its first pod ran. RFC 3339.
   */
  readonly startTime?: string;

  /**
   * Time at which it ends at the latest, if that is not startTime and walltimeSeconds: its first container started late, or its user changed activeDeadlineSeconds. RFC 3339.
   */
  readonly endTime?: string;

  /**
   * Time at which it ended. RFC 3339.
   */
  readonly finishTime?: string;

  /**
   * Fluxion's job id of the allocation; a requeued workload gets a new one.
   */
  readonly jobID?: number;

  /**
   * Outcome of the workload.
   */
  readonly result?: FluxJobStatusResult;

  /**
   * Number of times that it lost its nodes after the release and was requeued.
   */
  readonly requeues?: number;

  /**
   * Allocated nodes, in the order of Fluxion's answer. Absent if it would take more than 16 KiB, which is about 200 nodes: nodes and nodeCount are always there.
   */
  readonly allocation?: readonly FluxJobStatusAllocation[];

  /**
   * Scheduled is True when nodes are allocated; before that, its reason is Submitted, Held, QuotaExceeded, DependencyPending, Reserved, Busy, Unsatisfiable, NoFluxSetup, NamespaceLeft, KindNotListed, SchedulingGated, Invalid, Requeued or RequeueLimit. Ready, Reconciling and Stalled are for GitOps tools and `kubectl wait`. PartiallyModeled is there only if kube-scheduler checks fields of the pods that the queue does not know; its message names them. SettingsReduced is there only if a limit of the queue changed the walltime, priority or queue that the user asked for; its message says how. MoreThanGranted is there only while pods use more than was granted; others get none of it. ChangeIgnored is there only while a started Job asks for something else than what it was granted with; its message names the fields and settings. RolloutWaits is there only while a pod of a Deployment waits and older pods of it run, which Kubernetes ends only when new ones run.
   */
  readonly conditions?: readonly FluxJobStatusConditions[];
}

/**
 * Waiting: in its queue, with the reason in the condition Scheduled. Ready: nodes are allocated and the workload is released. Running: its first pod runs. Finished: it has ended, with the outcome in result.
 */
export type FluxJobStatusPhase = 'Waiting' | 'Ready' | 'Running' | 'Finished';

/**
 * Outcome of the workload.
 */
export type FluxJobStatusResult = 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';

export interface FluxJobStatusAllocation {
  /**
   * Name of the node.
   */
  readonly node: string;

  /**
   * Number of pods of the workload that are assigned to the node.
   */
  readonly pods?: number;

  /**
   * Allocated units of the node: an RFC 22 idset for each unit type, for example `{core: "0-3,7"}`.
   */
  readonly units?: Readonly<Record<string, string>>;

  /**
   * Whether the whole node is allocated.
   */
  readonly exclusive?: boolean;
}

export interface FluxJobStatusConditions {
  /**
   * Name of the condition.
   */
  readonly type: string;

  /**
   * Status of the condition.
   */
  readonly status: FluxJobStatusConditionsStatus;

  /**
   * metadata.generation to which the condition refers.
   */
  readonly observedGeneration?: number;

  /**
   * Time at which status last changed. RFC 3339.
   */
  readonly lastTransitionTime: string;

  /**
   * Machine-readable reason in CamelCase.
   */
  readonly reason: string;

  /**
   * Human-readable message.
   */
  readonly message: string;
}

/**
 * Status of the condition.
 */
export type FluxJobStatusConditionsStatus = 'True' | 'False' | 'Unknown';
