import type { Duration, Size } from 'cdk8s';
import type { Cpu } from 'cdk8s-plus-28';
import type { QueuePolicy } from '../api/policies';

/** Amounts of what workloads hold. */
export interface Quota {
  /** Workloads. @default - not limited */
  readonly jobs?: number;

  /** Pods that run at once. @default - not limited */
  readonly pods?: number;

  /** @default - not limited */
  readonly cores?: Cpu;

  /** @default - not limited */
  readonly memory?: Size;

  /** GPUs of any vendor. @default - not limited */
  readonly gpus?: number;

  /** Different nodes. @default - not limited */
  readonly nodes?: number;
}

/** Most workloads at once. */
export interface Limits {
  /** Workloads that have nodes. @default - not limited */
  readonly running?: number;

  /** Waiting workloads that are looked at; those behind them have to wait for that. @default - not limited */
  readonly waiting?: number;
}

export interface FluxSetupProps {
  /** Name, by which workloads ask for the queue: at most 63 lower-case letters, digits and "-". @default - the construct's id */
  readonly name?: string;

  /** Namespace whose workloads it takes. @default - the chart's */
  readonly namespace?: string;

  /** @default easy */
  readonly policy?: QueuePolicy;

  /** For how many that wait nodes are reserved; policy `hybrid` only. @default 8 */
  readonly reservations?: number;

  /** How many waiting workloads one pass asks for at most. @default 10000 */
  readonly depth?: number;

  /** Walltime of workloads that give none. @default Duration.hours(1) */
  readonly defaultWalltime?: Duration;

  /** The most a workload may ask for; more is cut to this. @default Duration.days(7) */
  readonly maxWalltime?: Duration;

  /** Lowest priority; lower ones are raised to it. @default - not limited */
  readonly minPriority?: number;

  /** Highest priority; higher ones are cut to it. @default - not limited */
  readonly maxPriority?: number;

  /** Priority points that an hour of waiting earns. @default 0 */
  readonly agingPerHour?: number;

  /** What its workloads may hold together. @default - not limited */
  readonly quota?: Quota;

  /** FluxSetups of one cohort, whatever their namespaces, lend each other the quota that they don't use. @default - none */
  readonly cohort?: string;

  /** Most that it takes of its cohort's idle quota beyond its own. @default - not limited */
  readonly borrowing?: Quota;

  /** Takes its own quota back from those that borrowed it; their youngest workloads go back to their place. @default false */
  readonly reclaim?: boolean;

  /** Most workloads of the whole queue. @default - not limited */
  readonly limits?: Limits;

  /** Most workloads of each user. @default - not limited */
  readonly limitsPerUser?: Limits;

  /** Share of the machine relative to other queues, where the stack has fair share switched on. @default 1 */
  readonly weight?: number;

  /** Whether its workloads may take the nodes of preemptible ones of lower priority. @default false */
  readonly preempts?: boolean;

  /** How often a workload that lost its nodes goes back to its place by itself. @default 5 */
  readonly requeueLimit?: number;

  /** How long it then waits the first time; twice as long each further time. At most an hour. @default Duration.seconds(5) */
  readonly requeueBackoff?: Duration;
}
