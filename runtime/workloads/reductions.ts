/** What a user asked for and does not get, because a limit of the queue is lower: the FluxJob and an Event say it. */
import { formatDuration } from '../../constructs/api/durations';
import type { QueueSettings } from '../queue/settings';

export interface Wishes {
  /** Seconds; undefined: the user asked for none, or nothing limits it. */
  readonly walltime: number | undefined;
  readonly priority: number;
  /** The stack's own queue, if the user named it where no FluxSetup allows it. */
  readonly refusedQueue: string | undefined;
}

/** One clause for each; none if the user gets everything. */
export function reductionsOf(
  { walltime, priority, refusedQueue }: Wishes,
  { name, maxWalltimeSeconds, priority: { min, max } }: QueueSettings,
  queue: string,
): readonly string[] {
  return [
    ...(walltime === undefined || walltime <= maxWalltimeSeconds
      ? []
      : [
          `walltime ${duration(walltime)} is reduced to ${duration(maxWalltimeSeconds)}, the maximum of queue ${name}`,
        ]),
    ...(priority > max ? [`priority ${priority} is reduced to ${max}, the maximum of queue ${name}`] : []),
    ...(priority < min ? [`priority ${priority} is raised to ${min}, the minimum of queue ${name}`] : []),
    ...(refusedQueue === undefined
      ? []
      : [
          `queue ${refusedQueue} is not allowed by the FluxSetups of this namespace, so queue ${queue} is meant`,
        ]),
  ];
}

function duration(seconds: number): string {
  return formatDuration(Math.round(seconds * 1000));
}
