/** The controller as terms in this process. Each term has its own connections through proxies that tests can cut. */
import { CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE } from '../../constructs/api/labels';
import { parseConfig } from '../../runtime/config';
import { FluxqError } from '../../runtime/errors';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { EmbeddedEngine } from '../../runtime/fluxion/matcher/engine';
import { type FluxionServer, startFluxionServer } from '../../runtime/fluxion/server/server';
import { createClient } from '../../runtime/kubernetes/client';
import { Term } from '../../runtime/leader/term';
import { createLogger, type LogLevel } from '../../runtime/observability/log';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';
import { openQueue } from '../../runtime/queue/queue';
import { writeKubeconfig } from '../cluster/credentials';
import { freePorts } from '../cluster/ports';
import type { Stack } from '../stack/stack';
import type { Fault, FaultPoint } from './fault-points';
import { FaultTrigger } from './fault-trigger';
import { TcpProxy } from './tcp-proxy';

/** Duration of a connection outage, in milliseconds. */
const OUTAGE_MS = 300;
/** Delay between two attempts to start a term, as in the controller role, in milliseconds. */
const RETRY_MS = 300;

interface Process {
  readonly trigger: FaultTrigger;
  term: Term | undefined;
  readonly close: () => Promise<void>;
  over: boolean;
}

export class Controller {
  /** The Fluxion sidecar, which survives a crash of the controller. */
  readonly engine = new EmbeddedEngine();
  /** Fencing errors; there must be none, because no other replica leads. */
  readonly fenced: Error[] = [];
  private readonly logger = createLogger(
    'crash-matrix',
    (process.env.FLUXQUEUE_TEST_LOG ?? 'silent') as LogLevel,
  );
  private readonly metrics = controllerMetrics(createRegistry());
  private current: Process | undefined;
  private fence = 0;

  private constructor(
    private readonly database: string,
    private readonly kubeconfig: string,
    private readonly proxies: Readonly<Record<'database' | 'apiserver' | 'fluxion', TcpProxy>>,
  ) {}

  private server: FluxionServer | undefined;

  static async create({ cluster, postgres }: Stack): Promise<Controller> {
    const [fluxionPort = 0] = await freePorts(1);
    const database = new URL(postgres.url);
    const proxies = {
      database: await TcpProxy.before(Number(database.port)),
      apiserver: await TcpProxy.before(Number(new URL(cluster.server).port)),
      fluxion: await TcpProxy.before(fluxionPort),
    };
    database.port = String(proxies.database.port);
    const token = await cluster.tokenFor(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
    const kubeconfig = writeKubeconfig(cluster.directory, 'crash-matrix', {
      server: `https://127.0.0.1:${proxies.apiserver.port}`,
      caFile: cluster.caFile,
      token,
    });
    const controller = new Controller(database.href, kubeconfig, proxies);
    controller.server = await startFluxionServer({
      address: `127.0.0.1:${fluxionPort}`,
      engine: controller.engine,
      log: controller.logger,
    });
    return controller;
  }

  /** Kills the current controller and starts the next one. */
  async next(point?: FaultPoint): Promise<FaultTrigger> {
    await this.end();
    const fault = point?.fault ?? 'kill';
    const trigger = new FaultTrigger(point?.call, fault, () => this.inject(fault));
    const log = this.logger;
    const queue = openQueue({ url: this.database, logger: log, units: parseConfig({}).units });
    const client = createClient({ kubeconfig: this.kubeconfig });
    const fluxion = connectFluxion({ address: `127.0.0.1:${this.proxies.fluxion.port}`, log });
    const current: Process = {
      trigger,
      term: undefined,
      over: false,
      close: async () => {
        client.close();
        await Promise.all([queue.close(), fluxion.close()]);
      },
    };
    this.current = current;
    const fence = await queue.acquireFence('crash-matrix', this.fence);
    this.fence = fence;
    const options = {
      config: parseConfig({}),
      queue: trigger.wrap('queue', queue),
      client: trigger.wrap('client', client),
      fluxion: trigger.wrap('fluxion', fluxion),
      fence,
      logger: log,
      metrics: this.metrics,
      onFenced: (error: Error) => this.fenced.push(error),
    };
    void this.serve(current, () => new Term(options));
    return trigger;
  }

  /** Retries a term that fails to start, as the controller role does. */
  private async serve(current: Process, make: () => Term): Promise<void> {
    while (!current.over) {
      const term = make();
      current.term = term;
      try {
        await term.start();
        return;
      } catch (error) {
        await term.stop();
        if (!(error instanceof FluxqError)) throw error;
        if (current.trigger.isTriggered && current.over) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  private async inject(fault: Fault): Promise<void> {
    if (fault === 'kill') return;
    if (fault === 'fluxion-restart') return this.engine.close();
    const proxy = this.proxies[fault];
    proxy.cut();
    setTimeout(() => proxy.restore(), OUTAGE_MS);
  }

  async end(): Promise<void> {
    const { current } = this;
    this.current = undefined;
    if (current === undefined) return;
    current.over = true;
    current.trigger.kill();
    await current.term?.stop();
    await current.close();
  }

  async stop(): Promise<void> {
    await this.end();
    await this.server?.stop();
    for (const proxy of Object.values(this.proxies)) await proxy.close();
  }
}
