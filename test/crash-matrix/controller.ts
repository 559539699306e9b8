/** The controller as terms in this process, each with connections of its own through gates that can be shut. */
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
import { Gate } from './gate';
import type { Deed, Point } from './points';
import { Tripwire } from './tripwire';

/** Milliseconds a connection stays broken. */
const OUTAGE_MS = 300;
/** Between two attempts to begin, as the controller role waits. */
const RETRY_MS = 300;

interface Process {
  readonly wire: Tripwire;
  term: Term | undefined;
  readonly close: () => Promise<void>;
  over: boolean;
}

export class Controller {
  /** Beside the controller: it outlives its crash. */
  readonly engine = new EmbeddedEngine();
  /** Nobody else leads: there is no reason for any. */
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
    private readonly gates: Readonly<Record<'database' | 'apiserver' | 'fluxion', Gate>>,
  ) {}

  private server: FluxionServer | undefined;

  static async create({ cluster, postgres }: Stack): Promise<Controller> {
    const [fluxionPort = 0] = await freePorts(1);
    const database = new URL(postgres.url);
    const gates = {
      database: await Gate.before(Number(database.port)),
      apiserver: await Gate.before(Number(new URL(cluster.server).port)),
      fluxion: await Gate.before(fluxionPort),
    };
    database.port = String(gates.database.port);
    const token = await cluster.tokenFor(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
    const kubeconfig = writeKubeconfig(cluster.directory, 'crash-matrix', {
      server: `https://127.0.0.1:${gates.apiserver.port}`,
      caFile: cluster.caFile,
      token,
    });
    const controller = new Controller(database.href, kubeconfig, gates);
    controller.server = await startFluxionServer({
      address: `127.0.0.1:${fluxionPort}`,
      engine: controller.engine,
      log: controller.logger,
    });
    return controller;
  }

  /** What was before is killed; the next one begins. */
  async next(point?: Point): Promise<Tripwire> {
    await this.end();
    const deed = point?.deed ?? 'kill';
    const wire = new Tripwire(point?.call, deed, () => this.act(deed));
    const log = this.logger;
    const queue = openQueue({ url: this.database, logger: log });
    const client = createClient({ kubeconfig: this.kubeconfig });
    const fluxion = connectFluxion({ address: `127.0.0.1:${this.gates.fluxion.port}`, log });
    const current: Process = {
      wire,
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
      queue: wire.around('queue', queue),
      client: wire.around('client', client),
      fluxion: wire.around('fluxion', fluxion),
      fence,
      logger: log,
      metrics: this.metrics,
      onFenced: (error: Error) => this.fenced.push(error),
    };
    void this.serve(current, () => new Term(options));
    return wire;
  }

  /** As the controller role does it: a term that can't start is tried again. */
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
        if (current.wire.isSprung && current.over) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  private async act(deed: Deed): Promise<void> {
    if (deed === 'kill') return;
    if (deed === 'fluxion-restart') return this.engine.close();
    const gate = this.gates[deed];
    gate.shut();
    setTimeout(() => gate.open(), OUTAGE_MS);
  }

  async end(): Promise<void> {
    const { current } = this;
    this.current = undefined;
    if (current === undefined) return;
    current.over = true;
    current.wire.kill();
    await current.term?.stop();
    await current.close();
  }

  async stop(): Promise<void> {
    await this.end();
    await this.server?.stop();
    for (const gate of Object.values(this.gates)) await gate.close();
  }
}
