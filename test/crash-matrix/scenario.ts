/** The workloads around a fault point: all kinds of jobs are submitted, run, edited, deleted, lose a node, are evicted. */
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject } from '../../runtime/kubernetes/types';
import type { Cluster } from '../cluster/cluster';
import type { Fixture } from '../stack/suite';
import { Namespace } from '../stack/workloads';
import type { CallName } from './fault-points';
import { needs } from './fault-points';

export const NAMESPACE = 'matrix';
/** Number of cores per node, and number of nodes. */
export const SIZE = 4;
const WALLTIME = { 'fluxqueue/walltime': '60s' };

export class Scenario {
  /** uids of workloads that the user deleted. */
  readonly stopped = new Set<string>();
  readonly lostNodes = new Set<string>();
  /** Unix seconds. */
  readonly disturbances: number[] = [];
  private readonly created: { readonly object: KubernetesObject; readonly kind: 'Job' | 'Pod' }[] = [];
  private count = 0;

  private constructor(
    private readonly fixture: Fixture,
    private readonly namespace: Namespace,
  ) {}

  static async create(fixture: Fixture): Promise<Scenario> {
    const namespace = await Namespace.create(() => fixture, NAMESPACE);
    await fixture.stack.cluster.apply({
      apiVersion: 'flux-framework.org/v1alpha1',
      kind: 'FluxSetup',
      metadata: { name: 'default', namespace: NAMESPACE },
      spec: { preemption: 'LowerPriority', requeue: { limit: 100, backoff: '1s' } },
    });
    return new Scenario(fixture, namespace);
  }

  /** uids of all workloads of this round. */
  get uids(): ReadonlySet<string> {
    return new Set(this.created.map(({ object }) => object.metadata.uid));
  }

  /** Submits the workloads that the call needs. @param triggered resolves once the fault is injected, to stop waiting */
  async play(call: CallName, triggered: Promise<void>): Promise<void> {
    const need = needs(call);
    if (need === 'preemption') await this.preempt(triggered);
    else if (need === 'node-loss') await this.loseNode(triggered);
    else await this.submitAllKinds(call, triggered);
  }

  /** Deletes the workloads of the round. */
  async clear(): Promise<void> {
    for (const { object, kind } of this.created.splice(0)) {
      this.stopped.add(object.metadata.uid);
      await this.remove(object, kind);
    }
  }

  private async submitAllKinds(call: CallName, triggered: Promise<void>): Promise<void> {
    const i = this.count++;
    const common = { annotations: WALLTIME, runs: '200ms' };
    await this.job(`gang-${i}`, { ...common, pods: 3, cores: SIZE });
    await this.job(`loose-${i}`, { ...common, pods: 2, cores: 2, indexed: false });
    const pod = await this.namespace.pod(`plain-${i}`, common);
    this.created.push({ object: pod, kind: 'Pod' });
    const victim = await this.job(`victim-${i}`, { ...common, cores: 2 });
    const held = await this.job(`held-${i}`, { ...common, labels: { 'fluxqueue/hold': 'true' } });
    // The row must exist before the update.
    if (call === 'queue.update') await Promise.race([this.namespace.phase(held, 'Waiting'), triggered]);
    this.stopped.add(victim.metadata.uid);
    await this.remove(victim, 'Job', i % 2 === 0 ? 'Foreground' : 'Background');
    await this.namespace.patch(held, 'Job', { metadata: { labels: { 'fluxqueue/hold': 'false' } } });
  }

  /** Removes the node of a running job and adds a similar one. */
  private async loseNode(triggered: Promise<void>): Promise<void> {
    const { cluster } = this.fixture.stack;
    const i = this.count++;
    const shape = { cpu: String(SIZE), labels: { spare: `${i}` } };
    const [name = ''] = await this.addNode(cluster, shape);
    const podSpec = { nodeSelector: { spare: `${i}` } };
    const job = await this.job(`moved-${i}`, { cores: SIZE, runs: '1500ms', podSpec, annotations: WALLTIME });
    await Promise.race([this.namespace.phase(job, 'Running'), triggered]);
    this.lostNodes.add(name);
    this.disturb();
    await cluster.removeNode(name);
    const [next = ''] = await this.addNode(cluster, shape);
    this.keepSpare(next);
  }

  /** Fills the cluster with a preemptible job and submits a job with a higher priority. */
  private async preempt(triggered: Promise<void>): Promise<void> {
    const i = this.count++;
    const low = await this.job(`low-${i}`, {
      pods: SIZE,
      cores: SIZE,
      runs: '800ms',
      annotations: { 'fluxqueue/walltime': '600s' },
      labels: { 'fluxqueue/preemptible': 'true' },
    });
    await Promise.race([this.namespace.phase(low, 'Running'), triggered]);
    await this.job(`urgent-${i}`, {
      pods: SIZE,
      cores: SIZE,
      runs: '200ms',
      annotations: WALLTIME,
      labels: { 'fluxqueue/priority': '10' },
    });
  }

  private async job(name: string, shape: Parameters<Namespace['job']>[1]): Promise<Job> {
    const object = await this.namespace.job(name, shape);
    this.created.push({ object, kind: 'Job' });
    return object;
  }

  private async addNode(cluster: Cluster, shape: Parameters<Cluster['addNodes']>[1]): Promise<string[]> {
    this.disturb();
    return cluster.addNodes(1, shape);
  }

  /** Spare nodes of earlier rounds stay until {@link removeSpare}: only jobs with their label need them. */
  private keepSpare(name: string): void {
    this.spare.push(name);
  }

  private readonly spare: string[] = [];

  async removeSpare(): Promise<void> {
    for (const name of this.spare.splice(0)) {
      this.lostNodes.add(name);
      this.disturb();
      await this.fixture.stack.cluster.removeNode(name);
    }
  }

  private disturb(): void {
    this.disturbances.push(Date.now() / 1000);
  }

  private async remove(
    { metadata }: KubernetesObject,
    kind: 'Job' | 'Pod',
    propagationPolicy: 'Background' | 'Foreground' = 'Background',
  ): Promise<void> {
    const path = kind === 'Job' ? jobs : pods;
    await this.fixture.client
      .delete(path(metadata.namespace, metadata.name), { propagationPolicy, uid: metadata.uid })
      .catch((error: unknown) => {
        if ((error as { status?: number }).status !== 404) throw error;
      });
  }
}
