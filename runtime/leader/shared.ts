/** Builds what the areas of a term share. */
import { hostname } from 'node:os';
import { steadySeconds, systemTime, type Time } from '../clock';
import type { Config } from '../config';
import type { FluxSetupShared } from '../fluxsetups/controller';
import { QueueRegistry } from '../fluxsetups/queue-registry';
import { stackQueue } from '../fluxsetups/queue-settings';
import { EventRecorder } from '../kubernetes/events';
import type { RowMirror } from '../queue/row-mirror';
import { WorkloadCache } from '../queue/workload-cache';
import { agentsOf } from '../shared/agents';
import { Busyness } from '../shared/change-rate';
import { GrantWaits } from '../shared/grant-waits';
import { Informers } from '../shared/informers';
import { NodeCache } from '../shared/node-cache';
import type { Shared } from '../shared/shared';
import { Signals } from '../shared/signals';
import { WorkloadObjects } from '../shared/workload-objects';
import { podFacts } from '../workloads/pod-facts';

export interface TermOptions
  extends Pick<
    Shared,
    'config' | 'client' | 'queue' | 'fluxion' | 'fence' | 'logger' | 'metrics' | 'onFenced'
  > {
  /** @default - the clocks of the machine */
  readonly time?: Time;
  /** Watches that are open already. The term owns them from now on. @default - the term opens its own */
  readonly informers?: Informers;
  /** A copy of the rows from before the term. @default - the term reads all rows */
  readonly mirror?: RowMirror;
}

/** From so many row changes per second on, status writes wait: the apiserver has more urgent work. */
const CHANGES_PER_SECOND = { busy: 5, burst: 40 };

export function createShared(options: TermOptions): FluxSetupShared {
  const { config, client, queue, fence, logger, metrics, time = systemTime, mirror } = options;
  const now = steadySeconds(time);
  const signals = new Signals();
  const workloadCache = new WorkloadCache(queue, fence, {
    onStale: () => signals.schedule.emit(),
    ...(mirror === undefined ? {} : { firstRead: () => mirror.refresh() }),
    units: config.units,
    halfLifeSeconds: config.fairShare.halfLifeSeconds,
    now,
  });
  const informers = options.informers ?? new Informers({ client, logger, time, podFacts, metrics });
  return {
    ...options,
    time,
    now,
    workloadCache,
    informers,
    nodes: new NodeCache(informers.nodes, config.units, agentsOf(informers.pods, podFacts)),
    workloads: new WorkloadObjects(informers, podFacts),
    podFacts,
    queues: createQueues(config, informers),
    events: new EventRecorder({
      client,
      logger,
      component: 'fluxqueue-controller',
      instance: hostname(),
      clock: time.clock,
    }),
    signals,
    grantWaits: new GrantWaits(),
    busyness: busynessOf(workloadCache, now),
  };
}

function createQueues({ queue }: Config, { fluxSetups }: Informers): QueueRegistry {
  return new QueueRegistry(stackQueue(queue), queue.enabled, () => fluxSetups.list());
}

function busynessOf(workloadCache: WorkloadCache, now: () => number): Busyness {
  const busyness = new Busyness(CHANGES_PER_SECOND, now);
  workloadCache.onChange(() => busyness.recordChange());
  return busyness;
}
