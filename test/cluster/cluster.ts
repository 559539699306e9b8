/** A real Kubernetes control plane on loopback: etcd, apiserver, controllers, scheduler, and nodes simulated by kwok. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ApiClient,
  type ApplyOptions,
  type ContentType,
  type KubeObject,
  type Manifests,
  type Method,
} from './api';
import { type Assets, findAssets, type Program } from './assets';
import type { ClusterOptions } from './cluster-options';
import { ComponentSet } from './component-set';
import {
  apiserverArgs,
  auditLogFile,
  controllerManagerArgs,
  etcdArgs,
  etcdDirectory,
  kwokArgs,
  LOOPBACK,
  type Ports,
  schedulerArgs,
  writeCaFile,
} from './components';
import { type AuditedWrite, parseRequestCounters, readAuditedWrites, writesByUser } from './counters';
import {
  type ClusterUser,
  type Credentials,
  type StaticUser,
  writeCredentials,
  writeKubeconfig,
} from './credentials';
import { type CommandResult, runKubectl } from './kubectl';
import { createNodes, type NodeShape } from './nodes';
import { applyDefinitions, applyOthers } from './objects';
import { freePorts } from './ports';
import { type OwnedProcess, ProcessSet } from './processes';
import { type WaitOptions, waitFor } from './wait';

export type { KubeObject } from './api';
export type { ClusterNetwork, ClusterOptions } from './cluster-options';
export type { NodeShape } from './nodes';

/** Two clusters that start at the same time may choose the same port. */
const START_TRIES = 4;

/**
 * Starts a cluster and waits until it can run Jobs on its nodes.
 *
 * @throws FLUXQ_TEST_COMPONENT with the end of the log when a program exits; the errors of findAssets.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const assets = await findAssets(options);
  for (let tries = 1; ; tries++) {
    const cluster = await Cluster.prepare(assets, options);
    try {
      await cluster.boot();
      return cluster;
    } catch (error) {
      await cluster.stop();
      options.signal?.throwIfAborted();
      if (tries === START_TRIES || !String(error).includes('address already in use')) throw error;
    }
  }
}

/** What a process needs to use a cluster that another one has started; plain data. */
export interface ClusterAddress {
  readonly assets: Assets;
  readonly directory: string;
  readonly ports: Ports;
  readonly credentials: Credentials;
}

/** The files and processes of a cluster. */
type ClusterProcesses = Pick<ProcessSet, 'directory' | 'pids' | 'stop' | 'start'>;

export class Cluster {
  /** URL of the apiserver, https on loopback. */
  readonly server: string;
  /** The files of the cluster; logs/ has one log per program. */
  readonly directory: string;
  private readonly components: ComponentSet;
  private readonly stopping = new AbortController();
  private readonly ended: AbortSignal;
  private client: ApiClient | undefined;
  private readonly id = randomBytes(4).toString('hex');
  private nodesMade = 0;

  private constructor(
    private readonly assets: Assets,
    private readonly options: ClusterOptions,
    private readonly processes: ClusterProcesses,
    private readonly ports: Ports,
    private readonly credentials: Credentials,
  ) {
    this.server = `https://${options.network?.address ?? LOOPBACK}:${ports.apiserver}`;
    this.directory = processes.directory;
    this.ended = AbortSignal.any([this.stopping.signal, ...(options.signal ? [options.signal] : [])]);
    this.components = new ComponentSet(processes, assets, options.network?.enter);
  }

  /** @internal use {@link startCluster} */
  static async prepare(assets: Assets, options: ClusterOptions): Promise<Cluster> {
    const [apiserver = 0, etcd = 0, peer = 0] = await freePorts(3);
    const processes = ProcessSet.create('fluxqueue-cluster');
    const credentials = await writeCredentials(processes.directory, options.users);
    return new Cluster(assets, options, processes, { apiserver, etcd, peer }, credentials);
  }

  /** A cluster that another fixture has started. Its programs can be neither stopped nor started; `stop` calls `detach`. */
  static attach(
    { assets, directory, ports, credentials }: ClusterAddress,
    options: Pick<ClusterOptions, 'nodeShape'>,
    detach: () => Promise<void>,
  ): Cluster {
    const start = () => Promise.reject(new Error('a shared cluster starts no programs (test/README.md)'));
    return new Cluster(assets, options, { directory, pids: [], stop: detach, start }, ports, credentials);
  }

  /** For {@link Cluster.attach}. */
  get address(): ClusterAddress {
    const { assets, directory, ports, credentials } = this;
    return { assets, directory, ports, credentials };
  }

