/** How long pods of a granted workload may wait, in the form that runtime/config.ts reads, and what users may ask for. */
import type { Duration } from 'cdk8s';
import { PropsError } from '../api/errors';
import { STACK_DEFAULTS } from '../api/queue-defaults';
import { userPriorities } from './default-queue';
import type { FluxQueueProps } from './props';

/** @throws PropsError for a time that is not a whole number of seconds from 1 */
export function grantSettings(props: FluxQueueProps) {
  const { grants } = STACK_DEFAULTS;
  const { unschedulableTimeout, volumeTimeout, startTimeout, groupTimeout, nodeAvoidance } = props;
  return {
    unschedulableSeconds: seconds('unschedulableTimeout', unschedulableTimeout, grants.unschedulableSeconds),
    volumeSeconds: seconds('volumeTimeout', volumeTimeout, grants.volumeSeconds),
    startSeconds: seconds('startTimeout', startTimeout, grants.startSeconds),
    groupSeconds: seconds('groupTimeout', groupTimeout, grants.groupSeconds),
    avoidSeconds: seconds('nodeAvoidance', nodeAvoidance, grants.avoidSeconds),
  };
}

/** @throws PropsError for a time that is not a whole number of seconds from 1 */
export function userLimits(props: FluxQueueProps) {
  return {
    userPriorities: userPriorities(props),
    maxGraceSeconds: seconds('maxGracePeriod', props.maxGracePeriod, STACK_DEFAULTS.maxGraceSeconds),
  };
}

function seconds(prop: keyof FluxQueueProps, time: Duration | undefined, otherwise: number): number {
  const value = time === undefined ? otherwise : time.toMilliseconds() / 1000;
  if (Number.isInteger(value) && value >= 1) return value;
  throw new PropsError(
    `FluxQueue.${prop}`,
    'must be a whole number of seconds, 1 or more',
    `${value} s`,
    'give a Duration of seconds or minutes',
  );
}
