/** The controller role: takes part in the leader election and runs a term while it leads. */

import { hostname } from 'node:os';
import { workloadKinds } from '../../constructs/api/workload-kinds';
import { type Backoff, backoff, pause, steadySeconds, systemTime } from '../clock';
import { type Config, databaseSource } from '../config';
import { FluxqError, messageOf } from '../errors';
import { connectFluxion } from '../fluxion/client/client';
import { embeddedFluxion } from '../fluxion/matcher/engine';
import type { Fluxion, MatchResult } from '../fluxion/types';
import { createClient, type KubernetesClient } from '../kubernetes/client';
import { readDatabaseAccess } from '../kubernetes/secrets';
import { LeaderElector } from '../leader/elector';
import { leaseWatch } from '../leader/lease-watch';
import { Standby } from '../leader/standby';
import { Term } from '../leader/term';
import { hasOwnLibrary, WarmFluxion } from '../leader/warm-fluxion';
import { serveObservability } from '../observability/http';
import type { Logger } from '../observability/log';
import { measured } from '../observability/measured';
import {
  type ControllerMetrics,
  controllerMetrics,
  createRegistry,
  leaderPendingGauge,
  standbyWarmGauge,
} from '../observability/metrics';
import { openQueue } from '../queue/queue';
import type { Role } from './role';

/** Short at first: a database or apiserver that moves is away for seconds only. */
const RETRY: Backoff = { first: 250, most: 1_000 };
/** Milliseconds. At 40 jobs per second a round of commits writes four of them; a single job does not wait. */
const GATHER_MS = 100;

/** Waits for a database or apiserver that is down. @throws FluxqError for a configuration that can't work */
export async function startController(config: Config, logger: Logger): Promise<Role> {
  // A configuration without a database is an error; a Secret that has no value yet is waited for.
  databaseSource(config);
  const registry = createRegistry();
  const metrics = controllerMetrics(registry);
  const client = createClient({
    ...(config.kubernetes.kubeconfig === undefined ? {} : { kubeconfig: config.kubernetes.kubeconfig }),
    ...(config.kubernetes.context === undefined ? {} : { context: config.kubernetes.context }),
    userAgent: 'fluxqueue-controller',
    onRequest: (verb, resource, status) => metrics.apiRequests.inc({ verb, resource, status }),
  });
  const controller = new Controller(config, client, metrics, logger);
  leaderPendingGauge(registry, () => controller.isPending);
  standbyWarmGauge(registry, () => controller.isWarm);
  const notReady = () => controller.notReady();
  const http = await serveObservability({ http: config.http, metrics: config.metrics, registry, notReady });
  logger.info({ http: http.port, metrics: http.metricsPort, server: client.server }, 'controller started');
  controller.start();
  return {
    failed: controller.failed,
    stop: async () => {
      await controller.stop();
      await http.stop();
    },
  };
}

type OpenQueue = ReturnType<typeof openQueue>;

class Controller {
  readonly failed: Promise<Error>;
  private readonly elector: LeaderElector;
  private readonly leaseWatch: Pick<ReturnType<typeof leaseWatch>, 'start' | 'stop'>;
  private readonly fluxion: Fluxion;
  private readonly stopping = new AbortController();
  private fail: (error: Error) => void = () => {};
  private term: Term | undefined;
  private queue: OpenQueue | undefined;
  private readonly standby: Standby;
  private changing: Promise<void> = Promise.resolve();
  private migrated = false;
  /** Whether it has led, or could have: a rolling update must not end a leader before another replica is warm. */
  private couldLead = false;
  /** The fence of the last term. */
  private lastFence = 0;

  constructor(
    private readonly config: Config,
    private readonly client: KubernetesClient,
    private readonly metrics: ControllerMetrics,
    private readonly logger: Logger,
  ) {
    this.failed = new Promise((resolve) => {
      this.fail = resolve;
    });
    const { address } = config.fluxion;
    const fluxion = address === 'embedded' ? embeddedFluxion() : connectFluxion({ address, log: logger });
    this.fluxion = measured(fluxion, (call, seconds, result) =>
      metrics.fluxionSeconds.observe({ call, result: callResult(result) }, seconds),
    );
    this.standby = new Standby({
      client,
      logger,
      metrics,
      time: systemTime,
      kinds: workloadKinds(config.workloads.kinds),
      queue: () => this.opened,
      ...(hasOwnLibrary(config) && { fluxion: () => this.warmFluxion() }),
    });
    const { namespace, name, podUid, leaseDurationSeconds, renewDeadlineSeconds, retryPeriodSeconds } =
      config.leaderElection;
    this.elector = new LeaderElector({
      client,
      namespace,
      name,
      ...(podUid === undefined ? {} : { podUid }),
      leaseDuration: leaseDurationSeconds * 1000,
      renewDeadline: renewDeadlineSeconds * 1000,
      retryPeriod: retryPeriodSeconds * 1000,
      logger,
      fence: (atLeast) => this.opened.acquireFence(this.elector.identity, atLeast),
      onAcquired: (fence) => this.change(() => this.begin(fence)),
      onLost: (reason) => {
        logger.warn({ reason }, 'no longer the leader');
        // A term that is still starting has to end now, because the next change waits for its start.
        void this.term?.stop();
        this.change(async () => {
          await this.end();
          this.standby.warmUp();
        });
      },
    });
    const onChange = () => this.elector.look();
    this.leaseWatch = leaseWatch({ client, namespace, name, onChange, logger, time: systemTime });
  }

