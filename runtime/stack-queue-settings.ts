/** The part of the configuration for the stack's own queue, and what it sets for the queues of all FluxSetups. */
import { z } from 'zod';
import { QUEUE_POLICIES } from '../constructs/api/policies';
import { QUEUE_DEFAULTS, STACK_DEFAULTS } from '../constructs/api/queue-defaults';
import { PRIORITY_RANGE, QUEUE_NAME_PATTERN, QUEUE_NAME_SYNTAX } from '../constructs/api/settings';

const positive = z.number().int().positive();
const priority = z.number().int().min(PRIORITY_RANGE.min).max(PRIORITY_RANGE.max);
const limits = z.partialRecord(z.enum(['running', 'waiting']), z.number().int().min(0)).prefault({});
const QUOTA_RESOURCES = ['jobs', 'pods', 'cores', 'memoryGiB', 'gpus', 'nodes'] as const;

export const stackQueueSettings = z.strictObject({
  /** The stack's own queue. It takes workloads that name it, and workloads without a queue in namespaces without a FluxSetup. */
  name: z
    .string()
    .regex(new RegExp(QUEUE_NAME_PATTERN), `must be ${QUEUE_NAME_SYNTAX}`)
    .default(STACK_DEFAULTS.queueName),
  /** If false, workloads without a queue wait for a FluxSetup in their namespace. */
  enabled: z.boolean().default(true),
  policy: z.enum(QUEUE_POLICIES).default(QUEUE_DEFAULTS.policy),
  /** The number of waiting workloads that nodes are reserved for, with policy hybrid. */
  reservations: positive.default(QUEUE_DEFAULTS.reservations),
  /** The number of waiting workloads that one pass considers. */
  depth: positive.default(QUEUE_DEFAULTS.depth),
  defaultWalltimeSeconds: positive.default(QUEUE_DEFAULTS.defaultWalltimeSeconds),
  maxWalltimeSeconds: positive.default(QUEUE_DEFAULTS.maxWalltimeSeconds),
  /** Days after which finished workloads move from the queue's tables to the archive and to the daily sums. */
  retentionDays: positive.default(STACK_DEFAULTS.retentionDays),
  /** Days after which archived workloads are removed; their daily sums stay. */
  archiveDays: positive.default(STACK_DEFAULTS.archiveDays),
  /** Rows that a namespace keeps of the workloads that end in the same hour; of others only the daily sums stay. */
  recordsPerHour: positive.default(STACK_DEFAULTS.recordsPerHour),
  /** The share of the cluster relative to the weights of FluxSetups. */
  weight: positive.default(QUEUE_DEFAULTS.weight),
  /** Priorities outside this range are set to its nearest limit. */
  priority: z
    .strictObject({
      min: priority.default(QUEUE_DEFAULTS.priority.min),
      max: priority.default(QUEUE_DEFAULTS.priority.max),
    })
    .prefault({}),
  /** The most that its workloads hold at once, in cores and GiB. */
  quota: z.partialRecord(z.enum(QUOTA_RESOURCES), z.number().min(0)).prefault({}),
  /** The most workloads that run, and the most waiting ones that are considered, of the queue and of each user. */
  limits: z.strictObject({ queue: limits, user: limits }).prefault({}),
  /** What factors of the order are worth in points of priority: in all queues, unless a FluxSetup says otherwise. */
  priorityWeights: z
    .strictObject({
      age: z.number().min(0).default(QUEUE_DEFAULTS.priorityWeights.age),
      fairShare: z.number().min(0).default(QUEUE_DEFAULTS.priorityWeights.fairShare),
      size: z.number().default(QUEUE_DEFAULTS.priorityWeights.size),
      /** Of the stack's own queue alone. */
      queue: z.number().default(QUEUE_DEFAULTS.priorityWeights.queue),
      maxAgeSeconds: positive.default(QUEUE_DEFAULTS.priorityWeights.maxAgeSeconds),
    })
    .prefault({}),
  /** What a core, a GiB and a gpu count in fair share. */
  billingWeights: z
    .strictObject({
      cores: z.number().min(0).default(QUEUE_DEFAULTS.billingWeights.cores),
      memoryGiB: z.number().min(0).default(QUEUE_DEFAULTS.billingWeights.memoryGiB),
      gpus: z.number().min(0).default(QUEUE_DEFAULTS.billingWeights.gpus),
    })
    .prefault({}),
  /** Which of its workloads others may preempt: those that ran for this time, and each at most this often. */
  preemption: z
    .strictObject({
      minRuntimeSeconds: z.number().min(0).default(QUEUE_DEFAULTS.preemption.minRuntimeSeconds),
      limit: z.number().int().min(0).default(QUEUE_DEFAULTS.preemption.limit),
    })
    .prefault({}),
});
