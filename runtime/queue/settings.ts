import type { QueuePolicy } from '../../constructs/api/policies';

/** Of a quota; cores, memory (GiB) and gpus in whole Kubernetes quantities, not units. Absent: not limited. */
export interface Quota {
  readonly jobs?: number;
  readonly pods?: number;
  readonly cores?: number;
  readonly memoryGiB?: number;
  readonly gpus?: number;
  /** Different nodes. */
  readonly nodes?: number;
}

/** Most that may run, and most that are looked at while they wait; absent: no limit. */
export interface Limits {
  readonly running?: number;
  readonly waiting?: number;
}

/** A queue: the stack's own from its configuration, the others from FluxSetups. */
export interface QueueSettings {
  /** The stack's own: as configured. A FluxSetup's: `<namespace>/<FluxSetup>`. */
  readonly name: string;
  /** Namespace of the FluxSetup; null: the stack's own queue, open to all. */
  readonly namespace: string | null;
  readonly policy: QueuePolicy;
  /** hybrid: how many reservations. */
  readonly reservations: number;
  /** How many workloads are asked about at most in one pass. */
  readonly depth: number;
  readonly defaultWalltimeSeconds: number;
  readonly maxWalltimeSeconds: number;
  /** Priorities outside are cut to these. */
  readonly priority: { readonly min: number; readonly max: number };
  /** Priority points that waiting earns per hour. 0: none. */
  readonly agingPerHour: number;
  readonly quota: Quota;
  /** QueueRegistry of one cohort lend each other idle quota. */
  readonly cohort: string | null;
  /** Most of the cohort's idle quota that this queue takes beyond its own; absent: no limit; all 0: it borrows nothing. */
  readonly borrowing: Quota;
  /** Takes its own quota back from borrowers by requeue. */
  readonly reclaim: boolean;
  readonly limits: { readonly queue: Limits; readonly user: Limits };
  /** Share of the machine relative to other queues, for fair share. */
  readonly weight: number;
  /** Whether its workloads may take back preemptible ones of lower priority. */
  readonly preempts: boolean;
  readonly requeue: { readonly limit: number; readonly backoffSeconds: number };
}