  private warmFluxion(): WarmFluxion {
    const { fluxion, config, logger } = this;
    const now = steadySeconds(systemTime);
    return new WarmFluxion({ fluxion, config, logger, now, fence: () => this.lastFence });
  }

  /** Takes part in the election once the database has its tables. */
  start(): void {
    this.change(async () => {
      this.migrated = await this.retryUntilStopped('the database', async () => {
        this.queue ??= await this.openQueue();
        await this.queue.migrate();
      });
      if (!this.migrated) return;
      this.standby.warmUp();
      this.elector.start();
      this.leaseWatch.start();
    });
  }

  /** Waits for the URL here: a container that gets it from a Secret by the kubelet starts up to 15 s after the Secret is filled. */
  private async openQueue(): Promise<OpenQueue> {
    const { config, client, logger } = this;
    const source = databaseSource(config);
    const queue = openQueue({
      ...('url' in source ? source : await readDatabaseAccess(client, source)),
      migrates: config.database.migrate,
      logger,
      gatherMs: GATHER_MS,
      units: config.units,
      halfLifeSeconds: config.fairShare.halfLifeSeconds,
      // The Secret is read once: the next process has the new password and the new CA.
      onLoginRefused: this.fail,
    });
    return measured(queue, (operation, seconds, result) =>
      this.metrics.databaseSeconds.observe(
        { operation, result: result === undefined ? 'failed' : 'done' },
        seconds,
      ),
    );
  }

  /** The queue of a role that takes part in the election. */
  private get opened(): OpenQueue {
    if (this.queue === undefined) throw new Error('the election began before the queue was opened');
    return this.queue;
  }

  notReady(): string[] {
    if (!this.migrated) return ['database'];
    if (this.isPending) return ['the Lease is held, but this replica does not lead yet'];
    this.couldLead ||= this.term !== undefined || this.isWarm;
    if (!this.couldLead) return ['the copy of the cluster and of the queue'];
    const trouble = this.term?.trouble;
    return trouble === undefined ? [] : [trouble];
  }

  /** Whether this replica holds the Lease without a term: until it leads, no replica schedules. */
  get isPending(): boolean {
    return this.elector.holding && this.term === undefined;
  }

  /** Whether this replica could take over without reading the cluster first. */
  get isWarm(): boolean {
    return this.standby.isWarm;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.end();
    // A term that was about to begin has seen the abort signal by now.
    await this.changing;
    await this.end();
    this.leaseWatch.stop();
    await this.standby.stop();
    await this.elector.stop();
    await this.fluxion.close();
    this.client.close();
    await this.queue?.close();
  }

  private async begin(fence: number): Promise<void> {
    this.lastFence = fence;
    this.logger.info({ fence, host: hostname() }, 'leader');
    await this.retryUntilStopped('the start of the term', async () => {
      if (this.elector.fence !== fence || this.stopping.signal.aborted) return;
      const term = new Term({
        config: this.config,
        client: this.client,
        queue: this.opened,
        fluxion: this.fluxion,
        ...this.standby.take(),
        fence,
        logger: this.logger,
        metrics: this.metrics,
        // A process that was fenced while it holds the lease restarts. After a lost lease the error belongs to an
        // earlier term and is ignored.
        onFenced: (error) => {
          if (this.elector.fence === fence) this.fail(error);
        },
      });
      this.term = term;
      this.metrics.leader.set(1);
      await term.start().catch(async (error: unknown) => {
        await this.end();
        throw error;
      });
    });
  }

  private async end(): Promise<void> {
    const { term } = this;
    this.term = undefined;
    this.metrics.leader.set(0);
    await term?.stop();
  }

  /** Runs the steps one after the other, so that a term ends before the next one begins. */
  private change(step: () => Promise<void>): void {
    this.changing = this.changing.then(step).catch((error: unknown) => {
      this.fail(error instanceof Error ? error : new Error(messageOf(error)));
    });
  }

  /** Retries the work until it succeeds. @returns false if the role was stopped before. @throws errors that are not retryable */
  private async retryUntilStopped(what: string, work: () => Promise<void>): Promise<boolean> {
    const { clock, random } = systemTime;
    for (let failures = 1; !this.stopping.signal.aborted; failures++) {
      try {
        await work();
        return true;
      } catch (error) {
        if (error instanceof FluxqError && !error.retryable) throw error;
        this.logger.warn({ error: messageOf(error) }, `waiting for ${what}`);
        await pause(clock, backoff(RETRY, failures, random), this.stopping.signal);
      }
    }
    return false;
  }
}

/** The result of a call to Fluxion, as its metric names it. */
function callResult(result: { readonly value: unknown } | undefined): string {
  if (result === undefined) return 'failed';
  const match = result.value as Partial<MatchResult> | undefined;
  if (match?.status === undefined) return 'done';
  return match.status === 'OK' && match.reserved === true ? 'RESERVED' : match.status;
}
