/** The stack's own queue, and what holds for all: what props say of it, as runtime/config.ts reads it. */
import type { Duration } from 'cdk8s';
import { PropsError } from '../api/errors';
import { QUEUE_DEFAULTS, STACK_DEFAULTS } from '../api/queue-defaults';
import { checkName } from '../fluxsetup/validation';
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
    ...walltimes(props),
  };
}

/** @throws PropsError */
export function checkQueue(props: FluxQueueProps): void {
  checkWalltimes(props);
  for (const name of ['queueDepth', 'queueReservations', 'queueWeight'] as const) {
    const value = props[name];
    if (value !== undefined && (!Number.isInteger(value) || value < 1))
      throw new PropsError(`FluxQueue.${name}`, 'must be a whole number above 0', value, 'give 1 or more');
  }
  const { queueName, queueReservations, queuePolicy, fairShare, fairShareHalfLife } = props;
  if (queueName !== undefined) checkName('FluxQueue.queueName', queueName);
  if (queueReservations !== undefined && queuePolicy !== 'hybrid')
    throw new PropsError(
      'FluxQueue.queueReservations',
      'is for queuePolicy hybrid',
      queueReservations,
      'leave it out, or choose queuePolicy hybrid',
    );
  if (fairShareHalfLife !== undefined && fairShare !== true)
    throw new PropsError(
      'FluxQueue.fairShareHalfLife',
      'is for fairShare',
      `${fairShareHalfLife.toMilliseconds() / 1000} s`,
      'leave it out, or set fairShare',
    );
  checkHalfLife(fairShareHalfLife);
  checkRetention(props.retention);
}

function checkRetention(retention: Duration | undefined): void {
  const days = (retention?.toMilliseconds() ?? DAY_MS) / DAY_MS;
  if (Number.isInteger(days) && days >= 1) return;
  throw new PropsError(
    'FluxQueue.retention',
    'must be whole days, 1 or more',
    `${days} days`,
    'give Duration.days(…)',
  );
}

function checkHalfLife(halfLife: Duration | undefined): void {
  const seconds = halfLife?.toMilliseconds();
  if (seconds === undefined || (seconds >= 1000 && seconds % 1000 === 0)) return;
  throw new PropsError(
    'FluxQueue.fairShareHalfLife',
    'must be whole seconds, 1 or more',
    `${seconds / 1000} s`,
    'give a Duration of days or hours',
  );
}

function walltimes({ defaultWalltime, maxWalltime }: FluxQueueProps) {
  return {
    defaultWalltimeSeconds: defaultWalltime?.toSeconds() ?? QUEUE_DEFAULTS.defaultWalltimeSeconds,
    maxWalltimeSeconds: maxWalltime?.toSeconds() ?? QUEUE_DEFAULTS.maxWalltimeSeconds,
  };
}

function checkWalltimes(props: FluxQueueProps): void {
  const { defaultWalltimeSeconds, maxWalltimeSeconds } = walltimes(props);
  if (defaultWalltimeSeconds < 1) {
    throw new PropsError(
      'FluxQueue.defaultWalltime',
      'must be at least a second, because planning needs an end',
      `${defaultWalltimeSeconds} s`,
      'give a Duration of 1 s or more',
    );
  }
  if (maxWalltimeSeconds < defaultWalltimeSeconds) {
    throw new PropsError(
      'FluxQueue.maxWalltime',
      `is shorter than the default walltime of ${defaultWalltimeSeconds} s`,
      `${maxWalltimeSeconds} s`,
      'raise maxWalltime or lower defaultWalltime',
    );
  }
}
