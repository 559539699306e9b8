/** The resources of the read API. */
import type { Time } from '../../clock';
import type { Config } from '../../config';
import type { KubernetesClient } from '../../kubernetes/client';
import type { Logger } from '../../observability/log';
import type { Queue } from '../../queue/store';
import type { ReadResource } from '../resource';
import { histories } from './histories';

export interface AnswerOptions {
  readonly config: Config;
  readonly client: KubernetesClient;
  /** The queue's tables, which can only be read; asked for with each question. */
  readonly queue: () => Promise<Queue>;
  readonly logger: Logger;
  readonly time: Time;
}

export function readResources({ queue }: AnswerOptions): {
  readonly resources: readonly ReadResource[];
  stop(): Promise<void>;
} {
  return { resources: [histories(queue)], stop: () => Promise.resolve() };
}
