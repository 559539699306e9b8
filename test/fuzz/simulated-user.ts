/** The random actions of users and administrators of a cluster. */
import { jobs as jobPath, nodes as nodePath, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Node, Pod } from '../../runtime/kubernetes/types';
import { isTerminal } from '../../runtime/workloads/adapter';
import type { Random } from './random';
import type { SimulatedApiserver } from './simulated-apiserver';
import { FAILS, RUNS } from './simulated-cluster';

export const NAMESPACE = 'science';
/** A namespace with unmanaged pods. */
const OTHER_NAMESPACE = 'elsewhere';
const CORES = 4;
/** Maximum number of unfinished workloads: more make runs slow, fewer find fewer bugs. */
const MAX_UNFINISHED = 30;

export interface SimulatedUserOptions {
  readonly apiserver: SimulatedApiserver;
  readonly random: Random;
  /** Unix seconds of the cluster. */
  readonly now: () => number;
  /** Whether nodes are added and removed. */
  readonly nodes: boolean;
}

export class SimulatedUser {
  readonly disturbances: number[] = [];
  readonly lostNodes = new Set<string>();
  readonly stopped = new Set<string>();
  private created = 0;
  private nodesCreated = 0;

  constructor(private readonly options: SimulatedUserOptions) {}

  setUp(): void {
    const { store } = this.options.apiserver;
    store.create('namespaces', { metadata: { name: NAMESPACE, labels: { 'fluxqueue/enabled': 'true' } } });
    store.create('namespaces', { metadata: { name: OTHER_NAMESPACE } });
    for (let i = 0; i < 4; i++) this.addNode();
  }

  /** Makes one random action. */
  act(): void {
    const { random, nodes } = this.options;
    const roll = random.between(1, nodes ? 100 : 84);
    if (roll <= 45) this.submitSome();
    else if (roll <= 53) this.deleteOne();
    else if (roll <= 61) this.toggleHold();
    else if (roll <= 69) this.edit();
    else if (roll <= 73) this.suspend();
    else if (roll <= 84) this.deleteFinished();
    else if (roll <= 87) this.loseNode();
    else if (roll <= 91) this.addNode();
    else if (roll <= 95) this.cordon();
    else this.createUnmanagedPod();
  }

  /** Adds missing nodes and releases all holds, so that all workloads can finish. */
  releaseEverything(): void {
    while (this.nodes().length < 4) this.addNode();
    for (const node of this.nodes()) if (node.spec.unschedulable === true) this.setCordon(node, false);
    for (const object of this.unfinished())
      if (object.metadata.labels?.['fluxqueue/hold'] === 'true') this.setHold(object, false);
  }

  private submitSome(): void {
    if (this.unfinished().length >= MAX_UNFINISHED) return;
    for (let n = this.options.random.between(1, 3); n > 0; n--) this.submit();
  }

  private submit(): void {
    const { apiserver, random } = this.options;
    const runs = random.between(1, 12);
    const annotations = {
      // Some workloads overrun their walltime.
      'fluxqueue/walltime': `${random.happens(0.1) ? Math.ceil(runs / 2) : runs + random.between(5, 60)}s`,
    };
    const labels = {
      ...(random.happens(0.15) && { 'fluxqueue/priority': String(random.between(-2, 5)) }),
      ...(random.happens(0.1) && { 'fluxqueue/hold': 'true' }),
      ...(random.happens(0.1) && {
        'fluxqueue/after': `w${Math.max(0, this.created - random.between(1, 3))}`,
      }),
    };
    const name = `w${this.created++}`;
    const metadata = { name, labels, annotations };
    const template = { [RUNS]: String(runs), ...(random.happens(0.05) && { [FAILS]: 'true' }) };
    if (random.happens(0.2))
      apiserver.create(podPath(NAMESPACE), {
        metadata: { ...metadata, annotations: { ...annotations, ...template } },
        spec: this.podSpec(1),
        status: { phase: 'Pending' },
      });
    else apiserver.create(jobPath(NAMESPACE), { metadata, ...this.jobSpec(template) });
  }

  private jobSpec(annotations: Readonly<Record<string, string>>): object {
    const { random } = this.options;
    // Few shapes, so that many workloads are equal.
    const [pods, cores] = random.oneOf([
      [1, 1],
      [1, 1],
      [1, 2],
      [2, 2],
      [3, CORES],
      [2, CORES],
      [random.between(1, 6), random.between(1, CORES)],
    ] as const)!;
    return {
      spec: {
        parallelism: pods,
        completions: random.happens(0.1) ? pods + random.between(1, 2) : pods,
        completionMode: random.happens(0.7) ? 'Indexed' : 'NonIndexed',
        backoffLimit: random.between(0, 6),
        template: { metadata: { annotations }, spec: this.podSpec(cores) },
      },
    };
  }

