/**
 * The whole system on one machine: control plane, Postgres, the synthesized
 * stack applied to it, and the roles as processes of their own with exactly
 * their ServiceAccounts' rights.
 */
import { App } from 'cdk8s';
import {
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE_LABEL,
  READ_API_SERVICE,
  READER_SERVICE_ACCOUNT,
  STACK_NAMESPACE,
  USER_ANNOTATION,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../../constructs/api/labels';
import { defaultStack, type FluxQueueProps } from '../../constructs/fluxqueue';
import type { ConfigInput } from '../../runtime/config';
import { apiServices, jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { miniClusters } from '../../runtime/miniclusters/resource';
import { isGated } from '../../runtime/workloads/pod';
import { type Cluster, type ClusterOptions, type KubeObject, startCluster } from '../cluster/cluster';
import { freePorts } from '../cluster/ports';
import { type Postgres, type PostgresOptions, startPostgres } from '../cluster/postgres';
import { type RoleProcess, type RoleStart, Roles } from './roles';
import { runtimeUrl } from './runtime-role';

export interface StackOptions {
  readonly cluster?: ClusterOptions;
  readonly postgres?: PostgresOptions;
  /** Props of the synthesized stack beside those that say the runtime is outside. */
  readonly props?: FluxQueueProps;
  /** Whether the stack has the pods of the runtime, which kwok simulates beside the roles. @default false */
  readonly runtimePods?: boolean;
  /** Settings of the roles. */
  readonly config?: ConfigInput;
  /** Whether the tests create MiniClusters, which the apiserver admits some seconds later than all else. @default true */
  readonly createsMiniClusters?: boolean;
  /** Port of the webhook role, which is started with the stack. @default - admission by policies needs no role */
  readonly webhookPort?: number;
  /** Whether the stack has the read API, which `startReader` serves. @default false */
  readonly readApi?: boolean;
  /** Told what is going on. */
  readonly progress?: (line: string) => void;
  /** Gives up, and stops what has started. */
  readonly signal?: AbortSignal;
}

/** The version that test/cluster runs. */
const KUBERNETES_VERSION = '1.37.1';

/** A MiniCluster to ask admission with. */
const MINICLUSTER = {
  apiVersion: 'flux-framework.org/v1alpha2',
  kind: 'MiniCluster',
  metadata: { name: 'probe' },
  spec: { containers: [{ image: 'none' }] },
};

interface ApiService extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A pod's spec to ask admission with. */
const PROBE = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] };

