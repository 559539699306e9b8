/**
 * What answers are made of: the rows, the watches, and the leader's view. Nothing is open while nobody asks; the first
 * question opens what it needs, questions that come meanwhile share that, and after ten minutes without one the watches
 * are closed and the rows are dropped. The tables belong to the role, which opens and closes them likewise.
 */
import { workloadKinds } from '../../../constructs/api/workload-kinds';
import { type Clock, pause, steadySeconds, type Time } from '../../clock';
import type { Config } from '../../config';
import { FluxqError } from '../../errors';
import type { KubernetesClient } from '../../kubernetes/client';
import { clusterView } from '../../leader/cluster-view';
import type { Logger } from '../../observability/log';
import type { Queue } from '../../queue/store';
import { ClusterSurroundings } from '../../scheduler/surroundings';
import { UnmanagedPods } from '../../scheduler/unmanaged-pods';
import { Informers, type Watch } from '../../shared/informers';
import { Signals } from '../../shared/signals';
import { podFacts } from '../../workloads/pod-facts';
import type { UnitSizes } from '../kinds';
import { LeaderViewSource } from './leader-view-source';
import { Rows } from './rows';

export interface ReadModelOptions {
  readonly config: Config;
  readonly client: KubernetesClient;
  /** The queue's tables, which can only be read; asked for with each question, because they may have been closed meanwhile. */
  readonly queue: () => Promise<Queue>;
  readonly logger: Logger;
  readonly time: Time;
}

/** Milliseconds without a question after which everything is closed. */
const IDLE_MS = 600_000;
/** Milliseconds for the first lists of the watches. They are read on when it has passed, for the next question. */
const LIST_MS = 15_000;

/** What is open of the database. */
export interface Tables {
  readonly queue: Queue;
  readonly rows: Rows;
  readonly leader: LeaderViewSource;
}

/** The cluster as the watches and the rows have it. */
export type Cluster = ReturnType<typeof openCluster>;

export class ReadModel {
  private opened: Omit<Tables, 'queue'> | undefined;
  /** The tables of the last question. */
  private queue: Queue | undefined;
  private cluster: Cluster | undefined;
  private asking = 0;
  private cancelTimer = () => {};
  private stopped = false;
  /** Unix seconds. */
  readonly now: () => number;

  constructor(readonly options: ReadModelOptions) {
    this.now = steadySeconds(options.time);
  }

  get unitSizes(): UnitSizes {
    const { cpuMillis, memoryMiB } = this.options.config.units;
    return { cpuMillis, memoryMiB };
  }

  get clock(): Clock {
    return this.options.time.clock;
  }

  /** Whatever is opened for the question stays open for as long as it takes, and ten minutes more. */
  async during<T>(question: () => Promise<T>): Promise<T> {
    if (this.stopped) throw stopping();
    this.asking += 1;
    this.cancelTimer();
    try {
      return await question();
    } finally {
      this.asking -= 1;
      if (this.asking === 0 && !this.stopped)
        this.cancelTimer = this.clock.after(IDLE_MS, () => void this.close());
    }
  }

  /** The tables, with the rows of this moment. @throws FluxqError of the database */
  async tables(): Promise<Tables> {
    const tables = await this.openTables();
    await tables.rows.refresh();
    return tables;
  }

  /** The tables without reading the rows. @throws FluxqError of the database */
  async openTables(): Promise<Tables> {
    const queue = await this.options.queue();
    if (this.stopped) throw stopping();
    this.queue = queue;
    this.opened ??= this.open();
    return { ...this.opened, queue };
  }

  /** The tables, and the cluster once these watches have been listed. @throws FluxqError */
  async world(watches: readonly Watch[]): Promise<Tables & { readonly cluster: Cluster }> {
    const tables = await this.tables();
    this.cluster ??= openCluster(this.options, tables.rows);
    const { cluster } = this;
    await this.listed(cluster.informers, watches);
    return { ...tables, cluster };
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTimer();
    await this.close();
  }

  private open(): Omit<Tables, 'queue'> {
    const { config } = this.options;
    const queue = () => this.queue!;
    const { clock } = this;
    return { rows: new Rows({ queue, config, clock }), leader: new LeaderViewSource(queue, clock) };
  }

  private async listed(informers: Informers, watches: readonly Watch[]): Promise<void> {
    const done = new AbortController();
    const isInTime = await Promise.race([
      informers.open(watches).then(() => true),
      pause(this.clock, LIST_MS, done.signal).then(() => false),
    ]);
    done.abort();
    if (this.stopped) throw stopping();
    if (!isInTime)
      throw new FluxqError(
        'FLUXQ_READER_NOT_READY',
        'the apiserver has not listed the objects of the cluster yet',
        {
          field: 'watches',
          value: watches.join(', '),
          remedy: 'ask again in a moment; if that does not help, read the log of the reader',
          retryable: true,
        },
      );
  }

  private async close(): Promise<void> {
    const { cluster, options } = this;
    this.opened = undefined;
    this.queue = undefined;
    this.cluster = undefined;
    await cluster?.informers.stop();
    options.logger.debug({}, 'the read model is closed');
  }
}

function openCluster({ config, client, logger, time }: ReadModelOptions, rows: Rows) {
  const view = clusterView(
    config,
    new Informers({ client, logger, time, podFacts, kinds: workloadKinds(config.workloads.kinds) }),
    time.clock,
  );
  const { informers, queues } = view;
  informers.fluxSetups.changed.subscribe(() => queues.invalidate());
  const facts = { ...view, config, workloadCache: rows, signals: new Signals(), now: steadySeconds(time) };
  return { ...facts, surroundings: new ClusterSurroundings(facts), unmanaged: new UnmanagedPods(facts) };
}

function stopping(): FluxqError {
  return new FluxqError('FLUXQ_READER_NOT_READY', 'the reader is stopping', {
    remedy: 'ask again',
    retryable: true,
  });
}
