/** Groups of plain pods in a world of pods alone: the queue's tables are a model, and grants are given by the tests. */
import { pointerToken } from '../../constructs/api/json-pointer';
import {
  ADMITTED_LABEL,
  DEADLINE_ANNOTATION,
  GATE,
  GROUP,
  GROUP_SIZE,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { parseConfig } from '../../runtime/config';
import { askOf } from '../../runtime/jobspec/jobspec';
import { podSetsOf } from '../../runtime/jobspec/pod-sets';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';
import type { EventNote } from '../../runtime/kubernetes/events';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { AllocatedNode } from '../../runtime/resources/types';
import type { GrantWait } from '../../runtime/shared/grant-waits';
import { WorkloadObjects } from '../../runtime/shared/workload-objects';
import { adapters } from '../../runtime/workloads/index';
import { assignedNode, isGated } from '../../runtime/workloads/pod';
import { podFacts } from '../../runtime/workloads/pod-facts';
import { WorkloadReconciler } from '../../runtime/workloads/reconciler';
import { applyJsonPatch, type Operation } from '../fuzz/json-patch';
import { QueueModel } from '../fuzz/queue-model';
import { ManualClock } from '../kubernetes/manual-clock';
import { FakeInformer } from '../shared/fake-informer';
import { defaultSubmissions } from './default-submissions';

export const KEY = { kind: 'PodGroup', namespace: 'science', name: 'ring' };
const START = Date.parse('2026-01-01T00:00:00Z') / 1000;
const config = parseConfig({});

export interface MemberShape {
  readonly size?: string;
  readonly cpu?: string;
  readonly user?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Name of the controller that makes it again. @default - none does */
  readonly owner?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly group?: string;
  /** @default 'Never' */
  readonly restartPolicy?: 'Always' | 'Never';
}

export class GroupWorld {
  now = START;
  readonly events: { readonly on: string; readonly note: EventNote }[] = [];
  readonly freed: number[] = [];
  /** What its FluxJob says that the group waits for. */
  wait: GrantWait | undefined;
  readonly nodes = new Set(['node-1', 'node-2', 'node-3']);
  /** Paths of pods that no eviction may end. */
  readonly protectedPods = new Set<string>();
  /** Names of pods that a policy of the cluster lets nobody change. */
  readonly refused = new Set<string>();
  /** Whether the guard of an earlier version is there, which lets nobody note a deadline in a pod. */
  hasEarlierGuard = false;
  readonly clock = new ManualClock();
  hasLeft = false;
  readonly pods = new FakeInformer<Pod>({
    workload: (pod) => podFacts.workloadUids(pod),
    group: (pod) => [podFacts.group(pod) ?? ''],
  });
  private readonly jobs = new FakeInformer<never>();
  private made = 0;

  private constructor(
    readonly queue: QueueModel,
    readonly cache: WorkloadCache,
  ) {}

  static async create(): Promise<GroupWorld> {
    let world: GroupWorld | undefined;
    const queue = new QueueModel(() => world?.now ?? START);
    const cache = new WorkloadCache(queue, await queue.acquireFence('test'));
    await cache.reload();
    world = new GroupWorld(queue, cache);
    return world;
  }

  /** A leader that sees what there is, and remembers nothing. */
  leader(): Leader {
    const objects = new WorkloadObjects(
      {
        jobs: this.jobs.asInformer() as never,
        pods: this.pods.asInformer(),
        kinds: new Map(),
        makers: new Map(),
      },
      podFacts,
      ({ kind, namespace, name }) => this.cache.byName(kind, namespace, name)[0],
    );
    return { objects, reconciler: this.reconciler(objects) };
  }

  pod(name: string, shape: MemberShape = {}): Pod {
    const { size = '3', cpu = '1', user = 'ada', settings, owner, labels, group = KEY.name } = shape;
    const { restartPolicy = 'Never' } = shape;
    const pod: Pod = {
      metadata: {
        name,
        namespace: 'science',
        uid: `uid-${++this.made}-${name}`,
        resourceVersion: '1',
        creationTimestamp: new Date((this.now + this.made) * 1000).toISOString(),
        labels: { [ADMITTED_LABEL]: 'true', [GROUP]: group, ...labels },
        annotations: { [GROUP_SIZE]: size, [USER_ANNOTATION]: user, ...settings },
        ...(owner !== undefined && {
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true },
          ],
        }),
      },
      spec: {
        restartPolicy,
        schedulingGates: [{ name: GATE }],
        containers: [{ name: 'main', resources: { requests: { cpu } } }],
      },
      status: { phase: 'Pending' },
    };
    this.pods.set(pod);
    return pod;
  }

  get(name: string): Pod | undefined {
    return this.pods.get(`science/${name}`);
  }

  /** The pod as it is after a change of its status. */
  set(name: string, status: Pod['status'], nodeName?: string): void {
    const pod = this.get(name)!;
    this.pods.set({
      ...pod,
      status: { ...pod.status, ...status },
      spec: { ...pod.spec, ...(nodeName && { nodeName }) },
    });
  }

  /** The kubelets run all that is placed. */
  runAll(): void {
    for (const pod of this.pods.list())
      if (!isGated(pod) && pod.status?.phase === 'Pending') {
        const startedAt = new Date(this.now * 1000).toISOString();
        const containerStatuses = [
          { name: 'main', ready: true, restartCount: 0, state: { running: { startedAt } } },
        ];
        this.set(pod.metadata.name, { phase: 'Running', containerStatuses } as never, assignedNode(pod));
      }
  }

  end(name: string, phase: 'Succeeded' | 'Failed', reason?: string): void {
    const ended = {
      exitCode: phase === 'Failed' ? 1 : 0,
      finishedAt: new Date(this.now * 1000).toISOString(),
    };
    const state = { terminated: { startedAt: ended.finishedAt, ...ended } };
    const containerStatuses = [{ name: 'main', ready: false, restartCount: 0, state }];
    this.set(name, { phase, containerStatuses, ...(reason !== undefined && { reason }) } as never);
  }

  delete(name: string): void {
    this.pods.delete(`science/${name}`);
  }

  get rows(): readonly WorkloadRow[] {
    return [...this.cache.active()];
  }

  /** The only row that has not ended. */
  get row(): WorkloadRow {
    expect(this.rows.map(({ kind, name }) => ({ kind, name }))).toEqual([{ kind: 'PodGroup', name: 'ring' }]);
    return this.rows[0]!;
  }

  /** Grants the nodes, so many pods of each pod set on each. */
  async grant(...nodes: readonly (readonly [node: string, ...pods: number[]])[]): Promise<void> {
    const { uid, jobid, jobspec, walltime } = this.row;
    const sets = podSetsOf(jobspec);
    const perPod = sets?.map((set) => askOf(set.jobspec).perPod) ?? [askOf(jobspec).perPod];
    const part = ([name, ...counts]: readonly [string, ...number[]]): AllocatedNode => {
      const cores = perPod.reduce((sum, units, i) => sum + (units.core ?? 0) * (counts[i] ?? 0), 0);
      const podSets = Object.fromEntries(sets?.map((set, i) => [set.name, counts[i] ?? 0]) ?? []);
      return { name, units: { core: `0-${cores - 1}` }, ...(sets && { podSets }) };
    };
    const start = Math.floor(this.now);
    const allocation = { jobid, start, end: start + Math.ceil(walltime), nodes: nodes.map(part) };
    await this.cache.allocate([{ uid, allocation }]);
  }

  /** The nodes of pods that are not gated. */
  get placed(): Readonly<Record<string, string | undefined>> {
    const pods = this.pods.list().filter((pod) => !isGated(pod));
    return Object.fromEntries(pods.map((pod) => [pod.metadata.name, assignedNode(pod)]));
  }

  private client(): KubernetesClient {
    const nameIn = (path: string) => /\/pods\/([^/?]+)/.exec(path)?.[1] ?? '';
    return {
      patch: async (path: string, body: readonly Operation[]) => {
        const pod = this.get(nameIn(path));
        if (pod === undefined) throw apiError(404, 'not found', undefined, path);
        if (this.refused.has(pod.metadata.name)) throw apiError(403, 'a policy denies it', undefined, path);
        if (this.hasEarlierGuard && JSON.stringify(body).includes(pointerToken(DEADLINE_ANNOTATION)))
          throw apiError(403, 'FLUXQ_RESERVED: metadata: the controller can only release', undefined, path);
        const patched = applyJsonPatch(pod, body);
        if (patched === undefined)
          throw apiError(
            422,
            'the server rejected our request due to an error in our request',
            undefined,
            path,
          );
        const resourceVersion = `${Number(pod.metadata.resourceVersion) + 1}`;
        this.pods.set({ ...patched, metadata: { ...patched.metadata, resourceVersion } });
        return patched;
      },
      create: async (path: string) => {
        if (!path.endsWith('/eviction')) throw new Error(`unexpected ${path}`);
        const name = nameIn(path);
        if (this.protectedPods.has(name)) throw apiError(429, 'disruption budget', undefined, path);
        this.delete(name);
      },
      get: async (path: string) => this.get(nameIn(path)),
      list: async () => ({ items: [this.namespace()], metadata: {} }),
    } as unknown as KubernetesClient;
  }

  private namespace(): KubernetesObject {
    const labels = this.hasLeft ? {} : { 'fluxqueue/enabled': 'true' };
    return { metadata: { name: 'science', uid: 'ns', resourceVersion: '1', creationTimestamp: '', labels } };
  }

  private reconciler(objects: WorkloadObjects): WorkloadReconciler {
    const exists = (name: string) => this.nodes.has(name);
    return new WorkloadReconciler({
      client: this.client(),
      workloadCache: this.cache,
      adapters,
      submissionBuilder: defaultSubmissions(this.cache, (object, _adapter, message) =>
        this.events.push({ on: object.metadata.name, note: { type: 'Warning', reason: 'Invalid', message } }),
      ),
      objectOf: (key) => objects.get(key),
      isUnlisted: () => false,
      podsOf: (workload) => objects.podsOf(workload),
      namespaces: { hasLeft: () => this.hasLeft, isAwaited: () => false, isExcluded: () => false },
      scope: config.namespaces,
      nodes: { exists, isReady: exists },
      schedulerRuns: () => true,
      requeueOf: () => ({ limit: 3, backoffSeconds: 5 }),
      limits: config.grants,
      isWithdrawn: () => false,
      isAwaited: () => false,
      onWait: (_uid, wait) => {
        this.wait = wait;
      },
      onLingering: () => undefined,
      onFreed: (jobid) => this.freed.push(jobid),
      onRequeued: () => undefined,
      ...{ onShrunk: () => undefined, onReduced: () => undefined },
      onQueueChanged: () => undefined,
      onUnrecordedGrant: () => undefined,
      enqueue: () => undefined,
      recordEvent: (object, _adapter, note) => this.events.push({ on: object.metadata.name, note }),
      isBusy: () => false,
      logger: createLogger('test', 'silent'),
      clock: this.clock,
      now: () => this.now,
    });
  }
}

export interface Leader {
  readonly objects: WorkloadObjects;
  readonly reconciler: WorkloadReconciler;
}

/** Three running pods: two on the first node. */
export async function runRing(
  world: GroupWorld,
  { reconciler }: Leader,
  owner?: string,
  shape: MemberShape = {},
): Promise<void> {
  for (const name of ['a', 'b', 'c']) world.pod(name, { ...shape, ...(owner !== undefined && { owner }) });
  await reconciler.reconcile(KEY);
  await world.grant(['node-1', 2], ['node-2', 1]);
  await reconciler.reconcile(KEY);
  world.runAll();
  await reconciler.reconcile(KEY);
  expect(world.row.phase).toBe('Running');
}
