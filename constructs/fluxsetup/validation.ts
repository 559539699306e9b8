/** Validation of a FluxSetup's props at synth, before the apiserver validates the object. */
import { type Duration, Size, SizeRoundingBehavior } from 'cdk8s';
import { amountOf } from '../api/amounts';
import { PropsError } from '../api/errors';
import { QUEUE_POLICIES, type QueuePolicy } from '../api/policies';
import { checkByRules } from '../api/prop-rules';
import { MAX_BACKOFF_SECONDS, QUEUE_DEFAULTS, QUEUE_RANGES, type Range } from '../api/queue-defaults';
import {
  COHORT_PATTERN,
  COHORT_SYNTAX,
  MAX_WALLTIME_SECONDS,
  PRIORITY_RANGE,
  QUEUE_NAME_PATTERN,
  QUEUE_NAME_SYNTAX,
} from '../api/settings';
import { FLUX_SETUP_RULES } from './prop-rules';
import type { BillingWeights, FluxSetupProps, LendingLimit, Limits, PriorityWeights, Quota } from './props';

const COHORT = new RegExp(COHORT_PATTERN);
const NAME = new RegExp(QUEUE_NAME_PATTERN);

/**
 * Checks the name of any queue, a FluxSetup's or the stack's own.
 * @throws PropsError
 */
export function checkQueueName(field: string, name: string): void {
  if (typeof name === 'string' && NAME.test(name)) return;
  throw new PropsError(
    field,
    `does not match the required pattern ${QUEUE_NAME_PATTERN}`,
    name,
    `give ${QUEUE_NAME_SYNTAX}`,
  );
}

/**
 * Checks the policy of any queue and its number of reservations.
 * @param fields names of the two props, for the error
 * @throws PropsError
 */
export function checkPolicy(
  fields: { readonly policy: string; readonly reservations: string },
  policy: QueuePolicy | undefined,
  reservations: number | undefined,
): void {
  if (policy !== undefined && !QUEUE_POLICIES.includes(policy))
    throw new PropsError(
      fields.policy,
      `must be one of: ${QUEUE_POLICIES.join(', ')}`,
      policy,
      'choose one of them',
    );
  if (reservations === undefined || policy === 'hybrid') return;
  const name = fields.policy.split('.').at(-1);
  throw new PropsError(
    fields.reservations,
    `requires ${name}: hybrid`,
    reservations,
    `remove it, or choose ${name}: hybrid`,
  );
}

/** @throws PropsError */
export function checkSetup(props: FluxSetupProps): void {
  checkByRules('FluxSetup', props, FLUX_SETUP_RULES);
  checkPolicy(
    { policy: 'FluxSetup.policy', reservations: 'FluxSetup.reservations' },
    props.policy,
    props.reservations,
  );
  checkDurations(props);
  checkBackfill(props);
  checkWalltimes(props);
  checkPriorities(props);
  checkNumbers(props);
  checkQuota('FluxSetup.quota', props.quota);
  checkQuota('FluxSetup.borrowing', props.borrowing);
  checkQuota('FluxSetup.lendingLimit', props.lendingLimit);
  checkCohort(props);
}

function checkBackfill({ policy, backfillOrder, backfillMaxWait }: FluxSetupProps): void {
  const isByArea = backfillOrder === 'shortestArea';
  if (isByArea && (policy === 'fcfs' || policy === 'conservative'))
    throw invalid(
      'backfillOrder',
      'requires policy: easy or hybrid',
      backfillOrder,
      'remove it, or choose one of these policies',
    );
  if (backfillMaxWait === undefined || isByArea) return;
  throw invalid(
    'backfillMaxWait',
    'requires backfillOrder: shortestArea',
    `${secondsOf(backfillMaxWait)} s`,
    'remove it, or choose backfillOrder: shortestArea',
  );
}

function invalid(prop: string, problem: string, value: unknown, remedy: string): PropsError {
  return new PropsError(`FluxSetup.${prop}`, problem, value, remedy);
}

function checkDurations({
  defaultWalltime,
  maxWalltime,
  requeueBackoff,
  backfillMaxWait,
}: FluxSetupProps): void {
  checkDuration('backfillMaxWait', backfillMaxWait, MAX_WALLTIME_SECONDS);
  checkDuration('defaultWalltime', defaultWalltime, MAX_WALLTIME_SECONDS);
  checkDuration('maxWalltime', maxWalltime, MAX_WALLTIME_SECONDS);
  checkDuration('requeueBackoff', requeueBackoff, MAX_BACKOFF_SECONDS);
}