export async function startStack(given: StackOptions = {}): Promise<Stack> {
  const options = given.readApi === true ? await withReader(given) : given;
  const { progress = () => undefined } = options;
  const objects = stackObjects(options);
  const started = await Promise.allSettled([
    startCluster({ progress, objects, ...options.cluster }),
    startPostgres(options.postgres),
  ] as const);
  const [cluster, postgres] = started;
  if (cluster.status === 'rejected' || postgres.status === 'rejected') {
    for (const part of started) if (part.status === 'fulfilled') await part.value.stop();
    throw cluster.status === 'rejected' ? cluster.reason : (postgres as PromiseRejectedResult).reason;
  }
  const stack = new Stack(cluster.value, postgres.value, options);
  try {
    options.signal?.throwIfAborted();
    await stack.startAdmission();
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** The Service of the reader leads to a port of this machine. */
async function withReader(options: StackOptions): Promise<StackOptions> {
  const [port = 0] = await freePorts(1);
  const externalRuntime = { reader: { host: 'localhost', port }, ...options.props?.externalRuntime };
  return { ...options, props: { ...options.props, externalRuntime } };
}

/** The objects of the synthesized stack in the order in which they are applied. */
function stackObjects({ props, runtimePods = false }: StackOptions): readonly KubeObject[] {
  const app = new App();
  const place = runtimePods ? {} : { externalRuntime: {} };
  defaultStack(app, { kubernetesVersion: KUBERNETES_VERSION, ...place, ...props });
  return app.charts.flatMap((chart) => chart.toJson() as KubeObject[]);
}

export class Stack {
  readonly roles = new Roles();
  /** The role that was started with the stack, if it has one. */
  webhook: RoleProcess | undefined;
  /** URL of the controllers. */
  private databaseUrl: Promise<string> | undefined;

  constructor(
    readonly cluster: Cluster,
    readonly postgres: Postgres,
    private readonly options: StackOptions,
  ) {}

  /** Applies the synthesized stack in its order. */
  async apply(): Promise<void> {
    await this.cluster.apply(stackObjects(this.options));
    await this.startAdmission();
  }

  /** Resolves when the apiserver uses the admission of the stack, which is applied. */
  async startAdmission(): Promise<void> {
    if (this.options.webhookPort !== undefined) this.webhook = await this.startWebhook();
    await this.untilAdmissionHolds();
  }

  /** A namespace whose Jobs and Pods go through the queue, or not. */
  async namespace(name: string, enabled = true): Promise<void> {
    await this.cluster.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: enabled ? { [NAMESPACE_LABEL]: 'true' } : {} },
    });
    const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    await this.cluster.waitFor('its ServiceAccount', () => this.cluster.get(account));
  }

  /** A controller with exactly the rights of its ServiceAccount and its database role; ready when it stands for election. */
  async startController(config: ConfigInput = {}, how: RoleStart = {}): Promise<RoleProcess> {
    const kubeconfig = await this.cluster.kubeconfigForServiceAccount(
      CONTROLLER_SERVICE_ACCOUNT,
      STACK_NAMESPACE,
    );
    this.databaseUrl ??= runtimeUrl(this.postgres.url);
    return this.roles.startController(
      await this.databaseUrl,
      {
        kubernetes: { kubeconfig },
        database: { migrate: false },
        miniClusters: { reports: { port: 0, addresses: ['127.0.0.1'] } },
        ...this.options.config,
        ...config,
      },
      how,
    );
  }

  /** A reader with exactly the rights of its ServiceAccount; the apiserver passes requests on to it. */
  async startReader(config: ConfigInput = {}): Promise<RoleProcess> {
    const account = this.cluster.kubeconfigForServiceAccount(READER_SERVICE_ACCOUNT, STACK_NAMESPACE);
    this.databaseUrl ??= runtimeUrl(this.postgres.url);
    const settings: ConfigInput = {
      kubernetes: { kubeconfig: await account },
      ...this.options.config,
      ...config,
      reader: { host: '127.0.0.1', port: this.readerPort, drainSeconds: 0, ...config.reader },
    };
    const role = await this.roles.start('reader', settings, { DATABASE_URL: await this.databaseUrl });
    await this.cluster.waitFor('the read API', () => this.servesReadApi());
    return role;
  }

  /** @throws when the stack has no read API */
  get readerPort(): number {
    const { reader } = this.options.props?.externalRuntime ?? {};
    if (reader === undefined) throw new Error('the stack was started without readApi');
    return reader.port;
  }

  /** Whether the apiserver reaches the reader. */
  async servesReadApi(): Promise<boolean> {
    const { status } = await this.cluster.get<ApiService>(apiServices(READ_API_SERVICE));
    return status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'True') ?? false;
  }

  /** Again after the first one has ended. */
  async startWebhook(): Promise<RoleProcess> {
    const account = this.cluster.kubeconfigForServiceAccount(WEBHOOK_SERVICE_ACCOUNT, STACK_NAMESPACE);
    const port = this.options.webhookPort;
    return this.roles.start('webhook', {
      kubernetes: { kubeconfig: await account },
      ...this.options.config,
      webhook: { host: '127.0.0.1', ...(port !== undefined && { port }), drainSeconds: 0 },
    });
  }

  async stop(): Promise<void> {
    await this.roles.stop();
    await Promise.all([this.cluster.stop(), this.postgres.stop()]);
  }

  /** Policies are read by the apiserver some moments after they were written, each by itself. */
  private async untilAdmissionHolds(): Promise<void> {
    const namespace = 'fluxqueue-probe';
    await this.namespace(namespace);
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'probe' },
      spec: { template: { spec: PROBE } },
    };
    await this.cluster.waitFor('admission', async () => {
      const made = await this.cluster.request<Job>('POST', `${jobs(namespace)}?dryRun=All`, job);
      return made.spec.suspend === true && (await this.gatesPods(namespace));
    });
    // Policies that do not know the kind yet make the apiserver refuse it: they ask for new kinds every 5 s.
    if (this.admitsMiniClusters)
      await this.cluster.waitFor('admission of MiniClusters', async () => {
        const path = `${miniClusters(namespace)}?dryRun=All`;
        const { metadata } = await this.cluster.request('POST', path, MINICLUSTER);
        // What the runtime makes is not noted, and in some suites this client is a part of it.
        return this.isRuntime || metadata.annotations?.[USER_ANNOTATION] !== undefined;
      });
    await this.cluster.request('DELETE', `/api/v1/namespaces/${namespace}`);
  }

  /** Whether MiniClusters can be created, without a race between the tests and the apiserver. */
  get admitsMiniClusters(): boolean {
    return this.options.createsMiniClusters !== false && this.options.props?.miniClusters !== false;
  }

  private get isRuntime(): boolean {
    return this.options.props?.externalRuntime?.users?.includes('admin') ?? false;
  }

  /** Whether admission holds back a pod that is made in this namespace now. */
  async gatesPods(namespace: string): Promise<boolean> {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'probe' }, spec: PROBE };
    return isGated(await this.cluster.request<Pod>('POST', `${pods(namespace)}?dryRun=All`, pod));
  }
}
