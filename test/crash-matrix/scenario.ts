/** The workloads around a fault point: all kinds of jobs are submitted, run, edited, deleted, lose a node, are evicted. */
import { setTimeout as pause } from 'node:timers/promises';
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { KubeObject } from '../cluster/api';
import { replicaSet, sharedVolume, withClaim } from '../stack/manifests';
import type { Fixture } from '../stack/suite';
import { Namespace } from '../stack/workloads';
import { type CallName, type FaultPoint, type NodeFault, sceneOf } from './fault-points';
import type { FaultTrigger } from './fault-trigger';
import { SpareNodes } from './spare-nodes';

export const NAMESPACE = 'matrix';
/** Number of cores per node, and number of nodes. */
export const SIZE = 4;
const SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/replicasets`;
/** Longest time until the pod of a ReplicaSet is evicted, in milliseconds. */
const PIN_MS = 15_000;
const WALLTIME = { 'fluxqueue/walltime': '60s' };
/** A deadline beyond the maximum walltime of the queue: the queue writes a shorter one. */
const LONG = { activeDeadlineSeconds: 864_000 };

export class Scenario {
  /** uids of workloads that the user deleted. */
  readonly stopped = new Set<string>();
  private readonly spare: SpareNodes;
  /** ReplicaSets of this round. */
  private readonly sets: string[] = [];
  private readonly created: { readonly object: KubernetesObject; readonly kind: 'Job' | 'Pod' }[] = [];
  private count = 0;

  private constructor(
    private readonly fixture: Fixture,
    private readonly namespace: Namespace,
  ) {
    this.spare = new SpareNodes(fixture.stack.cluster);
  }

  static async create(fixture: Fixture): Promise<Scenario> {
    const namespace = await Namespace.create(() => fixture, NAMESPACE);
    await fixture.stack.cluster.apply({
      apiVersion: 'flux-framework.org/v1alpha1',
      kind: 'FluxSetup',
      metadata: { name: 'default', namespace: NAMESPACE },
      spec: {
        preemption: { policy: 'LowerPriority', minRuntime: '0s' },
        requeue: { limit: 100, backoff: '1s' },
      },
    });
    return new Scenario(fixture, namespace);
  }

  get lostNodes(): ReadonlySet<string> {
    return this.spare.lost;
  }

  /** Unix seconds. */
  get disturbances(): readonly number[] {
    return this.spare.disturbances;
  }

  /** uids of all workloads of this round. */
  get uids(): ReadonlySet<string> {
    return new Set(this.created.map(({ object }) => object.metadata.uid));
  }

  /** Does what causes the call, and arms the trigger. It stops to wait once the fault is injected. */
  async play(point: FaultPoint, trigger: FaultTrigger): Promise<void> {
    const { triggered } = trigger;
    const scene = sceneOf(point);
    if (scene === 'work') await this.submitAllKinds(point.call, triggered);
    else if (scene === 'preemption') await this.preempt(triggered);
    else if (scene === 'pinned') await this.pin(trigger);
    else await this.breakNode(scene, trigger);
  }

  /** Deletes the workloads of the round. */
  async clear(): Promise<void> {
    for (const { object, kind } of this.created.splice(0)) {
      this.stopped.add(object.metadata.uid);
      await this.remove(object, kind);
    }
    for (const name of this.sets.splice(0))
      await this.fixture.stack.cluster.request('DELETE', `${SETS}/${name}?propagationPolicy=Background`);
  }

  /** ReplicaSets of this round without a running pod. */
  idleSets(pods: readonly Pod[]): readonly string[] {
    const running = pods.filter(({ status }) => status?.phase === 'Running');
    const owners = new Set(running.map(({ metadata }) => metadata.ownerReferences?.[0]?.name));
    return this.sets.filter((name) => !owners.has(name));
  }

  private async submitAllKinds(call: CallName, triggered: Promise<void>): Promise<void> {
    const i = this.count++;
    const common = { annotations: WALLTIME, runs: '200ms' };
    await this.job(`gang-${i}`, { ...common, pods: 3, cores: SIZE });
    await this.job(`loose-${i}`, { ...common, pods: 2, cores: 2, indexed: false });
    const pod = await this.namespace.pod(`plain-${i}`, common);
    this.created.push({ object: pod, kind: 'Pod' });
    // A FluxJob that is created at the end of its workload is never patched.
    if (call === 'client.patch fluxjobs') await this.job(`long-${i}`, { ...common, runs: '15s' });
    const victim = await this.job(`victim-${i}`, { ...common, cores: 2 });
    const held = await this.job(`held-${i}`, { ...common, labels: { 'fluxqueue/hold': 'true' } });
    // The row must exist before the update.
    if (call === 'queue.update') await Promise.race([this.namespace.phase(held, 'Waiting'), triggered]);
    this.stopped.add(victim.metadata.uid);
    await this.remove(victim, 'Job', i % 2 === 0 ? 'Foreground' : 'Background');
    await this.namespace.patch(held, 'Job', { metadata: { labels: { 'fluxqueue/hold': 'false' } } });
  }

  /** Breaks the node of a running job; a similar node is there for it. */
  private async breakNode(fault: Exclude<NodeFault, 'pinned'>, trigger: FaultTrigger): Promise<void> {
    const i = this.count++;
    const name = await this.spare.add(i);
    const { tolerations } = this.spare;
    const podSpec = { nodeSelector: { spare: `${i}` }, tolerations };
    // A simulated pod also ends on a node that is not ready, so it must run until it is deleted.
    const runs = fault === 'not-ready' ? '6s' : '1500ms';
    const job = await this.job(`moved-${i}`, { cores: SIZE, runs, podSpec, spec: LONG });
    await Promise.race([this.namespace.phase(job, 'Running'), trigger.triggered]);
    trigger.arm();
    await this.spare.break(name, fault);
    await this.spare.add(i);
  }

  /** A pod of a controller waits for a claim on its node, so it is evicted, and its controller creates it again. */
  private async pin(trigger: FaultTrigger): Promise<void> {
    const { cluster } = this.fixture.stack;
    const name = `pinned-${this.count++}`;
    await cluster.apply(inNamespace(replicaSet(name, { requests: { cpu: '1' }, pod: withClaim(name) })));
    this.sets.push(name);
    trigger.arm();
    await Promise.race([trigger.triggered, pause(PIN_MS)]);
    const [volume, claim] = sharedVolume(NAMESPACE, name);
    await cluster.apply([volume!, inNamespace(claim!)]);
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

  /** Removes the nodes of the round: only jobs with their label need them. */
  removeSpare(): Promise<void> {
    return this.spare.remove();
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

function inNamespace(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace: NAMESPACE } };
}