  private podSpec(cores: number): object {
    const requests = { cpu: String(cores) };
    return { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none', resources: { requests } }] };
  }

  private deleteOne(): void {
    const { apiserver, random } = this.options;
    const object = random.oneOf(this.unfinished());
    if (object === undefined) return;
    this.stopped.add(object.metadata.uid);
    const foreground = isJob(object) && random.happens(0.3);
    apiserver.delete(pathOf(object), undefined, foreground ? 'Foreground' : 'Background');
  }

  private toggleHold(): void {
    const object = this.options.random.oneOf(this.unfinished());
    if (object !== undefined) this.setHold(object, object.metadata.labels?.['fluxqueue/hold'] !== 'true');
  }

  private setHold(object: KubernetesObject, hold: boolean): void {
    const { metadata } = object;
    const labels = { ...metadata.labels, 'fluxqueue/hold': String(hold) };
    this.put({ ...object, metadata: { ...metadata, labels } });
  }

  private edit(): void {
    const { random } = this.options;
    const object = random.oneOf(this.unfinished());
    if (object === undefined) return;
    const { metadata } = object;
    if (isJob(object) && object.spec.suspend === true && random.happens(0.5)) {
      const job: Job = { ...object, spec: { ...object.spec, parallelism: random.between(0, 3) } };
      this.put(job);
    } else {
      const labels = { ...metadata.labels, 'fluxqueue/priority': String(random.between(-2, 5)) };
      this.put({ ...object, metadata: { ...metadata, labels } });
    }
  }

  /** Suspends a running Job, which requeues it. */
  private suspend(): void {
    const running = this.unfinished()
      .filter(isJob)
      .filter(({ spec }) => spec.suspend === false);
    const job = this.options.random.oneOf(running);
    if (job === undefined) return;
    this.stopped.add(job.metadata.uid);
    const suspended: Job = { ...job, spec: { ...job.spec, suspend: true } };
    this.put(suspended);
  }

  /** Deletes some finished workloads. */
  private deleteFinished(): void {
    const { apiserver, random } = this.options;
    const { store } = apiserver;
    for (const object of [...store.list<Job>('jobs'), ...this.plainPods()]) {
      const finished = isJob(object)
        ? (object.status?.conditions?.length ?? 0) > 0
        : isTerminal(object as Pod);
      if (finished && random.happens(0.5)) {
        this.stopped.add(object.metadata.uid);
        apiserver.delete(pathOf(object), undefined, 'Background');
      }
    }
  }

  private loseNode(): void {
    const { apiserver, random } = this.options;
    const node = random.oneOf(this.nodes());
    if (node === undefined || this.nodes().length <= 2) return;
    this.recordDisturbance();
    this.lostNodes.add(node.metadata.name);
    apiserver.delete(nodePath(node.metadata.name));
  }

  /** Adds a new node or a removed one. */
  private addNode(): void {
    const { apiserver, random } = this.options;
    if (this.nodes().length >= 6) return;
    const gone = [...this.lostNodes].filter((name) => apiserver.store.get('nodes', name) === undefined);
    const name = (random.happens(0.5) ? random.oneOf(gone) : undefined) ?? `node-${this.nodesCreated++}`;
    this.recordDisturbance();
    apiserver.create('/api/v1/nodes', {
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      spec: {},
      status: {
        allocatable: { cpu: String(CORES), memory: '16Gi', pods: '110' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  }

  private cordon(): void {
    const node = this.options.random.oneOf(this.nodes());
    if (node !== undefined) this.setCordon(node, node.spec.unschedulable !== true);
  }

  private setCordon(node: Node, unschedulable: boolean): void {
    this.recordDisturbance();
    const { unschedulable: _, ...spec } = node.spec;
    this.put({ ...node, spec: { ...spec, ...(unschedulable && { unschedulable }) } } as Node);
  }

  /** Creates a pod of another scheduler. */
  private createUnmanagedPod(): void {
    const { apiserver, random } = this.options;
    this.recordDisturbance();
    apiserver.create(podPath(OTHER_NAMESPACE), {
      metadata: { name: `other-${this.created++}`, annotations: { [RUNS]: String(random.between(2, 20)) } },
      spec: this.podSpec(1),
      status: { phase: 'Pending' },
    });
  }

  private recordDisturbance(): void {
    this.disturbances.push(this.options.now());
  }

  private put(object: KubernetesObject): void {
    this.options.apiserver.store.put(isJob(object) ? 'jobs' : resourceOf(object), object);
  }

  private nodes(): readonly Node[] {
    return this.options.apiserver.store.list<Node>('nodes');
  }

  /** Workloads that have not finished and are not being deleted. */
  unfinished(): readonly KubernetesObject[] {
    const jobs = this.options.apiserver.store
      .list<Job>('jobs')
      .filter(({ status }) => (status?.conditions?.length ?? 0) === 0);
    const pods = this.plainPods().filter((pod) => !isTerminal(pod));
    return [...jobs, ...pods].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  private plainPods(): readonly Pod[] {
    return this.options.apiserver.store
      .list<Pod>('pods')
      .filter(({ metadata }) => metadata.namespace === NAMESPACE && metadata.ownerReferences === undefined);
  }
}

function isJob(object: KubernetesObject): object is Job {
  return 'template' in ((object as { spec?: object }).spec ?? {});
}

function resourceOf(object: KubernetesObject): string {
  return object.metadata.namespace === undefined ? 'nodes' : 'pods';
}

function pathOf(object: KubernetesObject): string {
  const { namespace, name } = object.metadata;
  return isJob(object) ? jobPath(namespace, name) : podPath(namespace, name);
}
