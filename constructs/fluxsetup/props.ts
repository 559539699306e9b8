import type { Duration, Size } from 'cdk8s';
import type { Cpu } from 'cdk8s-plus-28';
import type { BackfillOrder, FairSharing, QueuePolicy } from '../api/policies';

/** Maximum amounts that the workloads of a queue can hold at the same time. */
export interface Quota {
  /** Maximum number of workloads. @default - not limited */
  readonly jobs?: number;

  /** Maximum number of running pods. @default - not limited */
  readonly pods?: number;

  /** Maximum number of cores. @default - not limited */
  readonly cores?: Cpu;

  /** Maximum amount of memory. @default - not limited */
  readonly memory?: Size;

  /** Maximum number of GPUs of any vendor: resources like `nvidia.com/gpu`, whose names end in `/gpu`. @default - not limited */
  readonly gpus?: number;

  /** Maximum number of different nodes. @default - not limited */
  readonly nodes?: number;
}

/** Amounts of a quota, without nodes: two queues can use the same node. */
export interface LendingLimit {
  /** Maximum number of workloads. @default - the quota */
  readonly jobs?: number;

  /** Maximum number of running pods. @default - the quota */
  readonly pods?: number;

  /** Maximum number of cores. @default - the quota */
  readonly cores?: Cpu;

  /** Maximum amount of memory. @default - the quota */
  readonly memory?: Size;

  /** Maximum number of GPUs of any vendor: resources whose names end in `/gpu`. @default - the quota */
  readonly gpus?: number;
}

/** What the resources of a workload count in fair share. */
export interface BillingWeights {
  /** Weight of one core. @default 1 */
  readonly cores?: number;

  /** Weight of one GiB of memory. @default 0.25 */
  readonly memory?: number;

  /** Weight of one GPU of any vendor. @default 16 */
  readonly gpus?: number;
}

/** What the factors of the order are worth in points, which are added to the priority of a workload. */
export interface PriorityWeights {
  /** Points of a workload that has waited for `priorityMaxAge` of the stack, and in proportion before. @default 0.5 */
  readonly age?: number;

  /** Points of a queue and a user that have used nothing, and fewer the more they have used; with `fairShare` of the stack. @default 0.5 */
  readonly fairShare?: number;

  /** Points of a workload that asks for the whole cluster, and in proportion of others; below 0, small ones come first. @default 0 */
  readonly size?: number;

  /** Points of every workload of the queue. @default 0 */
  readonly queue?: number;
}

/** Maximum numbers of workloads. */
export interface Limits {
  /** Maximum number of workloads that hold nodes at the same time. @default - not limited */
  readonly running?: number;

  /** Maximum number of pending workloads that a scheduling pass considers; the others wait behind them. @default - not limited */
  readonly waiting?: number;
}

export interface FluxSetupProps {
  /**
   * Name of the queue, which workloads give in the label `fluxqueue/queue`: at most 63 lower-case letters, digits and "-".
   * @default - the construct's id
   */
  readonly name?: string;

  /** Namespace whose workloads the queue takes. @default - the namespace of the chart */
  readonly namespace?: string;

  /** Policy that decides which pending workloads can start before earlier ones. @default easy */
  readonly policy?: QueuePolicy;

  /** Number of pending workloads for which nodes are reserved; policy `hybrid` only. @default 8 */
  readonly reservations?: number;

  /**
   * Order in which pending workloads are tried behind the promised starts of the policies `easy` and `hybrid`: `shortestArea` tries those
   * first that ask for the smallest part of the cluster times their walltime.
   * @default submission
   */
  readonly backfillOrder?: BackfillOrder;

  /** Time in the queue after which `shortestArea` tries a workload in the order of the line again. @default Duration.days(7) */
  readonly backfillMaxWait?: Duration;

  /** Maximum number of pending workloads that one scheduling pass considers. @default 10000 */
  readonly depth?: number;

  /** Walltime of workloads that request none. @default Duration.hours(1) */
  readonly defaultWalltime?: Duration;

  /** Maximum walltime of a workload; a longer request is reduced to it. @default Duration.days(7) */
  readonly maxWalltime?: Duration;

  /** Lowest priority of a workload; a lower priority is raised to it. @default - not limited */
  readonly minPriority?: number;

  /** Highest priority of a workload; a higher priority is reduced to it. @default - not limited */
  readonly maxPriority?: number;

  /**
   * Whether workloads of the namespace may also name the stack's own queue, which has other limits than the FluxSetups of
   * the namespace.
   * @default false
   */
  readonly allowStackQueue?: boolean;

  /**
   * Priority points that a workload gains for each hour in the queue, up to `priorityMaxAge` of the stack, in addition to what
   * `priorityWeights` gives for its age.
   * @default 0
   */
  readonly agingPerHour?: number;

  /** What the factors of the order are worth for workloads of the queue. @default - the weights of the stack, and 0 for the queue */
  readonly priorityWeights?: PriorityWeights;

  /** Quota of all workloads of the queue together. @default - not limited */
  readonly quota?: Quota;

  /** Name of the cohort: FluxSetups of one cohort, in any namespace, lend each other unused quota. @default - none */
  readonly cohort?: string;

  /** Maximum amounts that the queue borrows from its cohort beyond its own quota. @default - not limited */
  readonly borrowing?: Quota;

  /** Maximum amounts of its unused quota that the queue lends to its cohort; each needs a quota. @default - the quota */
  readonly lendingLimit?: LendingLimit;

  /**
   * Whether the queue reclaims its own quota from borrowers: as few of their workloads as needed, those of the lowest priority
   * and of these the youngest, are evicted and requeued.
   * @default false
   */
  readonly reclaim?: boolean;

  /** Limits of the whole queue. @default - not limited */
  readonly limits?: Limits;

  /** Limits of each user of the queue. @default - not limited */
  readonly limitsPerUser?: Limits;

  /**
   * Share relative to other queues: of the cluster, where the stack has `fairShare: true`, and of what queues borrow from their cohort, with
   * `fairSharing`.
   * @default 1
   */
  readonly weight?: number;

  /** What the resources of its workloads count in fair share. @default - the default of each resource */
  readonly billingWeights?: BillingWeights;

  /** Whether workloads of the queue can preempt preemptible workloads of lower priority. @default false */
  readonly preempts?: boolean;

  /**
   * Whether workloads of the queue that lack quota of their cohort can evict workloads of queues that have borrowed a larger share of it,
   * each by its `weight`. It needs a `cohort`.
   * @default 'Never'
   */
  readonly fairSharing?: FairSharing;

  /** Time for which a workload of the queue runs before others can preempt it. @default Duration.minutes(5) */
  readonly preemptionMinRuntime?: Duration;

  /** How often others can preempt one workload of the queue; after that it keeps its nodes. @default 5 */
  readonly preemptionLimit?: number;

  /** Number of automatic requeues of a workload that fails for causes of its own; after that it is tried once an hour. @default 5 */
  readonly requeueLimit?: number;

  /** Delay before the first requeue starts again; it doubles with each further one, up to an hour. @default Duration.seconds(5) */
  readonly requeueBackoff?: Duration;
}
