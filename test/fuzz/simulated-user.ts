/** The random actions of the users of a cluster. */

import { ApiError } from '../../runtime/kubernetes/errors';
import { jobs as jobPath, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { isTerminal } from '../../runtime/workloads/adapter';
import type { UserChange } from '../invariants/observation';
import { Enlargements } from './enlargements';
import type { Features } from './features';
import { FAILS, LINGERS, PULLS, RUNS } from './pod-annotations';
import { Random } from './random';
import type { SimulatedApiserver } from './simulated-apiserver';
import { CORES, SimulatedNodes } from './simulated-nodes';
import { EMPTY_SPEC, podSpec } from './simulated-pods';
import { SimulatedQueues } from './simulated-queues';
import { Tails } from './tails';

/** How long the images of a pod are pulled at most. */
const LONGEST_PULL_SECONDS = 20;
/** The namespaces whose workloads are queued. */
export const NAMESPACES: readonly string[] = ['science', 'physics'];
const NAMESPACE = 'science';
/** A namespace with unmanaged pods. */
const OTHER_NAMESPACE = 'elsewhere';
/** Maximum number of unfinished workloads: more make runs slow, fewer find fewer bugs. */
const MAX_UNFINISHED = 30;
const MAX_SERVICES = 3;
/** Walltimes are multiples of it where many are equal. */
const EQUAL_WALLTIME_SECONDS = 40;
/** Label of a workload that runs until it is deleted. */
const SERVICE = 'fluxqueue.test/service';

export interface SimulatedUserOptions {
  readonly apiserver: SimulatedApiserver;
  readonly random: Random;
  /** Unix seconds of the cluster. */
  readonly now: () => number;
  readonly features: Features;
}

export class SimulatedUser {
  readonly nodes: SimulatedNodes;
  /** uids of workloads that were suspended or deleted, or that want no pods, and of pods whose Job was deleted. */
  readonly stopped = new Set<string>();
  /** When users changed what a workload asks for. */
  readonly changes: UserChange[] = [];
  readonly queues: SimulatedQueues;
  readonly enlargements: Enlargements;
  private created = 0;
  private readonly images: Random;
  readonly tails: Tails;
  private readonly ttls: Random;

  constructor(private readonly options: SimulatedUserOptions) {
    this.images = new Random(options.random.seed ^ 0x9011);
    this.ttls = new Random(options.random.seed ^ 0x77e1);
    this.nodes = new SimulatedNodes(options);
    this.queues = new SimulatedQueues({ ...options, onChange: () => this.nodes.recordDisturbance() });
    this.tails = new Tails({
      ...options,
      random: new Random(options.random.seed ^ 0x7a11),
      namespaces: NAMESPACES,
      onChange: (job) => this.recordChange(job),
    });
    this.enlargements = new Enlargements({
      ...options,
      namespaces: NAMESPACES,
      onChange: () => this.nodes.recordDisturbance(),
    });
  }

  setUp(): void {
    const { store } = this.options.apiserver;
    for (const name of NAMESPACES)
      store.create('namespaces', { metadata: { name, labels: { 'fluxqueue/enabled': 'true' } } });
    store.create('namespaces', { metadata: { name: OTHER_NAMESPACE } });
    for (let i = 0; i < 4; i++) this.nodes.add();
    if (this.options.features.queues) for (let i = 0; i < 6; i++) this.queues.act();
  }

  /** Makes one random action, and some of those that the features of the run allow. */
  act(): void {
    const { random, features } = this.options;
    this.actByFeatures();
    const roll = random.between(1, features.faults ? 100 : 84);
    if (roll <= 45) this.submitSome();
    else if (roll <= 53) this.deleteOne();
    else if (roll <= 61) this.toggleHold();
    else if (roll <= 69) this.edit();
    else if (roll <= 73) this.suspend();
    else if (roll <= 84) this.deleteFinished();
    else if (roll <= 87) this.nodes.lose();
    else if (roll <= 91) this.nodes.add();
    else if (roll <= 95) this.nodes.cordon();
    else this.createUnmanagedPod();
  }

  private actByFeatures(): void {
    const { random, features } = this.options;
    this.nodes.heal();
    if (features.nodeFaults && random.happens(0.03)) this.nodes.breakOne();
    if (features.queues && random.happens(0.04)) this.queues.act();
    if (features.enlargements && random.happens(0.1)) this.enlargements.act();
    if (features.services && random.happens(0.05)) this.startOrStopService();
    if (features.tails && this.images.happens(0.1)) this.tails.act();
  }

  /** Restores nodes and queues, releases all holds and ends all services, so that all workloads can finish. */
  releaseEverything(): void {
    this.nodes.restoreAll();
    this.enlargements.end();
    if (this.options.features.queues) this.queues.openAll();
    for (const service of this.services()) this.delete(service);
    for (const object of this.unfinished())
      if (object.metadata.labels?.['fluxqueue/hold'] === 'true') this.setHold(object, false);
  }

  private submitSome(): void {
    if (this.unfinished().length >= MAX_UNFINISHED) return;
    for (let n = this.options.random.between(1, 3); n > 0; n--) this.submit();
  }

  private submit(): void {
    const { random, features } = this.options;
    const runs = random.between(1, 12);
    // Some workloads overrun their walltime.
    const walltime = random.happens(0.1) ? Math.ceil(runs / 2) : runs + random.between(5, 60);
    const step = features.equalWalltimes ? EQUAL_WALLTIME_SECONDS : 1;
    const annotations = { 'fluxqueue/walltime': `${Math.ceil(walltime / step) * step}s` };
    const labels = {
      ...this.queueLabels(),
      ...(random.happens(features.queues ? 0.4 : 0.15) && {
        'fluxqueue/priority': String(random.between(-2, 5)),
      }),
      ...(random.happens(0.1) && { 'fluxqueue/hold': 'true' }),
      ...(random.happens(0.1) && {
        'fluxqueue/after': `w${Math.max(0, this.created - random.between(1, 3))}`,
      }),
    };
    const name = `w${this.created++}`;
    const metadata = { name, labels, annotations };
    const namespace = this.namespace();
    const template = { ...this.runs(runs), ...(random.happens(0.05) && { [FAILS]: 'true' }) };
    if (random.happens(0.2))
      this.create(podPath(namespace), {
        metadata: { ...metadata, annotations: { ...annotations, ...template } },
        spec: podSpec(1),
        status: { phase: 'Pending' },
      });
    else {
      const job = { metadata, ...this.jobSpec(template) };
      this.create(jobPath(namespace), features.tails ? this.tails.shape(job) : job);
    }
  }

  /** Admission may refuse it: then its user gives up. */
  private create(path: string, object: object): void {
    try {
      this.options.apiserver.create(path, object);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  private runs(seconds: number): Readonly<Record<string, string>> {
    const { random, features } = this.options;
    const lingers = features.slowPods && random.happens(0.2) ? { [LINGERS]: `${random.between(1, 15)}` } : {};
    const pulls =
      features.pulls && this.images.happens(0.5)
        ? { [PULLS]: `${this.images.between(1, LONGEST_PULL_SECONDS)}` }
        : {};
    return { [RUNS]: String(seconds), ...lingers, ...pulls };
  }

  private namespace(): string {
    const { random, features } = this.options;
    return features.queues && random.happens(0.3) ? 'physics' : NAMESPACE;
  }

  private queueLabels(): Readonly<Record<string, string>> {
    const { random, features } = this.options;
    if (!features.queues) return {};
    return {
      ...(random.happens(0.2) && { 'fluxqueue/queue': 'wide' }),
      ...(random.happens(0.6) && { 'fluxqueue/preemptible': 'true' }),
    };
  }

  private startOrStopService(): void {
    const { random } = this.options;
    const services = this.services();
    const old = random.oneOf(services);
    if (old !== undefined && (services.length >= MAX_SERVICES || random.happens(0.5))) this.delete(old);
    else
      this.create(podPath(this.namespace()), {
        metadata: {
          name: `s${this.created++}`,
          labels: { ...this.queueLabels(), [SERVICE]: 'true' },
          annotations: this.runs(Infinity),
        },
        spec: { ...podSpec(random.between(1, 2)), restartPolicy: 'Always' },
        status: { phase: 'Pending' },
      });
  }

  private services(): readonly KubernetesObject[] {
    return this.unfinished().filter(({ metadata }) => metadata.labels?.[SERVICE] === 'true');
  }

  private delete(object: KubernetesObject, policy: 'Foreground' | 'Background' = 'Background'): void {
    this.stopped.add(object.metadata.uid);
    // A pod beyond the gang of a Job has a row of its own, with the settings of that Job, until it is collected.
    for (const { metadata } of this.options.apiserver.store.list('pods'))
      if (metadata.ownerReferences?.[0]?.uid === object.metadata.uid) this.stopped.add(metadata.uid);
    this.options.apiserver.delete(pathOf(object), undefined, policy);
  }

  private jobSpec(annotations: Readonly<Record<string, string>>): Pick<Job, 'spec'> {
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
        ...(this.options.features.goneAtEnd && this.ttls.happens(0.5) && { ttlSecondsAfterFinished: 0 }),
        template: { metadata: { annotations }, spec: podSpec(cores) },
      },
    };
  }

  private deleteOne(): void {
    const { random } = this.options;
    const object = random.oneOf(this.unfinished());
    if (object === undefined) return;
    const foreground = isJob(object) && random.happens(0.3);
    this.delete(object, foreground ? 'Foreground' : 'Background');
  }

  private toggleHold(): void {
    const object = this.options.random.oneOf(this.unfinished());
    if (object !== undefined) this.setHold(object, object.metadata.labels?.['fluxqueue/hold'] !== 'true');
  }

  private setHold(object: KubernetesObject, hold: boolean): void {
    const { metadata } = object;
    const labels = { ...metadata.labels, 'fluxqueue/hold': String(hold) };
    this.recordChange(object);
    this.put({ ...object, metadata: { ...metadata, labels } });
  }

  private edit(): void {
    const { random } = this.options;
    const object = random.oneOf(this.unfinished());
    if (object === undefined) return;
    const { metadata } = object;
    if (isJob(object) && object.spec.suspend === true && random.happens(0.5)) {
      const parallelism = random.between(0, 3);
      // Without pods it has to wait, even if it is released at this moment.
      if (parallelism === 0) this.stopped.add(metadata.uid);
      const job: Job = { ...object, spec: { ...object.spec, parallelism } };
      this.recordChange(job);
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
      if (finished && random.happens(0.5)) this.delete(object);
    }
  }

  /** Creates a pod of another scheduler. */
  private createUnmanagedPod(): void {
    const { apiserver, random, features } = this.options;
    this.nodes.recordDisturbance();
    apiserver.create(podPath(OTHER_NAMESPACE), {
      metadata: { name: `other-${this.created++}`, annotations: { [RUNS]: String(random.between(2, 20)) } },
      spec: features.oddNodes && this.images.happens(0.5) ? EMPTY_SPEC : podSpec(1),
      status: { phase: 'Pending' },
    });
  }

  private recordChange({ metadata: { uid } }: KubernetesObject): void {
    this.changes.push({ uid, at: this.options.now() });
  }

  private put(object: KubernetesObject): void {
    this.options.apiserver.store.put(isJob(object) ? 'jobs' : 'pods', object);
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
      .filter(
        ({ metadata }) =>
          NAMESPACES.includes(metadata.namespace ?? '') && metadata.ownerReferences === undefined,
      );
  }
}

function isJob(object: KubernetesObject): object is Job {
  return 'template' in ((object as { spec?: object }).spec ?? {});
}

function pathOf(object: KubernetesObject): string {
  const { namespace, name } = object.metadata;
  return isJob(object) ? jobPath(namespace, name) : podPath(namespace, name);
}
