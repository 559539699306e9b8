/** Terms in this process: each with a new fence over the same tables, cluster and Fluxion, with a trap in its ports. */
import { CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE } from '../../constructs/api/labels';
import { type ConfigInput, parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { Term } from '../../runtime/leader/term';
import { createLogger, type LogLevel } from '../../runtime/observability/log';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import { type Fault, FaultInjector } from './fault-injector';
import type { Fixture } from './suite';

/** A fault that never comes. */
const NEVER: Fault = { call: '', nth: 1, when: 'before', crash: false };

export class Terms {
  /** Outlives its terms, as the sidecar outlives a controller's crash. */
  readonly fluxion: Fluxion = embeddedFluxion();
  /** Errors that ended a term by the fence. */
  readonly fenced: Error[] = [];
  private readonly queue: Queue;
  private current: { readonly term: Term; readonly faults: FaultInjector } | undefined;

  private constructor(
    url: string,
    private readonly client: KubernetesClient,
    private readonly config: ConfigInput,
  ) {
    this.queue = openQueue({ url, units: parseConfig(config).units });
  }

  /** With exactly the rights of the controller. */
  static async create({ stack }: Fixture, config: ConfigInput = {}): Promise<Terms> {
    const { cluster, postgres } = stack;
    const kubeconfig = await cluster.kubeconfigForServiceAccount(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
    return new Terms(postgres.url, createClient({ kubeconfig }), config);
  }

  /** Ends the current term as a crash would, and starts the next. */
  async next(fault: Fault = NEVER): Promise<FaultInjector> {
    await this.end();
    const faults = new FaultInjector(fault);
    const level = (process.env.FLUXQUEUE_TEST_LOG ?? 'silent') as LogLevel;
    const term = new Term({
      config: parseConfig(this.config),
      client: faults.around('client', this.client),
      queue: faults.around('queue', this.queue),
      fluxion: faults.around('fluxion', this.fluxion),
      fence: await this.queue.acquireFence('test'),
      logger: createLogger('test', level),
      metrics: controllerMetrics(createRegistry()),
      onFenced: (error) => this.fenced.push(error),
    });
    this.current = { term, faults };
    // A term that dies while it starts is followed by the next one, as a process would be.
    await term.start().catch((error: unknown) => {
      if (!faults.isSprung) throw error;
    });
    return faults;
  }

  async end(): Promise<void> {
    this.current?.faults.kill();
    await this.current?.term.stop();
    this.current = undefined;
  }

  async stop(): Promise<void> {
    await this.end();
    this.client.close();
    await this.queue.close();
  }
}
