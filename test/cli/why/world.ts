/** A simulated cluster with the whole controller, and what `why` prints of a workload in it. */
import { whyLines } from '../../../runtime/cli/why';
import { FluxqError } from '../../../runtime/errors';
import {
  type FluxJobObject,
  type FluxSetupSpecJson,
  fluxSetups,
} from '../../../runtime/kubernetes/custom-resources';
import { events, jobs, nodes, pods } from '../../../runtime/kubernetes/paths';
import type { Job, Node, Pod, PodSpec } from '../../../runtime/kubernetes/types';
import { RUNS, UNTOUCHED } from '../../fuzz/simulated-cluster';
import { SimulatedController } from '../../fuzz/simulated-controller';

export const NAMESPACE = 'science';
/** The workload that a situation is about, unless it says otherwise. */
export const MINE = 'mine';
/** Seconds until everything that can happen at once has happened, and FluxJobs show it. */
const SETTLED = 20;

interface JobOptions {
  readonly pods?: number;
  readonly cores?: number;
  /** Seconds that its pods run. @default - for an hour, which is its walltime */
  readonly runs?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<Job['spec']>;
  readonly pod?: Partial<PodSpec>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** More requests of its container. */
  readonly requests?: Readonly<Record<string, string>>;
}

export class World {
  readonly controller: SimulatedController;
  private answerStalled = () => {};

  private constructor(kinds: readonly string[]) {
    this.controller = new SimulatedController(undefined, kinds);
  }

  /** @param kinds workload kinds whose objects the controller watches */
  static async start(kinds: readonly string[] = []): Promise<World> {
    const world = new World(kinds);
    await world.controller.start();
    return world;
  }

  private get apiserver() {
    return this.controller.apiserver;
  }

