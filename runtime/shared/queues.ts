/** The queues in force, as every area sees them. */
import type { QueueSettings } from '../queue/settings';

/** `<namespace>/<FluxSetup>`. */
export function queueName(namespace: string, setup: string): string {
  return `${namespace}/${setup}`;
}

/** What determines the queue of a workload. */
export interface QueueRequest {
  readonly namespace: string;
  /** The setting `fluxqueue/queue`; undefined if the workload does not set it. */
  readonly requested: string | undefined;
  /** The queue of the workload's row; undefined for a new workload. */
  readonly current: string | undefined;
}

/** Assigns a workload to its queue. */
export interface QueueChoice {
  queueOf(request: QueueRequest): string;
  /** Whether the workload names the stack's own queue, and the FluxSetups of its namespace do not allow that. */
  refusesStackQueue(request: Pick<QueueRequest, 'namespace' | 'requested'>): boolean;
  /** The settings that plan workloads of this queue. A queue that does not exist has those of the stack's own queue. */
  planOf(queue: string): QueueSettings;
}

export interface Queues extends QueueChoice {
  /** Every existing queue. */
  all(): readonly QueueSettings[];
  /** Undefined if no such queue exists. */
  byName(name: string): QueueSettings | undefined;
  /** Why the FluxSetup of this queue is invalid; undefined if it is valid, or does not exist. */
  problemOf(name: string): string | undefined;
}
