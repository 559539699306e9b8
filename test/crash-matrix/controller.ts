/** The controller as replicas in this process. Each has its own connections through proxies that tests can cut. */
import { CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE } from '../../constructs/api/labels';
import { parseConfig } from '../../runtime/config';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { EmbeddedEngine } from '../../runtime/fluxion/matcher/engine';
import { type FluxionServer, startFluxionServer } from '../../runtime/fluxion/server/server';
import { createClient } from '../../runtime/kubernetes/client';
import { leases } from '../../runtime/kubernetes/paths';
import { createLogger, type LogLevel } from '../../runtime/observability/log';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';
import { openQueue } from '../../runtime/queue/queue';
import type { Cluster } from '../cluster/cluster';
import { writeKubeconfig } from '../cluster/credentials';
import { freePorts } from '../cluster/ports';
import type { Stack } from '../stack/stack';
import type { Fault, FaultPoint } from './fault-points';
import { FaultTrigger } from './fault-trigger';
import { Replica } from './replica';
import { TcpProxy } from './tcp-proxy';

/** Duration of a connection outage, in milliseconds. */
const OUTAGE_MS = 300;
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
  private current: Replica | undefined;

  private constructor(
    private readonly database: string,
    private readonly kubeconfig: string,
    private readonly cluster: Cluster,
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
    const controller = new Controller(database.href, kubeconfig, cluster, proxies);
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
    if (point?.call === 'lease.create') await this.deleteLease();
    const fault = point?.fault ?? 'kill';
    const trigger = new FaultTrigger(point?.call, fault, () => this.inject(fault));
    // A fault of a node comes first: the scenario arms the trigger.
    if (point?.during === undefined) trigger.arm();
    const { logger, metrics } = this;
    this.current = new Replica(trigger, {
      queue: openQueue({ url: this.database, logger, units: parseConfig({}).units }),
      client: createClient({ kubeconfig: this.kubeconfig }),
      fluxion: connectFluxion({ address: `127.0.0.1:${this.proxies.fluxion.port}`, log: logger }),
      logger,
      metrics,
      onFenced: (error) => this.fenced.push(error),
    });
    return trigger;
  }

  /** The current controller ends as on SIGTERM. */
  async resign(): Promise<void> {
    await this.current?.resign();
  }

  private async deleteLease(): Promise<void> {
    const { namespace, name } = parseConfig({}).leaderElection;
    await this.cluster.request('DELETE', leases(namespace, name));
  }

  private async inject(fault: Fault): Promise<void> {
    if (fault === 'kill') return;
    if (fault === 'fluxion-restart') return this.engine.close();
    const proxy = this.proxies[fault];
    proxy.cut();
    setTimeout(() => proxy.restore(), OUTAGE_MS);
  }

  async end(): Promise<void> {
    await this.current?.kill();
    this.current = undefined;
  }

  async stop(): Promise<void> {
    await this.end();
    await this.server?.stop();
    for (const proxy of Object.values(this.proxies)) await proxy.close();
  }
}
