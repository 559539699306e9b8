/** What can be wrong with the props of a FluxSetup: said at synth, before the apiserver would. */
import type { Duration } from 'cdk8s';
import { PropsError } from '../api/errors';
import { QUEUE_POLICIES } from '../api/policies';
import { MAX_BACKOFF_SECONDS, QUEUE_DEFAULTS, QUEUE_RANGES, type Range } from '../api/queue-defaults';
import {
  COHORT_PATTERN,
  COHORT_SYNTAX,
  MAX_WALLTIME_SECONDS,
  PRIORITY_RANGE,
  QUEUE_NAME_PATTERN,
  QUEUE_NAME_SYNTAX,
} from '../api/settings';
import type { FluxSetupProps, Quota } from './props';

const COHORT = new RegExp(COHORT_PATTERN);
const NAME = new RegExp(QUEUE_NAME_PATTERN);

/**
 * Of any queue, a FluxSetup's or the stack's own.
 * @throws PropsError
 */
export function checkName(field: string, name: string): void {
  if (NAME.test(name)) return;
  throw new PropsError(field, 'is no name of a queue', name, `give ${QUEUE_NAME_SYNTAX}`);
}

/** @throws PropsError */
export function checkSetup(props: FluxSetupProps): void {
  checkPolicy(props);
  checkWalltimes(props);
  checkPriorities(props);
  checkNumbers(props);
  checkQuota('quota', props.quota);
  checkQuota('borrowing', props.borrowing);
  checkCohort(props);
}

function wrong(prop: string, what: string, value: unknown, remedy: string): PropsError {
  return new PropsError(`FluxSetup.${prop}`, what, value, remedy);
}

function checkPolicy({ policy, reservations }: FluxSetupProps): void {
  if (policy !== undefined && !QUEUE_POLICIES.includes(policy))
    throw wrong('policy', 'is no policy', policy, `choose one of ${QUEUE_POLICIES.join(', ')}`);
  if (reservations !== undefined && policy !== 'hybrid')
    throw wrong(
      'reservations',
      'is for policy hybrid',
      reservations,
      'leave it out, or choose policy hybrid',
    );
}

function checkWalltimes({ defaultWalltime, maxWalltime, requeueBackoff }: FluxSetupProps): void {
  checkDuration('defaultWalltime', defaultWalltime, MAX_WALLTIME_SECONDS);
  checkDuration('maxWalltime', maxWalltime, MAX_WALLTIME_SECONDS);
  checkDuration('requeueBackoff', requeueBackoff, MAX_BACKOFF_SECONDS);
  const shortest =
    defaultWalltime === undefined ? QUEUE_DEFAULTS.defaultWalltimeSeconds : seconds(defaultWalltime);
  const longest = maxWalltime === undefined ? QUEUE_DEFAULTS.maxWalltimeSeconds : seconds(maxWalltime);
  if (longest < shortest)
    throw wrong(
      maxWalltime === undefined ? 'defaultWalltime' : 'maxWalltime',
      `leaves a default walltime of ${shortest} s above a maximum of ${longest} s`,
      `${maxWalltime === undefined ? shortest : longest} s`,
      'raise maxWalltime or lower defaultWalltime',
    );
}

function checkDuration(prop: string, duration: Duration | undefined, most: number): void {
  if (duration === undefined) return;
  const length = seconds(duration);
  if (length <= 0 || length > most)
    throw wrong(
      prop,
      `must be more than 0 and at most ${most} s`,
      `${length} s`,
      'give a Duration within that',
    );
}

function checkPriorities({ minPriority, maxPriority }: FluxSetupProps): void {
  checkWhole('minPriority', minPriority, PRIORITY_RANGE);
  checkWhole('maxPriority', maxPriority, PRIORITY_RANGE);
  if (minPriority !== undefined && maxPriority !== undefined && minPriority > maxPriority)
    throw wrong(
      'minPriority',
      `is above maxPriority, ${maxPriority}`,
      minPriority,
      'lower it or raise maxPriority',
    );
}

function checkNumbers(props: FluxSetupProps): void {
  checkWhole('reservations', props.reservations, QUEUE_RANGES.reservations);
  checkWhole('depth', props.depth, QUEUE_RANGES.depth);
  checkWhole('weight', props.weight, QUEUE_RANGES.weight);
  checkWhole('requeueLimit', props.requeueLimit, QUEUE_RANGES.requeueLimit);
  for (const prop of ['limits', 'limitsPerUser'] as const) {
    checkWhole(`${prop}.running`, props[prop]?.running, QUEUE_RANGES.running);
    checkWhole(`${prop}.waiting`, props[prop]?.waiting, QUEUE_RANGES.waiting);
  }
  const { agingPerHour } = props;
  const { min, max } = QUEUE_RANGES.agingPerHour;
  if (agingPerHour !== undefined && !(agingPerHour >= min && agingPerHour <= max))
    throw wrong(
      'agingPerHour',
      `must be a number from ${min} to ${max}`,
      agingPerHour,
      'give points per hour',
    );
}

function checkQuota(prop: string, quota: Quota | undefined): void {
  if (quota === undefined) return;
  for (const resource of ['jobs', 'pods', 'gpus', 'nodes'] as const)
    checkWhole(`${prop}.${resource}`, quota[resource], QUEUE_RANGES.quota);
  const { cores } = quota;
  if (cores !== undefined && !/^[0-9.]+m?$/.test(cores.amount))
    throw wrong(`${prop}.cores`, 'must be 0 or more', cores.amount, 'give a Cpu of that many');
  if (Object.keys(quota).length === 0)
    throw wrong(prop, 'says nothing', quota, 'name a resource, or leave it out');
}

function checkWhole(prop: string, value: number | undefined, { min, max }: Range): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return;
  throw wrong(prop, `must be a whole number from ${min} to ${max}`, value, 'give one within that');
}

function checkCohort({ cohort, borrowing, reclaim }: FluxSetupProps): void {
  if (cohort !== undefined && !COHORT.test(cohort))
    throw wrong('cohort', 'is no name', cohort, `give ${COHORT_SYNTAX}`);
  if (cohort !== undefined) return;
  if (borrowing !== undefined)
    throw wrong('borrowing', 'needs a cohort to borrow from', borrowing, 'give cohort, or leave it out');
  if (reclaim === true)
    throw wrong('reclaim', 'needs a cohort that may have borrowed', true, 'give cohort, or leave it out');
}

function seconds(duration: Duration): number {
  return duration.toMilliseconds() / 1000;
}