function checkWalltimes({ defaultWalltime, maxWalltime }: FluxSetupProps): void {
  const usual = secondsOf(defaultWalltime) ?? QUEUE_DEFAULTS.defaultWalltimeSeconds;
  const longest = secondsOf(maxWalltime) ?? QUEUE_DEFAULTS.maxWalltimeSeconds;
  if (longest >= usual) return;
  const remedy = 'raise maxWalltime or lower defaultWalltime';
  if (maxWalltime === undefined)
    throw invalid(
      'defaultWalltime',
      `is greater than the maximum walltime of ${longest} s`,
      `${usual} s`,
      remedy,
    );
  throw invalid('maxWalltime', `is less than the default walltime of ${usual} s`, `${longest} s`, remedy);
}

function checkDuration(prop: string, duration: Duration | undefined, max: number): void {
  const seconds = secondsOf(duration);
  if (seconds === undefined || (seconds > 0 && seconds <= max)) return;
  throw invalid(
    prop,
    `must be greater than 0 and at most ${max} s`,
    `${seconds} s`,
    'give a Duration in this range',
  );
}

function checkPriorities({ minPriority: min, maxPriority: max }: FluxSetupProps): void {
  checkPriorityRange({ min: 'FluxSetup.minPriority', max: 'FluxSetup.maxPriority' }, { min, max });
}

/**
 * Checks the range of priorities of any queue.
 * @param fields names of the two props, for the error
 * @throws PropsError
 */
export function checkPriorityRange(
  fields: { readonly min: string; readonly max: string },
  { min, max }: { readonly min: number | undefined; readonly max: number | undefined },
): void {
  checkWhole(fields.min, min, PRIORITY_RANGE);
  checkWhole(fields.max, max, PRIORITY_RANGE);
  if (min === undefined || max === undefined || min <= max) return;
  const name = fields.max.split('.').at(-1);
  throw new PropsError(fields.min, `is greater than ${name} (${max})`, min, `lower it or raise ${name}`);
}

function checkNumbers(props: FluxSetupProps): void {
  for (const prop of ['reservations', 'depth', 'weight', 'requeueLimit'] as const)
    checkWhole(`FluxSetup.${prop}`, props[prop], QUEUE_RANGES[prop]);
  checkPreemption(
    { minRuntime: 'FluxSetup.preemptionMinRuntime', limit: 'FluxSetup.preemptionLimit' },
    { minRuntime: props.preemptionMinRuntime, limit: props.preemptionLimit },
  );
  checkBillingWeights('FluxSetup.billingWeights', props.billingWeights);
  checkPriorityWeights('FluxSetup.priorityWeights', props.priorityWeights);
  checkNumber('FluxSetup.agingPerHour', props.agingPerHour, QUEUE_RANGES.agingPerHour);
  for (const prop of ['limits', 'limitsPerUser'] as const) checkLimits(`FluxSetup.${prop}`, props[prop]);
}

function checkNumber(field: string, value: number | undefined, { min, max }: Range): void {
  if (value === undefined || (value >= min && value <= max)) return;
  throw new PropsError(field, `must be a number from ${min} to ${max}`, value, 'give a number in this range');
}

/**
 * Checks the billing weights of any queue.
 * @throws PropsError
 */
export function checkBillingWeights(field: string, weights: BillingWeights = {}): void {
  for (const resource of ['cores', 'memory', 'gpus'] as const)
    checkNumber(`${field}.${resource}`, weights[resource], QUEUE_RANGES.billingWeight);
}

/**
 * Checks the weights of the factors of the order.
 * @throws PropsError
 */
export function checkPriorityWeights(field: string, weights: PriorityWeights = {}): void {
  for (const factor of ['age', 'fairShare'] as const)
    checkNumber(`${field}.${factor}`, weights[factor], QUEUE_RANGES.priorityWeight);
  for (const factor of ['size', 'queue'] as const)
    checkNumber(`${field}.${factor}`, weights[factor], QUEUE_RANGES.signedPriorityWeight);
}

/**
 * Checks how any queue protects its workloads from preemption.
 * @param fields names of the two props, for the error
 * @throws PropsError
 */
export function checkPreemption(
  fields: { readonly minRuntime: string; readonly limit: string },
  given: { readonly minRuntime: Duration | undefined; readonly limit: number | undefined },
): void {
  checkWhole(fields.limit, given.limit, QUEUE_RANGES.preemptionLimit);
  const seconds = secondsOf(given.minRuntime);
  if (seconds === undefined || (seconds >= 0 && seconds <= MAX_WALLTIME_SECONDS)) return;
  throw new PropsError(
    fields.minRuntime,
    `must be at most ${MAX_WALLTIME_SECONDS} s`,
    `${seconds} s`,
    'give a Duration in this range',
  );
}

