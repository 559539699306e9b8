/** Settings of the stack's own queue, in the form that runtime/config.ts reads. */
import type { Duration } from 'cdk8s';
import type { Cpu } from 'cdk8s-plus-28';
import { PropsError } from '../api/errors';
import { USER_PRIORITIES } from '../api/priorities';
import { QUEUE_DEFAULTS, type Range, STACK_DEFAULTS } from '../api/queue-defaults';
import type { Quota } from '../fluxsetup/props';
import {
  checkBillingWeights,
  checkLimits,
  checkPolicy,
  checkPreemption,
  checkPriorityRange,
  checkPriorityWeights,
  checkQueueName,
  checkQuota,
} from '../fluxsetup/validation';
import type { FluxQueueProps } from './props';

const DAY_MS = 24 * 3600 * 1000;

export function queueSettings(props: FluxQueueProps) {
  return {
    name: props.queueName ?? STACK_DEFAULTS.queueName,
    enabled: props.defaultQueue ?? true,
    policy: props.queuePolicy ?? QUEUE_DEFAULTS.policy,
    reservations: props.queueReservations ?? QUEUE_DEFAULTS.reservations,
    depth: props.queueDepth ?? QUEUE_DEFAULTS.depth,
    weight: props.queueWeight ?? QUEUE_DEFAULTS.weight,
    retentionDays: props.retention?.toDays() ?? STACK_DEFAULTS.retentionDays,
    archiveDays: props.archiveRetention?.toDays() ?? STACK_DEFAULTS.archiveDays,
    recordsPerHour: props.recordsPerHour ?? STACK_DEFAULTS.recordsPerHour,
    ...walltimes(props),
    priority: {
      min: props.queueMinPriority ?? QUEUE_DEFAULTS.priority.min,
      max: props.queueMaxPriority ?? QUEUE_DEFAULTS.priority.max,
    },
    quota: quotaSettings(props.queueQuota),
    limits: { queue: props.queueLimits ?? {}, user: props.queueLimitsPerUser ?? {} },
    ...prioritySettings(props),
    ...billingSettings(props),
    ...preemptionSettings(props),
  };
}

function prioritySettings({ priorityWeights, priorityMaxAge }: FluxQueueProps) {
  const maxAgeSeconds = priorityMaxAge?.toSeconds();
  if (priorityWeights === undefined && maxAgeSeconds === undefined) return {};
  return {
    priorityWeights: { ...priorityWeights, ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }) },
  };
}

function billingSettings({ queueBillingWeights }: FluxQueueProps) {
  if (queueBillingWeights === undefined) return {};
  const { memory, ...weights } = queueBillingWeights;
  return { billingWeights: { ...weights, ...(memory === undefined ? {} : { memoryGiB: memory }) } };
}

function preemptionSettings({ queuePreemptionMinRuntime, queuePreemptionLimit: limit }: FluxQueueProps) {
  const minRuntimeSeconds = secondsOf(queuePreemptionMinRuntime);
  if (minRuntimeSeconds === undefined && limit === undefined) return {};
  const preemption = {
    ...(minRuntimeSeconds === undefined ? {} : { minRuntimeSeconds }),
    ...(limit === undefined ? {} : { limit }),
  };
  return { preemption };
}

/** Priorities that every user may set, in every queue. */
export function userPriorities({ userMinPriority, userMaxPriority }: FluxQueueProps): Range {
  return { min: userMinPriority ?? USER_PRIORITIES.min, max: userMaxPriority ?? USER_PRIORITIES.max };
}

/** In cores and GiB. */
function quotaSettings({ cores, memory, ...counted }: Quota = {}) {
  return {
    ...counted,
    ...(cores === undefined ? {} : { cores: coresOf(cores) }),
    ...(memory === undefined ? {} : { memoryGiB: memory.toKibibytes() / 1024 ** 2 }),
  };
}

function coresOf({ amount }: Cpu): number {
  return amount.endsWith('m') ? Number(amount.slice(0, -1)) / 1000 : Number(amount);
}

