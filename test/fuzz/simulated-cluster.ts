/**
 * The control loops of a cluster on the simulated apiserver: they create the pods of Jobs, bind, run and finish pods, and
 * collect garbage. They act with delays and in any order.
 */
import { fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Node, OwnerReference, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { firstStartTime, isTerminal } from '../../runtime/workloads/adapter';
import { coresOf } from '../invariants/pod-cores';
import type { Switches } from './features';
import { type ObjectStore, timeOf } from './object-store';
import { FAILS, LINGERS, PULLS, RUNS, UNTOUCHED } from './pod-annotations';
import type { Random } from './random';
import type { SimulatedApiserver } from './simulated-apiserver';
import type { SimulatedClock } from './simulated-clock';
import { SimulatedJobs } from './simulated-jobs';
import { evictsPods, isOpen, isReady } from './simulated-nodes';

export { FAILS, LINGERS, PULLS, RUNS, UNTOUCHED };

const TICK_MS = 250;
/** Share of the objects that are reconciled in a tick. */
const RECONCILED_SHARE = 0.6;
/** Minimum seconds until the pods of a removed node are collected. */
const COLLECT_SECONDS = 5;
/** Seconds until the pods of a node that is not ready are evicted: 300 in Kubernetes. */
const EVICT_SECONDS = 8;

export class SimulatedCluster {
  private readonly jobs: SimulatedJobs;
  private readonly orphanSince = new Map<string, number>();
  private readonly deadSince = new Map<string, number>();
  /** uid of a pod that no Job made, and that its deadline ended -> seconds since its container started. */
  private readonly exceeded = new Map<string, number>();
  private stopped = false;
  /** Whether kubelets report the end of a pod of a Job before they delete it. */
  private readonly reportsEnds: boolean;

  constructor(
    private readonly apiserver: SimulatedApiserver,
    private readonly clock: SimulatedClock,
    private readonly random: Random,
    private readonly now: () => number,
    { older = false, tails = false }: Pick<Switches, 'older' | 'tails'> = {},
  ) {
    this.jobs = new SimulatedJobs(apiserver, now, { keepsStart: older, countsDeleted: tails });
    this.reportsEnds = tails;
  }

  start(): void {
    this.clock.after(TICK_MS, () => {
      if (this.stopped) return;
      this.tick();
      this.start();
    });
  }

  stop(): void {
    this.stopped = true;
  }

  /** Pods that had less than their walltime, each with a sentence. Times of the apiserver are truncated to seconds. */
  cutShort(rows: readonly Pick<WorkloadRow, 'uid' | 'name' | 'walltime'>[]): readonly string[] {
    return rows.flatMap(({ uid, name, walltime }) => {
      const ran = this.exceeded.get(uid) ?? walltime;
      return ran < walltime - 1 ? [`pod ${name} ran for ${ran} s of its walltime of ${walltime} s`] : [];
    });
  }

  private get store(): ObjectStore {
    return this.apiserver.store;
  }

  private tick(): void {
    const owned = Map.groupBy(
      this.store.list<Pod>('pods'),
      ({ metadata }) => metadata.ownerReferences?.[0]?.uid,
    );
    for (const job of this.store.list<Job>('jobs'))
      if (this.random.happens(RECONCILED_SHARE)) this.jobs.sync(job, owned.get(job.metadata.uid) ?? []);
    this.jobs.collect();
    for (const pod of this.store.list<Pod>('pods'))
      if (this.random.happens(RECONCILED_SHARE)) this.reconcilePod(pod);
    for (const record of this.store.list('fluxjobs')) this.collect(record);
  }

  private reconcilePod(pod: Pod): void {
    const { deletionTimestamp, annotations } = pod.metadata;
    if (annotations?.[UNTOUCHED] !== undefined) return;
    if (pod.spec.nodeName === undefined) {
      if (deletionTimestamp !== undefined) this.remove(pod);
      else this.bind(pod);
      return;
    }
    const node = this.store.get<Node>('nodes', pod.spec.nodeName);
    if (node === undefined) this.collectOrphan(pod);
    else if (!isReady(node)) this.evictFromDeadNode(pod);
    else if (deletionTimestamp !== undefined) this.terminate(pod, deletionTimestamp);
    else if (evictsPods(node)) this.delete(pod);
    else this.run(pod);
  }

  private terminate(pod: Pod, deletionTimestamp: string): void {
    const { deletionGracePeriodSeconds = 0 } = pod.metadata;
    const since = Date.parse(deletionTimestamp) / 1000 - deletionGracePeriodSeconds;
    const lingers = isTerminal(pod) ? 0 : Number(pod.metadata.annotations?.[LINGERS] ?? 0);
    if (this.now() - since < lingers) return;
    // A kubelet reports the end before it deletes the pod.
    if (isTerminal(pod) || !hasStarted(pod) || (isOfJob(pod) && !this.reportsEnds)) this.remove(pod);
    else this.shutDown(pod);
  }

  /** Programs that end well when they are told to stop exit with code 0. */
  private shutDown(pod: Pod): void {
    const failed = this.random.happens(0.5);
    const containerStatuses = [this.ended(failed, firstStartTime([pod], 0))];
    this.put(pod, { status: { ...pod.status, phase: failed ? 'Failed' : 'Succeeded', containerStatuses } });
  }

  /** The kubelet of the node reports nothing and stops nothing: an evicted pod stays as it is. */
  private evictFromDeadNode(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    const since = this.deadSince.get(uid) ?? this.now();
    this.deadSince.set(uid, since);
    if (deletionTimestamp === undefined && this.now() - since > EVICT_SECONDS) this.delete(pod);
  }

  private delete({ metadata: { namespace, name } }: Pod): void {
    this.apiserver.delete(podPath(namespace, name));
  }

  /** Binds a pod as kube-scheduler does: to its required node or the first node, if it is open and has the free cores. */
  private bind(pod: Pod): void {
    if ((pod.spec.schedulingGates?.length ?? 0) > 0) return;
    const wanted = requiredNode(pod);
    const nodes = this.store
      .list<Node>('nodes')
      .filter((node) => isOpen(node) && (wanted === undefined || node.metadata.name === wanted));
    const node = nodes.find((candidate) => this.fits(candidate, pod));
    if (node === undefined) {
      if (pod.status?.conditions === undefined) this.put(pod, { status: this.unschedulable(pod) });
      return;
    }
    const conditions = [{ type: 'PodScheduled', status: 'True' }] as const;
    this.put(pod, {
      spec: { ...pod.spec, nodeName: node.metadata.name },
      status: { ...pod.status, conditions },
    });
  }

  private unschedulable({ status }: Pod): NonNullable<Pod['status']> {
    const lastTransitionTime = timeOf(this.now());
    const message = '0/4 nodes are available: 4 do not fit';
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
    return { ...status, conditions: [{ ...condition, lastTransitionTime }] };
  }

  private fits(node: Node, pod: Pod): boolean {
    const { cpu = 0, pods: most = Infinity } = node.status?.allocatable ?? {};
    const there = this.store
      .list<Pod>('pods')
      .filter((other) => other.spec.nodeName === node.metadata.name && !isTerminal(other));
    const used = there.reduce((sum, other) => sum + coresOf(other), 0);
    return there.length < Number(most) && used + coresOf(pod) <= Number(cpu);
  }

  private run(pod: Pod): void {
    const { status, metadata, spec } = pod;
    if (status?.phase === 'Pending' || status?.phase === undefined) {
      this.begin(pod);
      return;
    }
    if (status.phase !== 'Running') return;
    const late = this.isLate(spec, status.startTime!);
    const ran = this.now() - firstStartTime([pod], 0);
    if (!late && ran < Number(metadata.annotations?.[RUNS] ?? 1)) return;
    if (late && metadata.ownerReferences === undefined) this.exceeded.set(metadata.uid, ran);
    const failed = late || metadata.annotations?.[FAILS] === 'true';
    this.put(pod, {
      status: {
        ...status,
        phase: failed ? 'Failed' : 'Succeeded',
        containerStatuses: [this.ended(failed, firstStartTime([pod], 0))],
        ...(late && { reason: 'DeadlineExceeded' }),
      },
    });
  }

  /** The deadline counts from here on, also while the image is pulled. */
  private begin(pod: Pod): void {
    const { status, spec } = pod;
    const pulls = pullSecondsOf(pod);
    const startTime = status?.startTime ?? timeOf(this.now());
    const isPulled = this.now() - Date.parse(startTime) / 1000 >= pulls;
    if (this.isLate(spec, startTime))
      this.put(pod, { status: { ...status, phase: 'Failed', reason: 'DeadlineExceeded' } });
    else if (isPulled) this.put(pod, { status: this.running(startTime, pulls > 0) });
    else if (status?.startTime === undefined) this.put(pod, { status: this.pulling(pod, startTime) });
  }

  private isLate({ activeDeadlineSeconds = Infinity }: Pod['spec'], startTime: string): boolean {
    return this.now() - Date.parse(startTime) / 1000 >= activeDeadlineSeconds;
  }

  private running(startTime: string, wasPulled: boolean): NonNullable<Pod['status']> {
    const state = { running: { startedAt: timeOf(this.now()) } };
    const containerStatuses = [{ name: 'main', ready: true, restartCount: 0, state }];
    return { phase: 'Running', startTime, ...(wasPulled && { containerStatuses }) };
  }

  private pulling({ status }: Pod, startTime: string): NonNullable<Pod['status']> {
    const state = { waiting: { reason: 'ContainerCreating' } };
    const containerStatuses = [{ name: 'main', ready: false, restartCount: 0, state }];
    return { ...status, phase: 'Pending', startTime, containerStatuses };
  }

  private ended(failed: boolean, startedAt: number) {
    const times = { startedAt: timeOf(startedAt), finishedAt: timeOf(this.now()) };
    const terminated = { exitCode: failed ? 1 : 0, ...times };
    return { name: 'main', ready: false, restartCount: 0, state: { terminated } };
  }

  private collectOrphan(pod: Pod): void {
    const since = this.orphanSince.get(pod.metadata.uid) ?? this.now();
    this.orphanSince.set(pod.metadata.uid, since);
    if (this.now() - since > COLLECT_SECONDS) this.remove(pod);
  }

  private collect(record: KubernetesObject): void {
    const { namespace, ownerReferences = [] } = record.metadata;
    const exists = ({ kind, name, uid }: OwnerReference) =>
      this.store.get(`${kind.toLowerCase()}s`, `${namespace}/${name}`)?.metadata.uid === uid;
    if (ownerReferences.some(exists)) return;
    this.apiserver.delete(fluxJobs(record.metadata.namespace, record.metadata.name));
  }

  private put(pod: Pod, change: Partial<Pod>): void {
    this.store.put('pods', { ...pod, ...change });
  }

  private remove(pod: Pod): void {
    const { namespace, name } = pod.metadata;
    this.jobs.countGone(pod);
    this.store.remove('pods', `${namespace}/${name}`);
  }
}

/** How long the image of the pod is pulled. */
export function pullSecondsOf({ metadata }: Pod): number {
  return Number(metadata.annotations?.[PULLS] ?? 0);
}

function hasStarted({ status }: Pod): boolean {
  return status?.phase === 'Running';
}

function isOfJob({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'Job') ?? false;
}

function requiredNode({ spec }: Pod): string | undefined {
  const [term] =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return term?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0];
}