/**
 * Checks the limits of any queue.
 * @throws PropsError
 */
export function checkLimits(field: string, limits: Limits | undefined): void {
  checkWhole(`${field}.running`, limits?.running, QUEUE_RANGES.running);
  checkWhole(`${field}.waiting`, limits?.waiting, QUEUE_RANGES.waiting);
}

/**
 * Checks the quota of any queue.
 * @throws PropsError
 */
export function checkQuota(field: string, quota: Quota | undefined): void {
  if (quota === undefined) return;
  for (const resource of ['jobs', 'pods', 'gpus', 'nodes'] as const)
    checkWhole(`${field}.${resource}`, quota[resource], QUEUE_RANGES.quota);
  const { cores } = quota;
  if (cores !== undefined && !/^[0-9.]+m?$/.test(cores.amount))
    throw new PropsError(
      `${field}.cores`,
      'must be 0 or greater',
      cores.amount.endsWith('m') ? Number.parseFloat(cores.amount) / 1000 : Number(cores.amount),
      'give a Cpu of 0 or more',
    );
  checkMemory(`${field}.memory`, quota.memory);
  if (Object.values(quota).every((limit) => limit === undefined))
    throw new PropsError(field, 'must limit at least one resource', quota, 'name a resource, or remove it');
}

/** Kubernetes has no part of a byte, and cdk8s would throw an error of its own. */
function checkMemory(field: string, memory: Size | undefined): void {
  const kibibytes = memory?.toKibibytes({ rounding: SizeRoundingBehavior.NONE }) ?? 0;
  if (Number.isInteger(kibibytes)) return;
  throw new PropsError(field, 'must be whole kibibytes', memory?.asString(), 'give Size.mebibytes(…)');
}

function checkWhole(field: string, value: number | undefined, { min, max }: Range): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return;
  throw new PropsError(
    field,
    `must be a whole number from ${min} to ${max}`,
    value,
    'give a number in this range',
  );
}

function checkCohort(props: FluxSetupProps): void {
  const { cohort, borrowing, lendingLimit, quota, reclaim, fairSharing = QUEUE_DEFAULTS.fairSharing } = props;
  checkLending(props);
  if (reclaim === true && quota === undefined)
    throw invalid(
      'reclaim',
      'requires quota, of which the queue takes back what others have borrowed',
      true,
      'give quota, or remove it',
    );
  if (cohort !== undefined && !COHORT.test(cohort))
    throw invalid(
      'cohort',
      `does not match the required pattern ${COHORT_PATTERN}`,
      cohort,
      `give ${COHORT_SYNTAX}`,
    );
  if (cohort !== undefined) return;
  const remedy = 'give cohort, or remove it';
  if (borrowing !== undefined)
    throw invalid('borrowing', 'requires cohort, from which the queue borrows', borrowing, remedy);
  if (lendingLimit !== undefined)
    throw invalid('lendingLimit', 'requires cohort, to which the queue lends', lendingLimit, remedy);
  if (reclaim === true)
    throw invalid('reclaim', 'requires cohort, from which the queue reclaims', true, remedy);
  if (fairSharing !== 'Never')
    throw invalid('fairSharing', 'requires cohort, of which the queue has a share', fairSharing, remedy);
}

function checkLending({ lendingLimit = {}, quota = {} }: FluxSetupProps): void {
  for (const resource of ['jobs', 'pods', 'cores', 'memory', 'gpus'] as const) {
    const [lent, own] = [lendingLimit, quota].map((amounts) => numberOf(amounts[resource]));
    if (lent === undefined || (own !== undefined && lent <= own)) continue;
    throw invalid(
      `lendingLimit.${resource}`,
      own === undefined
        ? `requires quota.${resource}, of which the queue lends`
        : `must not be greater than quota.${resource}, of which the queue lends`,
      lendingLimit[resource],
      own === undefined ? `give quota.${resource}, or remove it` : `lower it, or raise quota.${resource}`,
    );
  }
}

/** In cores, KiB or pieces. */
function numberOf(amount: LendingLimit[keyof LendingLimit]): number | undefined {
  if (amount === undefined || typeof amount === 'number') return amount;
  return amount instanceof Size ? amount.toKibibytes() : amountOf(amount.amount);
}

function secondsOf(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : duration.toMilliseconds() / 1000;
}
