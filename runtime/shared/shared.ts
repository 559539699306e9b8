/** What all areas of a term share. */
import type { Time } from '../clock';
import type { Config } from '../config';
import type { Fluxion } from '../fluxion/types';
import type { KubernetesClient } from '../kubernetes/client';
import type { EventRecorder } from '../kubernetes/events';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';
import type { Queue } from '../queue/store';
import type { WorkloadCache } from '../queue/workload-cache';
import type { Busyness } from './change-rate';
import type { GrantWaits } from './grant-waits';
import type { Informers } from './informers';
import type { Namespaces } from './namespaces';
import type { NodeCache } from './node-cache';
import type { PodFacts } from './pod-facts';
import type { Queues } from './queues';
import type { Signals } from './signals';
import type { WorkloadObjects } from './workload-objects';

export interface Shared {
  readonly config: Config;
  readonly client: KubernetesClient;
  readonly queue: Queue;
  readonly fluxion: Fluxion;
  /** Every write to the database carries it. The database rejects a fence that is not the newest. */
  readonly fence: number;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  /** The database has seen a newer leader, so the term has ended. */
  readonly onFenced: (error: Error) => void;
  readonly time: Time;
  /** Milliseconds between two looks for work that waits although it could start. @default - a minute */
  readonly looksEveryMs?: number;
  /** Unix seconds that never go back. */
  readonly now: () => number;

  /** The rows that are not finished. */
  readonly workloadCache: WorkloadCache;
  readonly informers: Informers;
  readonly namespaces: Namespaces;
  readonly nodes: NodeCache;
  readonly workloads: WorkloadObjects;
  readonly podFacts: PodFacts;
  readonly queues: Queues;
  readonly events: EventRecorder;
  readonly signals: Signals;
  /** What granted workloads wait for while none of their pods runs. */
  readonly grantWaits: GrantWaits;
  /** Job ids of grants whose nodes may be in use: they are not released any more, but requeued. */
  readonly withdrawnGrants: Set<number>;
  /** Job ids of grants that have not started within their walltime, on nodes for which a reservation waits. */
  readonly awaitedGrants: Set<number>;
  /** Whether many workloads start and end at this moment, so that status writes should wait. */
  readonly busyness: Pick<Busyness, 'isBusy' | 'burstSince' | 'isBursting'>;
}

/** One area of a term, or a part of it that runs by itself. */
export interface Controller {
  /** Loads what the area needs and subscribes it to changes. */
  start(): Promise<void> | void;
  /** Resolves when no write of the area is in flight any more. It is valid before, during and after `start`. */
  stop(): Promise<void>;
}
