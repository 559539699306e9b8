/** One process of the controller role, in this process: its election, its term, and its own connections with a fault. */
import { type Config, parseConfig } from '../../runtime/config';
import { FluxqError } from '../../runtime/errors';
import type { Fluxion } from '../../runtime/fluxion/types';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { LeaderElector } from '../../runtime/leader/elector';
import { Term } from '../../runtime/leader/term';
import type { Logger } from '../../runtime/observability/log';
import type { ControllerMetrics } from '../../runtime/observability/metrics';
import type { Queue } from '../../runtime/queue/store';
import { electionClient } from './election';
import type { FaultTrigger } from './fault-trigger';

export interface ReplicaOptions {
  readonly queue: Queue;
  readonly client: KubernetesClient;
  readonly fluxion: Fluxion;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  /** Called with an error that ended a term by its fence. */
  readonly onFenced: (error: Error) => void;
}

/** Delay between two attempts to start a term, as in the controller role, in milliseconds. */
const RETRY_MS = 300;
/** All processes are restarts of one container, so none of them waits for the Lease of the one before it. */
const ELECTION = { podUid: 'crash-matrix', leaseDuration: 3_000, renewDeadline: 2_000, retryPeriod: 300 };
/** Grants whose pods do not run fail soon. */
const CONFIG: Config = parseConfig({ grants: { unschedulableSeconds: 3 } });

export class Replica {
  private readonly elector: LeaderElector;
  private term: Term | undefined;
  /** Terms follow each other. */
  private serving: Promise<void> = Promise.resolve();
  private over = false;

  constructor(
    readonly trigger: FaultTrigger,
    private readonly options: ReplicaOptions,
  ) {
    const { queue, client, logger } = options;
    const { namespace, name } = CONFIG.leaderElection;
    const tables = trigger.wrap('queue', queue);
    this.elector = new LeaderElector({
      ...ELECTION,
      client: electionClient(client, trigger.make),
      namespace,
      name,
      logger,
      fence: (atLeast) => tables.acquireFence('crash-matrix', atLeast),
      onAcquired: (fence) => {
        this.serving = this.serving.then(() => this.serve(fence));
      },
      onLost: () => {
        this.serving = this.serving.then(() => this.endTerm());
        void this.term?.stop();
      },
    });
    this.elector.start();
  }

  /** As on SIGTERM: ends the term and releases the Lease. */
  async resign(): Promise<void> {
    this.over = true;
    await this.endTerm();
    await this.serving;
    await this.endTerm();
    await this.elector.stop();
  }

  /** As on SIGKILL. */
  async kill(): Promise<void> {
    this.trigger.kill();
    await this.resign();
    const { client, queue, fluxion } = this.options;
    client.close();
    await Promise.all([queue.close(), fluxion.close()]);
  }

  private async endTerm(): Promise<void> {
    const { term } = this;
    this.term = undefined;
    await term?.stop();
  }

  /** Retries a term that fails to start, as the controller role does. */
  private async serve(fence: number): Promise<void> {
    while (!this.over && this.elector.fence === fence) {
      const term = this.newTerm(fence);
      this.term = term;
      try {
        return await term.start();
      } catch (error) {
        await this.endTerm();
        if (!(error instanceof FluxqError)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  private newTerm(fence: number): Term {
    const { trigger } = this;
    const { queue, client, fluxion, logger, metrics, onFenced } = this.options;
    return new Term({
      config: CONFIG,
      queue: trigger.wrap('queue', queue),
      client: trigger.wrap('client', client),
      fluxion: trigger.wrap('fluxion', fluxion),
      fence,
      logger,
      metrics,
      onFenced: (error) => {
        if (!this.over && this.elector.fence === fence) onFenced(error);
      },
    });
  }
}
