/** Builds what the areas of a term share. */
import { hostname } from 'node:os';
import { workloadKinds } from '../../constructs/api/workload-kinds';
import { steadySeconds, systemTime, type Time } from '../clock';
import type { Config } from '../config';
import type { FluxSetupShared } from '../fluxsetups/controller';
import { EventRecorder } from '../kubernetes/events';
import type { RowMirror } from '../queue/row-mirror';
import { WorkloadCache } from '../queue/workload-cache';
import { Busyness } from '../shared/change-rate';
import { GrantWaits } from '../shared/grant-waits';
import { Informers } from '../shared/informers';
import type { Shared } from '../shared/shared';
import { Signals } from '../shared/signals';
import { podFacts } from '../workloads/pod-facts';
import { clusterView } from './cluster-view';

export interface TermOptions
  extends Pick<
    Shared,
    'config' | 'client' | 'queue' | 'fluxion' | 'fence' | 'logger' | 'metrics' | 'onFenced' | 'looksEveryMs'
  > {
  /** @default - the clocks of the machine */
  readonly time?: Time;
  /** Watches that are open already. The term owns them from now on. @default - the term opens its own */
  readonly informers?: Informers;
  /** A copy of the rows from before the term. @default - the term reads all rows */
  readonly mirror?: RowMirror;
}

export function createShared(options: TermOptions): FluxSetupShared {
  const { config, client, queue, fence, logger, metrics, time = systemTime, mirror } = options;
  const now = steadySeconds(time);
  const signals = new Signals();
  const informers =
    options.informers ??
    new Informers({ client, logger, time, podFacts, metrics, kinds: workloadKinds(config.workloads.kinds) });
  const workloadCache = new WorkloadCache(queue, fence, {
    onStale: () => signals.schedule.emit(),
    onListenerError: (err) => logger.error({ err }, 'a listener of rows failed'),
    ...(mirror === undefined ? {} : { firstRead: () => mirror.handOver() }),
    units: config.units,
    halfLifeSeconds: config.fairShare.halfLifeSeconds,
    now,
    pool: informers.pool,
  });
  return {
    ...options,
    time,
    now,
    workloadCache,
    ...clusterView(
      config,
      informers,
      time.clock,
      ({ kind, namespace, name }) => workloadCache.byName(kind, namespace, name)[0],
    ),
    events: new EventRecorder({
      client,
      logger,
      component: 'fluxqueue-controller',
      instance: hostname(),
      clock: time.clock,
    }),
    signals,
    grantWaits: new GrantWaits(),
    withdrawnGrants: new Set(),
    awaitedGrants: new Set(),
    busyness: busynessOf(workloadCache, config.statuses, now),
  };
}

function busynessOf(
  workloadCache: WorkloadCache,
  { busyPerSecond: busy, burstPerSecond: burst }: Config['statuses'],
  now: () => number,
): Busyness {
  const busyness = new Busyness({ busy, burst }, now);
  workloadCache.onChange(({ namespace, phase }, before) => {
    busyness.recordChange();
    // A pass that gives thousands of waiting rows another reason is no burst of their namespace, nor are the pods of one large Job.
    if (phase !== before?.phase) busyness.recordPhase(namespace);
  });
  return busyness;
}
