/**
 * Defaults of queues and of the stack, and the ranges of their numbers. The CRD of FluxSetup repeats them in YAML; a test
 * compares the two.
 */
import type { FluxJobPolicy, MatchPolicy, QueuePolicy } from './policies';
import { INT32, PRIORITY_RANGE } from './settings';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Settings of a queue without configuration. */
export const QUEUE_DEFAULTS = {
  policy: 'easy',
  reservations: 8,
  backfillOrder: 'submission',
  /** As long as the longest walltime: in a line that is longer than this bound it would undo the order. */
  backfillMaxWaitSeconds: 7 * DAY,
  depth: 10_000,
  defaultWalltimeSeconds: HOUR,
  maxWalltimeSeconds: 7 * DAY,
  priority: PRIORITY_RANGE,
  agingPerHour: 0,
  /** Together they are worth one point: by default one point of own priority decides before all of them. */
  priorityWeights: { age: 0.5, fairShare: 0.5, size: 0, queue: 0, maxAgeSeconds: DAY },
  quota: {},
  cohort: null,
  borrowing: {},
  lending: {},
  reclaim: false,
  limits: { queue: {}, user: {} },
  weight: 1,
  /** A node with 64 cores, 256 GiB and 4 gpus counts as much for its cores as for its memory and for its gpus. */
  billingWeights: { cores: 1, memoryGiB: 0.25, gpus: 16 },
  preempts: false,
  fairSharing: 'Never',
  preemption: { minRuntimeSeconds: 300, limit: 5 },
  requeue: { limit: 5, backoffSeconds: 5 },
} as const satisfies { readonly policy: QueuePolicy } & Record<string, unknown>;

/** Settings of a stack without props. */
export const STACK_DEFAULTS = {
  /** Name of the stack's own queue. */
  queueName: 'default',
  /** Days for which finished workloads stay in the queue's tables. */
  retentionDays: 30,
  /** Days for which they stay in the archive after that. */
  archiveDays: 365,
  /** Rows that a namespace keeps of the workloads that end in the same hour. */
  recordsPerHour: 1000,
  /** Seconds after which past usage counts half in fair share. */
  halfLifeSeconds: 7 * DAY,
  matchPolicy: 'lonode',
  fluxJobs: 'Notable',
  /** How long pods of a granted workload may wait for the same cause, and how long a node is avoided after that. */
  grants: {
    unschedulableSeconds: 30,
    volumeSeconds: 600,
    startSeconds: 600,
    groupSeconds: 1800,
    avoidSeconds: 300,
  },
  /** The longest grace period of a pod: checkpoints are written in minutes, and a walltime is planned in hours. */
  maxGraceSeconds: 3600,
  /** Sizes of one core unit and one memory unit of the graph, for the embedded matcher: it counts units. */
  units: { cpuMillis: 100, memoryMiB: 128 },
  /** The same for flux-sched's library, where each unit is a vertex, and for a service whose engine is not known. */
  libraryUnits: { cpuMillis: 1_000, memoryMiB: 1_024 },
} as const satisfies { readonly matchPolicy: MatchPolicy; readonly fluxJobs: FluxJobPolicy } & Record<
  string,
  unknown
>;

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Smallest and largest value of each number of a queue. */
export const QUEUE_RANGES = {
  reservations: { min: 1, max: 100_000 },
  depth: { min: 1, max: 1_000_000 },
  agingPerHour: { min: 0, max: 1_000_000 },
  priorityWeight: { min: 0, max: 1_000_000 },
  /** Below 0, small workloads come first; and a queue can come behind others. */
  signedPriorityWeight: { min: -1_000_000, max: 1_000_000 },
  quota: { min: 0, max: INT32.max },
  running: { min: 0, max: INT32.max },
  waiting: { min: 1, max: INT32.max },
  weight: { min: 1, max: 1_000_000 },
  billingWeight: { min: 0, max: 1_000_000 },
  requeueLimit: { min: 0, max: 1_000_000 },
  preemptionLimit: { min: 0, max: 1_000_000 },
} as const satisfies Record<string, Range>;

/** The deadlineSeconds that flux-operator gives a MiniCluster, and this project once gave it: nobody chose this number. */
export const MINICLUSTER_DEADLINE_SECONDS = 31_500_000;

/** Longest backoff between two requeues of one workload. */
export const MAX_BACKOFF_SECONDS = HOUR;