/** @throws PropsError */
export function checkQueue(props: FluxQueueProps): void {
  checkWalltimes(props);
  for (const name of ['queueDepth', 'queueReservations', 'queueWeight', 'recordsPerHour'] as const)
    checkPositive(`FluxQueue.${name}`, props[name]);
  if (props.queueName !== undefined) checkQueueName('FluxQueue.queueName', props.queueName);
  checkPolicy(
    { policy: 'FluxQueue.queuePolicy', reservations: 'FluxQueue.queueReservations' },
    props.queuePolicy,
    props.queueReservations,
  );
  checkQuota('FluxQueue.queueQuota', props.queueQuota);
  for (const name of ['queueLimits', 'queueLimitsPerUser'] as const)
    checkLimits(`FluxQueue.${name}`, props[name]);
  checkBillingWeights('FluxQueue.queueBillingWeights', props.queueBillingWeights);
  checkPreemption(
    { minRuntime: 'FluxQueue.queuePreemptionMinRuntime', limit: 'FluxQueue.queuePreemptionLimit' },
    { minRuntime: props.queuePreemptionMinRuntime, limit: props.queuePreemptionLimit },
  );
  checkPriorityRange(
    { min: 'FluxQueue.queueMinPriority', max: 'FluxQueue.queueMaxPriority' },
    { min: props.queueMinPriority, max: props.queueMaxPriority },
  );
  checkPriorityRange(
    { min: 'FluxQueue.userMinPriority', max: 'FluxQueue.userMaxPriority' },
    userPriorities(props),
  );
  checkPriorityWeights('FluxQueue.priorityWeights', props.priorityWeights);
  for (const name of ['fairShareHalfLife', 'priorityMaxAge'] as const)
    checkSeconds(`FluxQueue.${name}`, props[name]);
  for (const name of ['retention', 'archiveRetention'] as const) checkDays(`FluxQueue.${name}`, props[name]);
}

/** @throws PropsError where the value is given and not a whole number from 1 */
export function checkPositive(field: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value >= 1)) return;
  throw new PropsError(field, 'must be a whole number greater than 0', value, 'give 1 or more');
}

function checkDays(field: string, duration: Duration | undefined): void {
  const days = (duration?.toMilliseconds() ?? DAY_MS) / DAY_MS;
  if (Number.isInteger(days) && days >= 1) return;
  throw new PropsError(
    field,
    'must be a whole number of days, 1 or more',
    `${days} days`,
    'give Duration.days(…)',
  );
}

function checkSeconds(field: string, duration: Duration | undefined): void {
  const seconds = secondsOf(duration) ?? 1;
  if (seconds < 1 || !Number.isInteger(seconds))
    throw new PropsError(
      field,
      'must be a whole number of seconds, 1 or more',
      `${seconds} s`,
      'give a Duration of days or hours',
    );
}

function secondsOf(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : duration.toMilliseconds() / 1000;
}

function walltimes({ defaultWalltime, maxWalltime }: FluxQueueProps) {
  return {
    defaultWalltimeSeconds: secondsOf(defaultWalltime) ?? QUEUE_DEFAULTS.defaultWalltimeSeconds,
    maxWalltimeSeconds: secondsOf(maxWalltime) ?? QUEUE_DEFAULTS.maxWalltimeSeconds,
  };
}

function checkWalltimes(props: FluxQueueProps): void {
  for (const name of ['defaultWalltime', 'maxWalltime'] as const)
    checkSeconds(`FluxQueue.${name}`, props[name]);
  const { defaultWalltimeSeconds, maxWalltimeSeconds } = walltimes(props);
  if (maxWalltimeSeconds < defaultWalltimeSeconds) {
    throw new PropsError(
      'FluxQueue.maxWalltime',
      `is less than the default walltime of ${defaultWalltimeSeconds} s`,
      `${maxWalltimeSeconds} s`,
      'raise maxWalltime or lower defaultWalltime',
    );
  }
}