  /** @internal use {@link startCluster} */
  async boot(): Promise<void> {
    const { nodes = 0, nodeShape = {}, objects = [] } = this.options;
    await this.startPrograms();
    const path = '/api/v1/namespaces/default/serviceaccounts/default';
    await this.components.whileRunning(
      Promise.all([
        nodes > 0 ? this.addNodes(nodes, nodeShape) : undefined,
        applyOthers(this.api, objects),
        // Admission refuses pods without it.
        this.waitFor('the default ServiceAccount', () => this.api.get(path)),
      ]),
    );
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

  /** Ids of all processes of this cluster, including its watchdog. */
  get pids(): number[] {
    return this.processes.pids;
  }

  /** Bearer token of a static user. */
  token(user: ClusterUser): string {
    return this.credentials.tokens[user];
  }

  /** JSON client with a bearer token. */
  clientFor(token: string): ApiClient {
    return new ApiClient(this.server, token, readFileSync(this.caFile, 'utf8'));
  }

  /** Writes a kubeconfig for a static user and returns its path. */
  kubeconfigFor(user: ClusterUser): string {
    return this.writeKubeconfig(user, this.credentials.tokens[user]);
  }

  /** Writes a kubeconfig with the permissions of a ServiceAccount and returns its path. */
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

  /** Path of the kubectl of the same version. */
  get kubectlPath(): string {
    return this.assets.kubectl;
  }

  /** Runs kubectl; `code` and `stderr` report a failure. */
  async kubectl(
    args: readonly string[],
    { stdin, user = 'admin' }: { stdin?: string; user?: ClusterUser } = {},
  ): Promise<CommandResult> {
    // A suite with the same cluster may have had other kinds, which kubectl remembers for hours.
    const cache = join(this.directory, `kubectl-cache-${this.id}`);
    const global = [`--kubeconfig=${this.kubeconfigFor(user)}`, `--cache-dir=${cache}`];
    return runKubectl(this.assets.kubectl, [...global, ...args], stdin);
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

  /** Waits until the probe returns a result; see {@link waitFor}. */
  waitFor<T>(
    description: string,
    probe: () => Promise<T | undefined | false>,
    options?: WaitOptions,
  ): Promise<T> {
    return waitFor(description, probe, { signal: this.ended, ...options });
  }

  /** Adds nodes and returns their names as soon as pods can be scheduled on them. */
  addNodes(count: number, shape: NodeShape = this.options.nodeShape ?? {}): Promise<string[]> {
    return this.addNodesOf(Array(count).fill(shape));
  }

  /** Adds a node of each shape, as addNodes does. */
  async addNodesOf(shapes: readonly NodeShape[]): Promise<string[]> {
    const nodes = shapes.map((shape) => ({ name: `node-${this.nodesMade++}`, shape }));
    await createNodes(this.api, nodes, this.ended);
    return nodes.map(({ name }) => name);
  }

  /** Deletes the Node object; the controller manager deletes the pods that were bound to it. */
  async removeNode(name: string): Promise<void> {
    await this.api.request('DELETE', `/api/v1/nodes/${name}`);
  }

  /** Counts the requests of all clients since the start of the apiserver. */
  async counters() {
    const { text } = await this.api.send('GET', '/metrics');
    return parseRequestCounters(text);
  }

  /**
   * All writes so far with their users; requires the option auditLog.
   *
   * @throws FLUXQ_TEST_NO_AUDIT without that option.
   */
  auditedWrites(): AuditedWrite[] {
    return readAuditedWrites(this.options.auditLog ? auditLogFile(this.directory) : undefined);
  }

  /** Number of writes so far by user and by `verb resource[/subresource]`. */
  writesByUser(): Map<string, Map<string, number>> {
    return writesByUser(this.auditedWrites());
  }

  /** The process of a program of this cluster. */
  component(program: Program): OwnedProcess {
    return this.components.get(program);
  }

  /** Kills the apiserver. The data stays in etcd. */
  async stopApiserver(): Promise<void> {
    await this.component('kube-apiserver').kill();
  }

  /** Starts the apiserver on the port and with the certificate of the cluster, and waits for /readyz. */
  async startApiserver(): Promise<void> {
    const address = this.options.network?.address ?? LOOPBACK;
    const { ports, credentials, options } = this;
    const args = apiserverArgs(this.directory, { address, ports, ...credentials }, options);
    await this.components.start('kube-apiserver', args);
    const ready = this.waitFor('the apiserver', async () => {
      if (this.client === undefined) writeCaFile(this.directory);
      return (await this.api.send('GET', '/readyz')).status === 200;
    });
    await this.components.whileRunning(ready);
  }

  /** Kills the apiserver and starts it again. */
  async restartApiserver(): Promise<void> {
    await this.stopApiserver();
    await this.startApiserver();
  }

  /** Stops all programs, calls `work` with the folder in which etcd keeps its data, and starts them again. */
  async whileStopped(work: (data: string) => void): Promise<void> {
    for (const program of this.components.names.toReversed()) await this.component(program).kill();
    work(etcdDirectory(this.directory));
    await this.startPrograms();
  }

  private async startPrograms(): Promise<void> {
    const { options, credentials, caFile } = this;
    const { scheduler = true, objects = [] } = options;
    await this.components.start('etcd', etcdArgs(this.directory, this.ports));
    await this.startApiserver();
    await this.components.whileRunning(applyDefinitions(this.api, objects));
    const files = { ...credentials, kubeconfig: this.kubeconfigFor('kcm'), caFile };
    await this.components.start('kube-controller-manager', controllerManagerArgs(files, options));
    if (scheduler) await this.startScheduler();
    await this.components.start('kwok', kwokArgs(this.kubeconfigFor('kwok')));
  }

  /** Stops all processes and removes the directory. May be called twice. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.client?.close();
    await this.processes.stop();
  }

  private async startScheduler(): Promise<void> {
    const args = schedulerArgs(this.directory, this.kubeconfigFor('scheduler'), this.options);
    await this.components.start('kube-scheduler', args);
  }

  private writeKubeconfig(name: string, token: string): string {
    return writeKubeconfig(this.directory, name, { server: this.server, caFile: this.caFile, token });
  }
}
