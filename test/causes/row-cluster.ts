/** What a row sees of the cluster: its own namespace and nodes, what it does to them, and its assertions. */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import type { Fluxion } from '../../runtime/fluxion/types';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { nodes as nodePath, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import { isUnmanagedJob } from '../../runtime/scheduler/unmanaged-usage';
import type { KubeObject } from '../cluster/api';
import type { NodeShape } from '../cluster/nodes';
import { waitFor } from '../cluster/wait';
import { OWNER_LABEL, owned, placed } from '../stack/placed';
import type { Fixture } from '../stack/suite';
import type { Row } from './row';

/** The bound of issue 14: within it a workload runs, or its FluxJob says why it does not. */
const BOUND_MS = 60_000;
/** Rows run side by side, so each of them asks rarely. */
const EVERY_MS = 500;

export interface Placement {
  /** Nodes that no pod may use. @default [] */
  readonly not?: readonly string[];
  /** At most this number of pods on one node. @default - no limit */
  readonly perNode?: number;
}

export class RowCluster {
  /** The row's nodes, in the order of its shapes. */
  readonly nodes: string[] = [];

  private constructor(
    private readonly fixture: Fixture,
    private readonly fluxion: Pick<Fluxion, 'state'>,
    readonly namespace: string,
  ) {}

  /** A fresh namespace with a queue of its own. @param nodes names of the row's nodes */
  static async create(
    fixture: Fixture,
    fluxion: Pick<Fluxion, 'state'>,
    namespace: string,
    nodes: readonly string[],
    { queue = {}, labels = {} }: Pick<Row, 'queue' | 'labels'>,
  ): Promise<RowCluster> {
    const cluster = new RowCluster(fixture, fluxion, namespace);
    cluster.nodes.push(...nodes);
    await cluster.addNamespace(namespace, { [NAMESPACE_LABEL]: 'true', ...labels });
    await cluster.apply({
      apiVersion: 'flux-framework.org/v1alpha1',
      kind: 'FluxSetup',
      metadata: { name: 'queue' },
      spec: { policy: 'easy', requeue: { limit: 5, backoff: '1s' }, ...queue },
    });
    await waitFor('the queue to be served', async () => {
      const path = `/apis/flux-framework.org/v1alpha1/namespaces/${namespace}/fluxsetups/queue`;
      return (await cluster.get<{ status?: object }>(path)).status !== undefined;
    });
    return cluster;
  }

  async addNode(shape: NodeShape): Promise<string> {
    const [name] = await this.fixture.stack.cluster.addNodesOf([owned(shape, this.namespace)]);
    this.nodes.push(name!);
    return name!;
  }

  /** A namespace beside the row's own: with these labels it is not opted in. */
  async addNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const { cluster } = this.fixture.stack;
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    await waitFor('its ServiceAccount', () =>
      cluster.get(`/api/v1/namespaces/${name}/serviceaccounts/default`),
    );
  }

  /** Applies the objects in the row's namespace (or another one); their pods fit the row's nodes only. */
  async apply(...manifests: KubeObject[]): Promise<void> {
    const objects = manifests.map((manifest) =>
      placed(manifest, manifest.metadata.namespace ?? this.namespace, this.namespace),
    );
    await this.fixture.stack.cluster.apply(objects);
  }

  /** Whether the apiserver would store the object. */
  async accepts(manifest: KubeObject): Promise<boolean> {
    const { api } = this.fixture.stack.cluster;
    const object = placed(manifest, this.namespace);
    const { status } = await api.send('POST', `${await api.collection(object)}?dryRun=All`, object);
    return status < 300;
  }

  /** The object as the apiserver would store it. */
  async stored(manifest: KubeObject): Promise<KubeObject> {
    const { cluster } = this.fixture.stack;
    const object = placed(manifest, this.namespace);
    return cluster.request<KubeObject>('POST', `${await cluster.api.collection(object)}?dryRun=All`, object);
  }

  get<T>(path: string): Promise<T> {
    return this.fixture.stack.cluster.get<T>(path);
  }

  async has(apiVersion: string, resource: string, name: string): Promise<boolean> {
    const { api } = this.fixture.stack.cluster;
    return (await api.send('GET', this.path(apiVersion, resource, name))).status === 200;
  }

  async patch(path: string, body: object): Promise<void> {
    await this.fixture.stack.cluster.request('PATCH', path, body, 'application/merge-patch+json');
  }

  async delete(path: string): Promise<void> {
    await this.fixture.stack.cluster.request('DELETE', path);
  }

  /** Path of an object in the row's namespace: `batch/v1`, `jobs`, `train`. */
  path(apiVersion: string, resource: string, name: string): string {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    return `${root}/namespaces/${this.namespace}/${resource}/${name}`;
  }

  async cordon(node: string): Promise<void> {
    await this.patch(nodePath(node), { spec: { unschedulable: true } });
  }

  /** As `kubectl drain` does. */
  async drain(node: string): Promise<void> {
    await this.cordon(node);
    for (const { metadata } of await this.podsOn(node)) {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: metadata.name } };
      const path = podPath(metadata.namespace, metadata.name, 'eviction');
      await this.fixture.stack.cluster.request('POST', path, eviction);
    }
  }

  async taint(node: string, key: string, effect: 'NoSchedule' | 'NoExecute'): Promise<void> {
    await this.patch(nodePath(node), { spec: { taints: [{ key, effect }] } });
  }

  /** The kubelet of the node stops: the node is NotReady, and none of its pods ends. */
  async stopKubelet(node: string): Promise<void> {
    for (const { metadata } of await this.podsOn(node))
      await this.annotate(podPath(metadata.namespace, metadata.name), { 'fluxqueue.test/stuck': 'true' });
    await this.annotate(nodePath(node), { 'fluxqueue.test/not-ready': 'true' });
  }

  async removeNode(node: string): Promise<void> {
    await this.fixture.stack.cluster.removeNode(node);
  }

  /** A pod that bypasses queue and scheduler takes these requests on the node. */
  async occupy(node: string, requests: Readonly<Record<string, string>>): Promise<void> {
    const namespace = `${this.namespace}-others`;
    await this.addNamespace(namespace);
    await this.fixture.stack.cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { generateName: 'other-', namespace },
      spec: {
        nodeName: node,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'main', image: 'none', resources: { requests } }],
      },
    });
  }

  /** The queue has counted a pod on a node that was free: its watch of pods may be behind that of Jobs. */
  async counted(node: string): Promise<void> {
    await this.until(`${node} to be used`, BOUND_MS, async () => {
      const { nodes } = await this.fluxion.state();
      const found = nodes.find(({ name }) => name === node);
      return found !== undefined && found.free.core !== found.total.core;
    });
  }

  /** The pods of a workload: those with the label `app`. */
  async pods(app: string): Promise<readonly Pod[]> {
    const query = `labelSelector=${encodeURIComponent(`app=${app}`)}`;
    return (await this.get<{ items: Pod[] }>(`${podPath(this.namespace)}?${query}`)).items;
  }

  /** Waits until so many tasks of a Job have succeeded, and none made it fail. */
  async succeeds(name: string, tasks: number): Promise<void> {
    await this.until('all tasks', 170_000, async () => {
      const { status } = await this.get<Job>(this.path('batch/v1', 'jobs', name));
      expect(status?.conditions?.find(({ type }) => type === 'Failed')).toBeUndefined();
      return status?.succeeded === tasks;
    });
  }

  /** Asserts that the grant of a workload never ended before the workload. */
  async keptItsGrant(app: string): Promise<void> {
    const [fluxJob] = await this.fluxJobs(app);
    expect(fluxJob?.status?.requeues).toBe(0);
  }

  /** The FluxJobs of a workload and of its pods. */
  async fluxJobs(app: string): Promise<readonly FluxJobObject[]> {
    const { items } = await this.get<{ items: FluxJobObject[] }>(fluxJobs(this.namespace));
    return items.filter(({ metadata }) => metadata.name.startsWith(`${app}-`));
  }

  /**
   * Asserts that `count` pods of the workload run at the same time on ready nodes of the row, and that each of its
   * FluxJobs with such a pod says Running.
   */
  async runs(
    app: string,
    count: number,
    placement: Placement = {},
    timeoutMs = BOUND_MS,
  ): Promise<readonly Pod[]> {
    return this.until(`${count} pods of ${app} to run`, timeoutMs, async () => {
      const running = (await this.pods(app)).filter(isRunning);
      const acceptable = await this.acceptableNodes(placement.not);
      const misplaced = running.filter(({ spec }) => !acceptable.has(spec.nodeName!));
      const perNode = Map.groupBy(running, ({ spec }) => spec.nodeName!);
      const crowded = [...perNode.values()].some((group) => group.length > (placement.perNode ?? count));
      if (running.length !== count || misplaced.length > 0 || crowded)
        throw new Error(`runs ${describePods(running)}; ${await this.explain(app)}`);
      const wrong = (await this.fluxJobsOf(app, running)).filter(({ status }) => status?.phase !== 'Running');
      if (wrong.length > 0) throw new Error(`all pods run, but ${describeFluxJobs(wrong)}`);
      return running;
    });
  }

  /** The pods of a workload outside the queue, once so many run. */
  async runsOutside(app: string, count: number): Promise<readonly Pod[]> {
    return this.until(`${count} pods of ${app} to run`, BOUND_MS, async () => {
      const running = (await this.pods(app)).filter(isRunning);
      return running.length === count ? running : undefined;
    });
  }

  /**
   * Asserts that a FluxJob of the workload, which does not say Running, has a condition with this sentence. The fields in
   * PartiallyModeled explain nothing yet.
   */
  async says(app: string, sentence: RegExp): Promise<FluxJobObject> {
    return this.until(`a FluxJob of ${app} to say ${sentence}`, BOUND_MS, async () => {
      const all = await this.fluxJobs(app);
      const found = all.find(
        ({ status }) =>
          status?.phase !== 'Running' &&
          status?.conditions?.some(
            ({ type, message }) => type !== 'PartiallyModeled' && sentence.test(message),
          ),
      );
      if (found === undefined) throw new Error(await this.explain(app));
      return found;
    });
  }

  /** Asserts that Fluxion holds nothing on the row's nodes but what pods outside the queue use. */
  async nothingHeld(): Promise<void> {
    await this.until('all units to be free', BOUND_MS, async () => {
      const { jobs } = await this.fluxion.state();
      const held = jobs.filter(
        ({ jobid, nodes }) => !isUnmanagedJob(jobid) && nodes.some(({ name }) => this.nodes.includes(name)),
      );
      if (held.length === 0) return true;
      const places = held.map(({ jobid, nodes }) => `job ${jobid} holds ${nodes.map(({ name }) => name)}`);
      throw new Error(places.join('; '));
    });
  }

  /** Asserts that the workload's FluxJob says why, and that it holds nothing meanwhile. */
  async saysAndFrees(app: string, sentence: RegExp): Promise<void> {
    await this.says(app, sentence);
    await this.nothingHeld();
  }

  until<T>(what: string, timeoutMs: number, probe: () => Promise<T | undefined | false>): Promise<T> {
    return waitFor(what, probe, { timeoutMs, everyMs: EVERY_MS });
  }

  /** Deletes the row's namespaces; their pods end in the background. */
  async close(): Promise<void> {
    for (const name of [this.namespace, `${this.namespace}-others`])
      await this.fixture.stack.cluster.api.send('DELETE', `/api/v1/namespaces/${name}`);
  }

  async podsOn(node: string): Promise<readonly Pod[]> {
    const query = `fieldSelector=${encodeURIComponent(`spec.nodeName=${node}`)}`;
    return (await this.get<{ items: Pod[] }>(`${podPath()}?${query}`)).items;
  }

  private annotate(path: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    return this.patch(path, { metadata: { annotations } });
  }

  private async acceptableNodes(not: readonly string[] = []): Promise<ReadonlySet<string>> {
    const query = `labelSelector=${encodeURIComponent(`${OWNER_LABEL}=${this.namespace}`)}`;
    const { items } = await this.get<{ items: Node[] }>(`${nodePath()}?${query}`);
    return new Set(items.map(({ metadata }) => metadata.name).filter((name) => !not.includes(name)));
  }

  /** Of the pods themselves, or of the workload that owns them. */
  private async fluxJobsOf(app: string, pods: readonly Pod[]): Promise<readonly FluxJobObject[]> {
    const owners = pods.flatMap(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []);
    const uids = new Set([...owners, ...pods.map(({ metadata }) => metadata.uid)]);
    const found = (await this.fluxJobs(app)).filter(({ spec }) => uids.has(spec.workload.uid));
    if (found.length === 0) throw new Error(`no FluxJob of ${app}`);
    return found;
  }

  private async explain(app: string): Promise<string> {
    return describeFluxJobs(await this.fluxJobs(app));
  }
}

function isRunning({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Running';
}

function describePods(pods: readonly Pod[]): string {
  return pods.map(({ metadata, spec }) => `${metadata.name} on ${spec.nodeName}`).join(', ') || 'nothing';
}

function describeFluxJobs(fluxJobs: readonly FluxJobObject[]): string {
  const each = fluxJobs.map(({ metadata, status }) => {
    const { reason, message } = status?.conditions?.find(({ type }) => type === 'Scheduled') ?? {};
    return `${metadata.name} is ${status?.phase} (${reason}: ${message})`;
  });
  return each.join(', ') || 'no FluxJob';
}
