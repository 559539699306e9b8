/** A real Kubernetes control plane on loopback: etcd, apiserver, controllers, scheduler and kwok's nodes. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FluxqError } from '../../runtime/errors';
import {
  ApiClient,
  type ApplyOptions,
  type ContentType,
  type KubeObject,
  type Manifests,
  type Method,
} from './api';
import { type Assets, findAssets, type Program } from './assets';
import {
  apiserverArgs,
  auditLogFile,
  type ControllerTuning,
  controllerManagerArgs,
  etcdArgs,
  kwokArgs,
  LOOPBACK,
  type Ports,
  schedulerArgs,
  writeCaFile,
} from './components';
import {
  type AuditedWrite,
  parseRequestCounters,
  type RequestCounters,
  readAuditedWrites,
  writesByUser,
} from './counters';
import {
  type ClusterUser,
  type Credentials,
  type StaticUser,
  writeCredentials,
  writeKubeconfig,
} from './credentials';
import { createNodes, type NodeShape } from './nodes';
import { freePorts } from './ports';
import { type OwnedProcess, ProcessSet } from './processes';
import { type WaitOptions, waitFor } from './wait';

export type { KubeObject } from './api';
export type { NodeShape } from './nodes';

export interface ClusterOptions {
  /** Nodes played by kwok: node-0, node-1, … @default 0 */
  readonly nodes?: number;
  /** What each of them has. @default 16 cores, 64Gi, no GPU, 110 pods */
  readonly nodeShape?: NodeShape;
  /** Whether kube-scheduler runs. @default true */
  readonly scheduler?: boolean;
  /** Fields of KubeSchedulerConfiguration besides its client connection. @default - none */
  readonly schedulerConfiguration?: Readonly<Record<string, unknown>>;
  /** Limits of the controllers and the scheduler. @default - high enough not to be the floor */
  readonly tuning?: ControllerTuning;
  /** Record every write with its user, for {@link Cluster.writesByUser}. @default false */
  readonly auditLog?: boolean;
  /** Of the apiserver, the controller manager and the scheduler. @default - theirs */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** The programs' -v. @default 1 */
  readonly verbosity?: number;
  /** More arguments of kube-apiserver. @default - none */
  readonly apiserverArgs?: readonly string[];
  /** Where the programs run and listen. @default - the network of this process, on loopback */
  readonly network?: ClusterNetwork;
  /** Users besides the cluster's own. @default - none */
  readonly users?: readonly StaticUser[];
  /** Told what is going on if the programs must be built first. @default - silent */
  readonly progress?: (line: string) => void;
}

/** A network of the cluster's own, whose nodes and pods call the apiserver. */
export interface ClusterNetwork {
  /** Where the apiserver listens: reached from inside and from this process. */
  readonly address: string;
  /** The command that runs another one inside, e.g. nsenter with its options. */
  readonly enter: readonly string[];
}

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Two clusters that start together can draw the same free port. */
const START_TRIES = 4;

/** Patience, not expectation: other tests may have the processors. A program that ends is seen at once. */
const START_WAIT = { timeoutMs: 90_000 };