  job(name: string = MINE, options: JobOptions = {}): void {
    const { pods = 1, cores = 1, runs = 3600, annotations = {}, spec, pod, labels, requests } = options;
    const resources = { requests: { cpu: String(cores), ...requests } };
    this.apiserver.create(jobs(NAMESPACE), {
      metadata: { name, annotations: { 'fluxqueue/walltime': '1h', ...annotations } },
      spec: {
        parallelism: pods,
        completions: pods,
        completionMode: 'Indexed',
        ...spec,
        template: {
          metadata: {
            annotations: { [RUNS]: String(runs), ...options.podAnnotations },
            ...(labels && { labels }),
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a:1', resources }], ...pod },
        },
      },
    });
  }

  /** A Job whose pods no kubelet and no kube-scheduler looks at; see `report`. */
  async grantedJob(options: JobOptions = {}): Promise<void> {
    this.job(MINE, { ...options, podAnnotations: { [UNTOUCHED]: '' } });
    await this.seconds(6);
  }

  /** A pod that runs until it is deleted. */
  service(name: string, cores: number, annotations: Readonly<Record<string, string>> = {}): void {
    const resources = { requests: { cpu: String(cores) } };
    this.apiserver.create(pods(NAMESPACE), {
      metadata: { name, annotations: { ...annotations, [RUNS]: '1000000' } },
      spec: { containers: [{ name: 'main', image: 'a:1', resources }] },
      status: { phase: 'Pending' },
    });
  }

  /** The pods of the Job. */
  podsOf(name: string = MINE): readonly Pod[] {
    const { uid } = this.controller.job(name).metadata;
    return this.apiserver.store
      .list<Pod>('pods')
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
  }

  /** What kube-scheduler or the kubelet says of the pods of a granted Job. @param node to which they are bound */
  report(status: Pod['status'], node?: string): void {
    for (const pod of this.podsOf()) {
      const spec = node === undefined ? pod.spec : { ...pod.spec, nodeName: node };
      this.apiserver.store.put('pods', { ...pod, spec, status: { phase: 'Pending', ...status } });
    }
  }

  /** The Job controller cannot create the pods of this Job, and says so in an Event about it. */
  refusePodsOf(name: string, note: string): void {
    this.refuse('create', 'pods', 'no');
    const { metadata } = this.apiserver.store.get<Job>('jobs', `${NAMESPACE}/${name}`)!;
    this.create(events(NAMESPACE), {
      metadata: { name: 'failed', namespace: NAMESPACE },
      regarding: { uid: metadata.uid },
      note: `Error creating: ${note}`,
      eventTime: '2030-01-01T00:00:00Z',
    });
  }

  /** The kubelet warns in an Event about the first pod of the Job. */
  warn(reason: string, note: string): void {
    const [pod] = this.podsOf();
    this.create(events(NAMESPACE), {
      metadata: { name: `${pod!.metadata.name}.1`, namespace: NAMESPACE },
      regarding: { uid: pod!.metadata.uid },
      reason,
      note,
      type: 'Warning',
    });
  }

  /** Another leader, without the right to list these. */
  async restartWithout(resource: string): Promise<void> {
    await this.controller.stop();
    this.apiserver.unreadable.add(resource);
    await this.controller.start();
  }

  queue(name: string, spec: FluxSetupSpecJson): void {
    this.apiserver.create(fluxSetups(NAMESPACE), { metadata: { name }, spec });
  }

  /** Changes a node. */
  node(name: string, { labels, spec, allocatable, ready = true }: NodeChange): void {
    const node = this.apiserver.store.get<Node>('nodes', name)!;
    this.apiserver.store.put('nodes', {
      ...node,
      metadata: { ...node.metadata, ...(labels && { labels: { ...labels } }) },
      spec: { ...node.spec, ...spec },
      status: {
        ...node.status,
        allocatable: { ...node.status?.allocatable, ...allocatable },
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }],
      },
    } as Node);
  }

  removeNode(name: string): void {
    this.apiserver.delete(nodes(name));
  }

  /** The Fluxion service is down. */
  breakFluxion(): void {
    const refuse = async () => {
      throw new FluxqError('FLUXQ_FLUXION_IN_DOUBT', 'Fluxion does not answer', { retryable: true });
    };
    Object.assign(this.controller.fluxion, { init: refuse, match: refuse, replay: refuse, state: refuse });
  }

  /** A policy of the cluster refuses such changes from now on. */
  refuse(verb: 'create' | 'patch', resource: string, message: string): void {
    this.apiserver.policy = (asked, about) =>
      asked === verb && about === resource
        ? `admission webhook "rules.example.com" denied the request: ${message}`
        : undefined;
  }

  /** A webhook of the cluster fails for such changes from now on. */
  fail(verb: 'create' | 'patch', resource: string, message: string): void {
    this.apiserver.failure = (asked, about) =>
      asked === verb && about === resource ? `Internal error occurred: ${message}` : undefined;
  }

  /** A webhook of the cluster does not answer patches of such objects from now on. */
  stall(resource: string): void {
    const answered = new Promise<void>((resolve) => {
      this.answerStalled = resolve;
    });
    this.apiserver.stalled = (about) => (about === resource ? answered : undefined);
  }

  /** Ends the controller, and what it waits for. */
  async close(): Promise<void> {
    this.answerStalled();
    await this.controller.close();
  }

  /** No policy refuses anything from now on. */
  allowAll(): void {
    this.apiserver.policy = () => undefined;
  }

  /** Deletes the Job as `kubectl delete --cascade=foreground` does. */
  deleteJob(): void {
    this.apiserver.delete(jobs(NAMESPACE, MINE), undefined, 'Foreground');
  }

  /** Deletes a pod as `kubectl delete` does. */
  deletePod(name: string): void {
    this.apiserver.delete(pods(NAMESPACE, name));
  }

  /** Changes the labels of an object. */
  label(path: string, labels: Readonly<Record<string, string>>): void {
    void this.apiserver.client().patch(path, { metadata: { labels } }, 'merge');
  }

  create(path: string, object: object): void {
    this.apiserver.create(path, object);
  }

  /** Its user suspends it, as admission has it. */
  suspend(): void {
    const annotations = { 'fluxqueue/suspend': 'held', 'fluxqueue/hold': 'true' };
    this.edit(MINE, (job) => ({
      ...job,
      metadata: { ...job.metadata, annotations: { ...job.metadata.annotations, ...annotations } },
      spec: { ...job.spec, suspend: true },
    }));
  }

  /** As `kubectl edit` does. */
  edit(name: string, change: (job: Job) => Job): void {
    this.apiserver.store.put('jobs', change(this.controller.job(name)));
  }

  seconds(count: number): Promise<void> {
    return this.controller.seconds(count);
  }

  settle(): Promise<void> {
    return this.seconds(SETTLED);
  }

  fluxJobs(): readonly FluxJobObject[] {
    return this.apiserver.store.list<FluxJobObject>('fluxjobs');
  }

  fluxJob(name: string = MINE): FluxJobObject {
    const found = this.fluxJobs().find(({ spec }) => spec.workload.name === name);
    if (found === undefined) throw new Error(`no FluxJob is about ${name}`);
    return found;
  }

  why(name?: string): readonly string[] {
    const now = this.controller.now() * 1000;
    const { metadata, ...rest } = this.fluxJob(name);
    // It has lasted for a minute at least: plans have been made since.
    const created = Math.min(now - 60_000, Date.parse(metadata.creationTimestamp ?? ''));
    const creationTimestamp = new Date(created).toISOString();
    const fluxJob = { ...rest, metadata: { ...metadata, creationTimestamp } };
    return whyLines({ fluxJob, all: this.fluxJobs(), now });
  }
}

interface NodeChange {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Node['spec'];
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly ready?: boolean;
}
