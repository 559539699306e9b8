/** The settings of a queue, from a FluxSetup or from the stack's configuration. Pure functions. */

import { parseDuration } from '../../constructs/api/durations';
import { QUEUE_DEFAULTS } from '../../constructs/api/queue-defaults';
import type { Config } from '../config';
import { NANO, parseQuantity } from '../jobspec/quantity';
import type { FluxSetupObject, FluxSetupSpecJson } from '../kubernetes/custom-resources';
import type { BillingWeights, Limits, PriorityWeights, QueueSettings, Quota } from '../queue/settings';
import { queueName } from '../shared/queues';
import { durationSeconds } from '../workloads/settings';

const GIB = 1024n ** 3n;

/** The settings of the stack's own queue. */
export function stackQueue(config: Config['queue']): QueueSettings {
  const { enabled: _, retentionDays: __, archiveDays: ___, recordsPerHour: ____, ...given } = config;
  return { ...QUEUE_DEFAULTS, ...given, namespace: null };
}

/**
 * @param stackWeights weights that the FluxSetup does not replace; what the stack adds for its own queue is not for others
 * @throws FluxqError `FLUXQ_QUANTITY`, `FLUXQ_SETTING_INVALID` for values that the schema of the CRD can't check
 */
export function settingsOf(
  { metadata, spec }: FluxSetupObject,
  stackWeights: PriorityWeights = QUEUE_DEFAULTS.priorityWeights,
): QueueSettings {
  const { name, namespace = '' } = metadata;
  const { walltime, priority, quota, borrowing, limits, requeue } = spec;
  return {
    name: queueName(namespace, name),
    namespace,
    policy: spec.policy ?? QUEUE_DEFAULTS.policy,
    reservations: spec.reservations ?? QUEUE_DEFAULTS.reservations,
    backfillOrder: spec.backfillOrder ?? QUEUE_DEFAULTS.backfillOrder,
    backfillMaxWaitSeconds:
      seconds(spec.backfillMaxWait, 'backfillMaxWait') ?? QUEUE_DEFAULTS.backfillMaxWaitSeconds,
    depth: spec.depth ?? QUEUE_DEFAULTS.depth,
    defaultWalltimeSeconds:
      seconds(walltime?.default, 'walltime.default') ?? QUEUE_DEFAULTS.defaultWalltimeSeconds,
    maxWalltimeSeconds: seconds(walltime?.max, 'walltime.max') ?? QUEUE_DEFAULTS.maxWalltimeSeconds,
    priority: { ...QUEUE_DEFAULTS.priority, ...priority },
    agingPerHour: spec.agingPerHour ?? QUEUE_DEFAULTS.agingPerHour,
    priorityWeights: { ...stackWeights, queue: 0, ...spec.priorityWeights },
    quota: quotaOf(quota, 'quota'),
    cohort: spec.cohort ?? QUEUE_DEFAULTS.cohort,
    borrowing: quotaOf(borrowing, 'borrowing'),
    lending: quotaOf(spec.lendingLimit, 'lendingLimit'),
    reclaim: spec.reclaim ?? QUEUE_DEFAULTS.reclaim,
    limits: { queue: limitsOf(limits), user: limitsOf(limits?.perUser) },
    weight: spec.weight ?? QUEUE_DEFAULTS.weight,
    billingWeights: weightsOf(spec.billingWeights),
    ...preemptionOf(spec.preemption),
    requeue: {
      limit: requeue?.limit ?? QUEUE_DEFAULTS.requeue.limit,
      backoffSeconds: seconds(requeue?.backoff, 'requeue.backoff') ?? QUEUE_DEFAULTS.requeue.backoffSeconds,
    },
  };
}

/** @param given a string is the policy, in an object that was stored before `preemption` had other fields */
function preemptionOf(
  given: FluxSetupSpecJson['preemption'] | 'Never' | 'LowerPriority',
): Pick<QueueSettings, 'preempts' | 'fairSharing' | 'preemption'> {
  const { policy, fairSharing, minRuntime, limit } =
    typeof given === 'string' ? { policy: given } : (given ?? {});
  const { preemption } = QUEUE_DEFAULTS;
  const minimum = isZero(minRuntime) ? 0 : seconds(minRuntime, 'preemption.minRuntime');
  return {
    preempts: policy === 'LowerPriority',
    fairSharing: fairSharing ?? QUEUE_DEFAULTS.fairSharing,
    preemption: {
      minRuntimeSeconds: minimum ?? preemption.minRuntimeSeconds,
      limit: limit ?? preemption.limit,
    },
  };
}

function weightsOf(given: FluxSetupSpecJson['billingWeights']): BillingWeights {
  const { cores, memory, gpus } = given ?? {};
  const usual = QUEUE_DEFAULTS.billingWeights;
  return {
    cores: cores ?? usual.cores,
    memoryGiB: memory ?? usual.memoryGiB,
    gpus: gpus ?? usual.gpus,
  };
}

function quotaOf(given: FluxSetupSpecJson['quota'], field: string): Quota {
  const { cores, memory, ...counted } = given ?? {};
  return {
    ...counted,
    ...(cores === undefined ? {} : { cores: amount(cores, `spec.${field}.cores`, 1n) }),
    ...(memory === undefined ? {} : { memoryGiB: amount(memory, `spec.${field}.memory`, GIB) }),
  };
}

/** Quantities are rounded down to this part of a unit, which is exact for thousandths of a core and for MiB. */
const PARTS = 1_024_000n;

function amount(quantity: string | number, field: string, unit: bigint): number {
  return Number((parseQuantity(quantity, field) * PARTS) / (unit * NANO)) / Number(PARTS);
}

function limitsOf(given: Limits | undefined): Limits {
  const { running, waiting } = given ?? {};
  return { ...(running === undefined ? {} : { running }), ...(waiting === undefined ? {} : { waiting }) };
}

function isZero(text: string | undefined): boolean {
  return text !== undefined && parseDuration(text) === 0;
}

function seconds(text: string | undefined, field: string): number | undefined {
  return text === undefined ? undefined : durationSeconds(text, `spec.${field}`);
}