/**
 * Starts a cluster and waits until it can run Jobs on its nodes.
 *
 * @throws FLUXQ_TEST_COMPONENT with the log's end when a program ends early; what findAssets throws.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const assets = await findAssets(options.progress === undefined ? {} : { progress: options.progress });
  for (let tries = 1; ; tries++) {
    const cluster = await Cluster.prepare(assets, options);
    try {
      await cluster.boot();
      return cluster;
    } catch (error) {
      await cluster.stop();
      if (tries === START_TRIES || !String(error).includes('address already in use')) throw error;
    }
  }
}

export class Cluster {
  /** URL of the apiserver, https on loopback. */
  readonly server: string;
  /** Everything the cluster has on disk; logs/ holds one log per program. */
  readonly directory: string;
  private readonly components = new Map<Program, OwnedProcess>();
  private readonly stopping = new AbortController();
  private client: ApiClient | undefined;
  private nodesMade = 0;

  private constructor(
    private readonly assets: Assets,
    private readonly options: ClusterOptions,
    private readonly processes: ProcessSet,
    private readonly ports: Ports,
    private readonly credentials: Credentials,
  ) {
    this.server = `https://${options.network?.address ?? LOOPBACK}:${ports.apiserver}`;
    this.directory = processes.directory;
  }

  /** @internal use {@link startCluster} */
  static async prepare(assets: Assets, options: ClusterOptions): Promise<Cluster> {
    const [apiserver = 0, etcd = 0, peer = 0] = await freePorts(3);
    const processes = ProcessSet.create('fluxqueue-cluster');
    const credentials = writeCredentials(processes.directory, options.users);
    return new Cluster(assets, options, processes, { apiserver, etcd, peer }, credentials);
  }

  /** @internal use {@link startCluster} */
  async boot(): Promise<void> {
    const { nodes = 0, nodeShape = {}, scheduler = true } = this.options;
    await this.run('etcd', etcdArgs(this.directory, this.ports));
    await this.startApiserver();
    await this.startControllerManager();
    if (scheduler) await this.startScheduler();
    await this.run('kwok', kwokArgs(this.kubeconfigFor('kwok')));
    if (nodes > 0) await this.whileRunning(this.addNodes(nodes, nodeShape));
    // Without it no pod is admitted.
    const path = '/api/v1/namespaces/default/serviceaccounts/default';
    await this.whileRunning(this.waitFor('the default ServiceAccount', () => this.api.get(path), START_WAIT));
  }

  /** PEM file of the authority that signed the apiserver's certificate. */
  get caFile(): string {
    return join(this.directory, 'ca.crt');
  }

  /** Path of the admin's kubeconfig. */
  get kubeconfig(): string {
    return this.kubeconfigFor('admin');
  }

  /** JSON client as admin. */
  get api(): ApiClient {
    this.client ??= this.clientFor(this.credentials.tokens.admin);
    return this.client;
  }

  /** Ids of every process of this cluster, its watchdog among them. */
  get pids(): number[] {
    return this.processes.pids;
  }

  /** The bearer token of a static user. */
  token(user: ClusterUser): string {
    return this.credentials.tokens[user];
  }

  /** JSON client with any bearer token. */
  clientFor(token: string): ApiClient {
    return new ApiClient(this.server, token, readFileSync(this.caFile, 'utf8'));
  }

  /** Writes a kubeconfig for a static user and returns its path. */
  kubeconfigFor(user: ClusterUser): string {
    return this.writeKubeconfig(user, this.credentials.tokens[user]);
  }

  /** Writes a kubeconfig that has exactly a ServiceAccount's rights and returns its path. */
  async kubeconfigForServiceAccount(name: string, namespace: string): Promise<string> {
    return this.writeKubeconfig(`${namespace}-${name}`, await this.tokenFor(name, namespace));
  }

  /** Writes a kubeconfig for one of the option `users` and returns its path. */
  kubeconfigForUser({ name, token }: StaticUser): string {
    return this.writeKubeconfig(name.replaceAll(':', '-'), token);
  }

  /** A token of an existing ServiceAccount, valid for an hour (TokenRequest). */
  async tokenFor(serviceAccount: string, namespace: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    };
    const answer = await this.api.request<{ status: { token: string } }>('POST', path, request);
    return answer.status.token;
  }

  /** The kubectl that fits this cluster. */
  get kubectlPath(): string {
    return this.assets.kubectl;
  }

  /** Runs kubectl; a failure is in `code` and `stderr`, never thrown. */
  async kubectl(
    args: readonly string[],
    { stdin, user = 'admin' }: { stdin?: string; user?: ClusterUser } = {},
  ): Promise<CommandResult> {
    const cache = join(this.directory, 'kubectl-cache');
    const global = [`--kubeconfig=${this.kubeconfigFor(user)}`, `--cache-dir=${cache}`];
    const child = spawn(this.assets.kubectl, [...global, ...args]);
    const chunks = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (chunks.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (chunks.stderr += text));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ ...chunks, code: code ?? -1 }));
      // kubectl may end before it has read everything; its exit code tells.
      child.stdin.on('error', (error: NodeJS.ErrnoException) => error.code === 'EPIPE' || reject(error));
      child.stdin.end(stdin);
    });
  }

  /** Server-side apply as admin; returns the objects as stored. */
  apply(manifests: Manifests, options?: ApplyOptions): Promise<KubeObject[]> {
    return this.api.apply(manifests, options);
  }

  /** Create as admin; returns the objects as stored. */
  create(manifests: Manifests): Promise<KubeObject[]> {
    return this.api.create(manifests);
  }

  get<T = KubeObject>(path: string): Promise<T> {
    return this.api.get<T>(path);
  }

  request<T = KubeObject>(method: Method, path: string, body?: unknown, type?: ContentType): Promise<T> {
    return this.api.request<T>(method, path, body, type);
  }

  /** Waits until the probe answers something; see {@link waitFor}. */
  waitFor<T>(
    description: string,
    probe: () => Promise<T | undefined | false>,
    options?: WaitOptions,
  ): Promise<T> {
    return waitFor(description, probe, { signal: this.stopping.signal, ...options });
  }

  /** Adds nodes and returns their names once pods can be scheduled on them. */
  async addNodes(count: number, shape: NodeShape = this.options.nodeShape ?? {}): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => `node-${this.nodesMade + index}`);
    this.nodesMade += count;
    await createNodes(this.api, names, shape, this.stopping.signal);
    return names;
  }

  /** Deletes the Node object; the controller manager deletes the pods that were bound to it. */
  async removeNode(name: string): Promise<void> {
    await this.api.request('DELETE', `/api/v1/nodes/${name}`);
  }

  /** Requests of all clients since the apiserver started. */
  async counters(): Promise<RequestCounters> {
    const { text } = await this.api.send('GET', '/metrics');
    return parseRequestCounters(text);
  }

  /**
   * Every write so far with its user; needs the option auditLog.
   *
   * @throws FLUXQ_TEST_NO_AUDIT without that option.
   */
  auditedWrites(): AuditedWrite[] {
    if (!this.options.auditLog) {
      throw new FluxqError('FLUXQ_TEST_NO_AUDIT', 'this cluster records no writes', {
        field: 'auditLog',
        remedy: 'start it with auditLog: true',
      });
    }
    return readAuditedWrites(auditLogFile(this.directory));
  }

  /** How many writes each user made so far, per `verb resource[/subresource]`. */
  writesByUser(): Map<string, Map<string, number>> {
    return writesByUser(this.auditedWrites());
  }

  /** A program of this cluster, for its process id, its log and signals. */
  component(program: Program): OwnedProcess {
    const component = this.components.get(program);
    if (component === undefined) {
      throw new FluxqError('FLUXQ_TEST_COMPONENT', 'the program does not run in this cluster', {
        value: program,
      });
    }
    return component;
  }

  /** Kills the apiserver; etcd keeps the data. */
  async stopApiserver(): Promise<void> {
    await this.component('kube-apiserver').kill();
  }

  /** Starts the apiserver, again on the same port with the same certificate, and waits for /readyz. */
  async startApiserver(): Promise<void> {
    const {
      auditLog = false,
      featureGates = {},
      verbosity = 1,
      apiserverArgs: extraArgs = [],
    } = this.options;
    const { tokenFile, serviceAccountKeyFile } = this.credentials;
    const files = { tokenFile, serviceAccountKeyFile };
    const address = this.options.network?.address ?? LOOPBACK;
    const settings = {
      address,
      ports: this.ports,
      ...files,
      audit: auditLog,
      featureGates,
      verbosity,
      extraArgs,
    };
    await this.run('kube-apiserver', apiserverArgs(this.directory, settings));
    const ready = this.waitFor(
      'the apiserver',
      async () => {
        if (this.client === undefined) writeCaFile(this.directory);
        return (await this.api.send('GET', '/readyz')).status === 200;
      },
      START_WAIT,
    );
    await this.whileRunning(ready);
  }

  /** Kills the apiserver and starts it again. */
  async restartApiserver(): Promise<void> {
    await this.stopApiserver();
    await this.startApiserver();
  }

  /** Ends every process and removes the directory. Safe to call twice. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.client?.close();
    await this.processes.stop();
  }

  private async startControllerManager(): Promise<void> {
    const { tuning = {}, featureGates = {}, verbosity = 1 } = this.options;
    const files = {
      kubeconfig: this.kubeconfigFor('kcm'),
      caFile: this.caFile,
      serviceAccountKeyFile: this.credentials.serviceAccountKeyFile,
    };
    await this.run(
      'kube-controller-manager',
      controllerManagerArgs(files, { tuning, featureGates, verbosity }),
    );
  }

  private async startScheduler(): Promise<void> {
    const {
      tuning = {},
      featureGates = {},
      verbosity = 1,
      schedulerConfiguration: configuration = {},
    } = this.options;
    const settings = { tuning, configuration, featureGates, verbosity };
    await this.run(
      'kube-scheduler',
      schedulerArgs(this.directory, this.kubeconfigFor('scheduler'), settings),
    );
  }

  private async run(program: Program, args: readonly string[]): Promise<void> {
    const command = [...(this.options.network?.enter ?? []), this.assets[program], ...args];
    this.components.set(program, await this.processes.start(program, command[0]!, command.slice(1)));
  }

  /** The same, but fails at once, with the end of the log, when a program ends. */
  private async whileRunning<T>(work: Promise<T>): Promise<T> {
    const needed = [...this.components.values()].filter(({ killed }) => !killed);
    const ended = needed.map(async (component): Promise<never> => {
      const how = await component.exited;
      throw new FluxqError('FLUXQ_TEST_COMPONENT', `ended with ${how}:\n${component.logTail()}\n`, {
        field: component.name,
        remedy: 'read why in its last lines above',
      });
    });
    return Promise.race([work, ...ended]);
  }

  private writeKubeconfig(name: string, token: string): string {
    return writeKubeconfig(this.directory, name, { server: this.server, caFile: this.caFile, token });
  }
}
