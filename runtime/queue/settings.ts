/** Settings of a queue, with everything that a scheduling pass needs to know of it. */
import type { BackfillOrder, FairSharing, QueuePolicy } from '../../constructs/api/policies';

/** Limits on what a queue holds at once, in Kubernetes quantities (cores, GiB), not in units. Absent: not limited. */
export interface Quota {
  readonly jobs?: number;
  readonly pods?: number;
  readonly cores?: number;
  readonly memoryGiB?: number;
  readonly gpus?: number;
  /** Number of different nodes. */
  readonly nodes?: number;
}

/** Most workloads that run, and most waiting ones that are considered; absent: no limit. */
export interface Limits {
  readonly running?: number;
  readonly waiting?: number;
}

/** Usage for fair share is the sum of all resources, each multiplied by its weight. */
export interface BillingWeights {
  readonly cores: number;
  readonly memoryGiB: number;
  readonly gpus: number;
}

/** The most points of priority that each factor is worth. */
export interface PriorityWeights {
  /** Of a workload that has waited for the maximum age. */
  readonly age: number;
  /** Of a queue and a user without usage, where fair share is on. */
  readonly fairShare: number;
  /** Of a workload that asks for the whole cluster; negative: small ones come first. */
  readonly size: number;
  /** Of every workload of the queue. */
  readonly queue: number;
  /** Seconds after which a workload does not become older. */
  readonly maxAgeSeconds: number;
}

/** A queue: the stack's own queue comes from its configuration, the others from FluxSetups. */
export interface QueueSettings {
  /** Name as configured; of a FluxSetup `<namespace>/<FluxSetup>`. */
  readonly name: string;
  /** Namespace of the FluxSetup; null: the stack's own queue, open to all namespaces. */
  readonly namespace: string | null;
  readonly policy: QueuePolicy;
  /** Number of reservations with policy hybrid. */
  readonly reservations: number;
  /** Who is tried first behind the promised starts. */
  readonly backfillOrder: BackfillOrder;
  /** Seconds after which a workload is tried in the order of the line again, whatever its area. */
  readonly backfillMaxWaitSeconds: number;
  /** Most match requests of the queue in one pass. */
  readonly depth: number;
  readonly defaultWalltimeSeconds: number;
  readonly maxWalltimeSeconds: number;
  /** Priorities outside this range are cut to it. */
  readonly priority: { readonly min: number; readonly max: number };
  /** Priority points per hour of waiting beside `priorityWeights.age`, up to the maximum age; 0: none. */
  readonly agingPerHour: number;
  readonly priorityWeights: PriorityWeights;
  readonly quota: Quota;
  /** Queues of one cohort lend each other idle quota; null: none. */
  readonly cohort: string | null;
  /** Most that this queue borrows beyond its own quota. Absent: no limit; all 0: it borrows nothing. */
  readonly borrowing: Quota;
  /** Most of its own quota that the others of its cohort borrow. Absent: all of it; 0: none. Nodes are not in it. */
  readonly lending: Quota;
  /** Whether it evicts borrowers when its own workloads need the quota. */
  readonly reclaim: boolean;
  readonly limits: { readonly queue: Limits; readonly user: Limits };
  /** Share relative to other queues, for fair share. */
  readonly weight: number;
  /** What a core, a GiB and a gpu count in fair share. */
  readonly billingWeights: BillingWeights;
  /** Whether its workloads may evict preemptible workloads of lower priority. */
  readonly preempts: boolean;
  /** Whether its workloads may evict workloads of queues that have borrowed a larger share of its cohort. */
  readonly fairSharing: FairSharing;
  /** Which of its workloads others may preempt: those that ran for this time, and each at most this often. */
  readonly preemption: { readonly minRuntimeSeconds: number; readonly limit: number };
  /** How often a workload is requeued after failures, and the first backoff, which doubles each time. */
  readonly requeue: { readonly limit: number; readonly backoffSeconds: number };
}
