/** A simulated cluster with one controller, for tests that control every step. */
import { Registry } from 'prom-client';
import { parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import { jobs, nodes, pods } from '../../runtime/kubernetes/paths';
import type { Job, Node } from '../../runtime/kubernetes/types';
import { Term } from '../../runtime/leader/term';
import { createLogger, type Logger } from '../../runtime/observability/log';
import { controllerMetrics } from '../../runtime/observability/metrics';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { ObjectStore } from './object-store';
import { QueueModel } from './queue-model';
import { Random } from './random';
import { SimulatedApiserver } from './simulated-apiserver';
import { SimulatedClock } from './simulated-clock';
import { FAILS, RUNS, SimulatedCluster } from './simulated-cluster';

const EPOCH = 1_800_000_000;
const NAMESPACE = 'science';

interface GivenJob {
  readonly pods?: number;
  readonly cores?: number;
  /** Seconds. */
  readonly runs?: number;
  /** Whether each of its pods fails then; it tries none again. @default false */
  readonly fails?: boolean;
  /** Of its pods. */
  readonly labels?: Readonly<Record<string, string>>;
}

export class SimulatedController {
  readonly clock = new SimulatedClock();
  readonly queue: QueueModel;
  readonly apiserver: SimulatedApiserver;
  /** The Fluxion service, which survives restarts of the controller. */
  readonly fluxion: Fluxion = embeddedFluxion();
  private readonly cluster: SimulatedCluster;
  private readonly metrics = controllerMetrics(new Registry());
  private term: Term | undefined;
  private fence = 0;
  /** Seconds by which the clock of the controller is wrong. */
  drift = 0;

  /** @param kinds workload kinds whose objects the controller watches; nothing in this cluster makes their pods */
  constructor(
    private readonly logger: Logger = createLogger('simulation', 'silent'),
    private readonly kinds: readonly string[] = [],
  ) {
    const now = () => this.now();
    const random = new Random(1);
    this.apiserver = new SimulatedApiserver(new ObjectStore(now), this.clock, random, now);
    this.cluster = new SimulatedCluster(this.apiserver, this.clock, random, now);
    this.queue = new QueueModel(now);
    const labels = { 'fluxqueue/enabled': 'true' };
    this.apiserver.store.create('namespaces', { metadata: { name: NAMESPACE, labels } });
    for (const name of ['node-0', 'node-1']) this.addNode(name);
    this.cluster.start();
  }

  /** Unix seconds of the cluster. */
  now(): number {
    return EPOCH + this.clock.now() / 1000;
  }

  addNode(name: string): void {
    this.apiserver.create(nodes(), {
      metadata: { name },
      spec: {},
      status: {
        allocatable: { cpu: '4', memory: '16Gi' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  }

  changeNode(name: string, change: (node: Node) => Node): void {
    this.apiserver.store.put('nodes', change(this.apiserver.store.get<Node>('nodes', name)!));
  }

  removeNode(name: string): void {
    this.apiserver.delete(nodes(name));
  }

  /** Creates a pod that another scheduler has bound. @param runs seconds */
  unmanagedPod(name: string, { node, cores, runs }: { node: string; cores: number; runs: number }): void {
    this.apiserver.create(pods('elsewhere'), {
      metadata: { name, annotations: { [RUNS]: String(runs) } },
      spec: {
        nodeName: node,
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: String(cores) } } }],
      },
      status: { phase: 'Pending' },
    });
  }

  /** Creates a Job. */
  submit(name: string, given: GivenJob = {}): Job {
    return this.submitIn(NAMESPACE, name, given);
  }

  submitIn(
    namespace: string,
    name: string,
    { pods = 1, cores = 4, runs = 30, fails = false, labels = {} }: GivenJob = {},
  ): Job {
    const resources = { requests: { cpu: String(cores) } };
    return this.apiserver.create(jobs(namespace), {
      metadata: { name, annotations: { 'fluxqueue/walltime': '600s' } },
      spec: {
        parallelism: pods,
        completions: pods,
        completionMode: 'Indexed',
        ...(fails && { backoffLimit: 0 }),
        template: {
          metadata: { labels, annotations: { [RUNS]: String(runs), ...(fails && { [FAILS]: 'true' }) } },
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none', resources }] },
        },
      },
    }) as Job;
  }

  job(name: string): Job {
    return this.apiserver.store.get<Job>('jobs', `${NAMESPACE}/${name}`)!;
  }

  delete(name: string): void {
    this.apiserver.delete(jobs(NAMESPACE, name));
  }

  label(name: string, labels: Readonly<Record<string, string>>): void {
    const job = this.job(name);
    const metadata = { ...job.metadata, labels: { ...job.metadata.labels, ...labels } };
    this.apiserver.store.put('jobs', { ...job, metadata });
  }

  row(name: string): WorkloadRow | undefined {
    return this.queue.all.find((row) => row.name === name);
  }

  /** Starts a controller, which becomes leader at once. */
  async start(): Promise<void> {
    this.fence = await this.queue.acquireFence('simulated-controller', this.fence);
    this.term = new Term({
      config: parseConfig({ audit: { intervalSeconds: 60 }, workloads: { kinds: this.kinds } }),
      client: this.apiserver.client(),
      queue: this.queue,
      fluxion: this.fluxion,
      fence: this.fence,
      logger: this.logger,
      metrics: this.metrics,
      onFenced: () => undefined,
      time: {
        clock: this.clock,
        wall: () => this.now() + this.drift,
        random: new Random(2).next,
      },
    });
    await this.clock.until(this.term.start());
  }

  /** Stops the controller. */
  async stop(): Promise<void> {
    const { term } = this;
    this.term = undefined;
    if (term !== undefined) await this.clock.until(term.stop());
  }

  /** No Job controller, kube-scheduler or kubelet acts any more. */
  stopCluster(): void {
    this.cluster.stop();
  }

  async close(): Promise<void> {
    this.cluster.stop();
    await this.stop();
  }

  seconds(count: number): Promise<void> {
    return this.clock.advance(count * 1000);
  }

  /** Number of repairs by kind. */
  async repairs(): Promise<Readonly<Record<string, number>>> {
    const { values } = await this.metrics.repairs.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.kind, value]));
  }

  /** Job ids in Fluxion without those of unmanaged pods. */
  async held(): Promise<readonly number[]> {
    const { jobs: all } = await this.fluxion.state();
    return all.map(({ jobid }) => jobid).filter((jobid) => jobid < 2 ** 52);
  }
}
