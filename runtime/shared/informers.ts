/**
 * The watches of a term: one per resource, shared by all areas. A standby keeps them warm, and its term takes them over:
 * reading all objects of a large cluster takes longer than everything else at the start of a term.
 */
import { once } from 'node:events';
import { ADMITTED_LABEL, USER_ANNOTATION } from '../../constructs/api/labels';
import type { MakerKind, WorkloadKind } from '../../constructs/api/workload-kinds';
import type { Time } from '../clock';
import { InternPool } from '../intern';
import type { KubernetesClient } from '../kubernetes/client';
import {
  type FluxJobObject,
  type FluxSetupObject,
  fluxJobs,
  fluxSetups,
} from '../kubernetes/custom-resources';
import { Informer } from '../kubernetes/informer';
import { JOB } from '../kubernetes/job-messages';
import { type KindObject, kindPath } from '../kubernetes/kind-fields';
import {
  jobs,
  limitRanges,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  priorityClasses,
  runtimeClasses,
  storageClasses,
} from '../kubernetes/paths';
import { POD } from '../kubernetes/pod-messages';
import type { ReflectorOptions, WatchEnd } from '../kubernetes/reflector';
import { isServed } from '../kubernetes/served';
import type {
  Job,
  KubernetesObject,
  LimitRange,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PriorityClass,
  RuntimeClass,
  StorageClass,
} from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';
import { isAgent } from './agents';
import { projectClaim } from './claim-projection';
import { projectFluxJob, type WatchedFluxJob } from './fluxjob-projection';
import { projectJob, type WatchedJob } from './job-projection';
import { projectKind } from './kind-projection';
import { nodeFacts } from './node-cache';
import type { PodFacts } from './pod-facts';
import { keptMetadata, projectPod } from './pod-projection';
import { answeringScheduler } from './schedulers';

export interface InformersOptions {
  readonly client: KubernetesClient;
  readonly logger: Logger;
  readonly time: Time;
  readonly podFacts: PodFacts;
  /** The kinds that admission holds by a field of their own. */
  readonly kinds: readonly WorkloadKind[];
  /** @default - ends of watches are not counted */
  readonly metrics?: Pick<ControllerMetrics, 'watchEnds'>;
}

/** Milliseconds. A term has few watches, so after an outage each of them may ask the apiserver every few seconds. */
const BACKOFF = { first: 250, most: 4_000 };

/** The watches, in the order in which they are opened. */
const WATCHES = [
  'namespaces',
  'nodes',
  'pods',
  'jobs',
  'fluxJobs',
  'fluxSetups',
  'priorityClasses',
  'runtimeClasses',
  'limitRanges',
  'claims',
  'volumes',
  'storageClasses',
] as const;

/** Those of the workload kinds are opened with that of the Jobs. */
export type Watch = (typeof WATCHES)[number];

/** Milliseconds. The apiserver may not serve a kind for years. */
const KIND_BACKOFF = { first: 1_000, most: 15_000 };

type AnyInformer = Pick<Informer<KubernetesObject>, 'start' | 'stop' | 'replay' | 'lastSync' | 'synced'>;

export class Informers {
  readonly namespaces: Informer<KubernetesObject>;
  /** The Jobs that admission took into the queue. */
  readonly jobs: Informer<Job, WatchedJob>;
  /** The objects of workload kinds that admission took into the queue, by their kind; none as long as the apiserver does not serve it. */
  readonly kinds: ReadonlyMap<string, Informer<KindObject>>;
  /** The objects for which controllers made those of a workload kind, by that kind: who created them. */
  readonly makers: ReadonlyMap<string, Informer<KubernetesObject>>;
  /**
   * All pods of the cluster, indexed by the uids of their `workload`, by their `group`, by their `deployment` once they are bound, and by the `node` whose units they use; also `agents`
   * by their node, and pods that a `scheduler` has placed or refused. Those with required anti-affinity are `repelling`.
   */
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly fluxJobs: Informer<FluxJobObject, WatchedFluxJob>;
  readonly fluxSetups: Informer<FluxSetupObject>;
  readonly priorityClasses: Informer<PriorityClass>;
  readonly runtimeClasses: Informer<RuntimeClass>;
  /** Indexed by their `namespace`. */
  readonly limitRanges: Informer<LimitRange>;
  readonly claims: Informer<PersistentVolumeClaim>;
  /** Indexed by their storage `class`. */
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  /** What the caches share: see ../intern. */
  readonly pool = new InternPool();
  private readonly stopping = new AbortController();

  constructor({ client, logger, time: { clock, random }, podFacts, kinds, metrics }: InformersOptions) {
    const common = (resource: string) => ({
      client,
      logger,
      clock,
      random,
      backoff: BACKOFF,
      onWatchEnd: (end: WatchEnd) => metrics?.watchEnds.inc({ resource, end }),
    });
    const { pool } = this;
    this.namespaces = new Informer<KubernetesObject>({
      ...common('namespaces'),
      dispensable: true,
      path: namespaces(),
      project: ({ metadata }) => ({ metadata: keptMetadata(metadata, pool) }),
    });
    // Most of all events are of pods and Jobs. The apiserver has them in protobuf anyway, for the controllers of Kubernetes.
    this.jobs = jobInformer(common('jobs'), pool);
    this.kinds = new Map(kinds.map((kind) => [kind.kind, kindInformer(kind, common(kind.plural), pool)]));
    this.makers = makerInformers(kinds, common, pool);
    this.pods = new Informer<Pod>({
      ...common('pods'),
      path: pods(),
      protobuf: POD,
      indexes: podIndexes(podFacts),
      project: (pod, before) => projectPod(pod, pool, before),
    });
    this.nodes = new Informer<Node>({ ...common('nodes'), path: nodes(), project: nodeFacts });
    this.fluxJobs = new Informer<FluxJobObject, WatchedFluxJob>({
      ...common('fluxjobs'),
      path: fluxJobs(),
      project: (fluxJob) => projectFluxJob(fluxJob, pool),
    });
    this.fluxSetups = new Informer<FluxSetupObject>({ ...common('fluxsetups'), path: fluxSetups() });
    this.priorityClasses = new Informer<PriorityClass>({
      ...common('priorityclasses'),
      path: priorityClasses(),
    });
    this.runtimeClasses = new Informer<RuntimeClass>({ ...common('runtimeclasses'), path: runtimeClasses() });
    this.limitRanges = new Informer<LimitRange>({
      ...common('limitranges'),
      dispensable: true,
      path: limitRanges(),
      indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
    });
    this.claims = new Informer<PersistentVolumeClaim>({
      ...common('persistentvolumeclaims'),
      path: persistentVolumeClaims(),
      project: (claim) => projectClaim(claim, pool),
    });
    this.volumes = new Informer<PersistentVolume>({
      ...common('persistentvolumes'),
      path: persistentVolumes(),
      indexes: { class: ({ spec }) => [spec.storageClassName ?? ''] },
    });
    this.storageClasses = new Informer<StorageClass>({ ...common('storageclasses'), path: storageClasses() });
  }

  /** Resolves when every resource has been listed once, however long that takes, or when `stop` was called. */
  start(): Promise<void> {
    return this.open(WATCHES);
  }

  /** Opens these watches, unless they are open. Resolves when each has been listed once, or when `stop` was called. */
  async open(watches: readonly Watch[]): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const opened = watches.flatMap((watch) => this.of(watch));
    for (const informer of opened) informer.start();
    if (opened.every(({ lastSync }) => lastSync !== undefined)) return;
    const synced = Promise.all(opened.map((informer) => informer.synced));
    await Promise.race([synced, once(this.stopping.signal, 'abort')]);
  }

  /** Opens the watches of a standby. Nobody waits for them. */
  warmUp(): void {
    for (const informer of this.all()) informer.start();
  }

  /** Whether every resource has been listed. */
  get isSynced(): boolean {
    return this.all().every(({ lastSync }) => lastSync !== undefined);
  }

  /** Reports what is known already to the areas of a new term, as if it were listed now. */
  replay(): void {
    for (const informer of this.all()) informer.replay();
  }

  /** No change is reported any more. The caches keep their contents. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const informer of this.all()) informer.stop();
  }

  private all(): readonly AnyInformer[] {
    return WATCHES.flatMap((watch) => this.of(watch));
  }

  private of(watch: Watch): readonly AnyInformer[] {
    return watch === 'jobs' ? [this.jobs, ...this.kinds.values(), ...this.makers.values()] : [this[watch]];
  }
}

type Common = Pick<
  ReflectorOptions<never, never>,
  'client' | 'logger' | 'clock' | 'random' | 'backoff' | 'onWatchEnd'
>;

function jobInformer(common: Common, pool: InternPool): Informer<Job, WatchedJob> {
  return new Informer<Job, WatchedJob>({
    ...common,
    path: jobs(),
    labelSelector: `${ADMITTED_LABEL}=true`,
    protobuf: JOB,
    project: (job) => projectJob(job, pool),
  });
}

/** Of a kind that the cluster may not serve. */
function dispensable(common: Common, kind: Pick<WorkloadKind, 'group' | 'plural'>) {
  const haveGone = async () => !(await isServed(common.client, kind));
  return { ...common, backoff: KIND_BACKOFF, dispensable: true, haveGone };
}

function kindInformer(kind: WorkloadKind, common: Common, pool: InternPool): Informer<KindObject> {
  return new Informer<KindObject>({
    ...dispensable(common, kind),
    path: kindPath(kind)(),
    labelSelector: `${ADMITTED_LABEL}=true`,
    project: (object) => projectKind(kind, object, pool),
  });
}

function makerInformers(
  kinds: readonly WorkloadKind[],
  common: (resource: string) => Common,
  pool: InternPool,
): Informers['makers'] {
  return new Map(
    kinds.flatMap(({ kind, maker }) =>
      maker === undefined ? [] : [[kind, makerInformer(maker, common(maker.plural), pool)] as const],
    ),
  );
}

function makerInformer(maker: MakerKind, common: Common, pool: InternPool): Informer<KubernetesObject> {
  return new Informer<KubernetesObject>({
    ...dispensable(common, maker),
    path: kindPath(maker)(),
    project: ({ metadata }) => {
      const user = metadata.annotations?.[USER_ANNOTATION];
      const annotations = user === undefined ? {} : { annotations: { [USER_ANNOTATION]: user } };
      return { metadata: { ...keptMetadata(metadata, pool), ...annotations } };
    },
  });
}

function podIndexes(podFacts: PodFacts): Readonly<Record<string, (pod: Pod) => readonly string[]>> {
  return {
    workload: (pod: Pod) => podFacts.workloadUids(pod),
    group: (pod: Pod) => optional(podFacts.group(pod)),
    node: (pod: Pod) => optional(podFacts.usedNode(pod)),
    deployment: (pod: Pod) => (podFacts.usedNode(pod) === undefined ? [] : podFacts.deployments(pod)),
    agents: (pod: Pod) => (isAgent(pod) ? optional(podFacts.usedNode(pod)) : []),
    scheduler: answeringScheduler,
    repelling: ({ spec: { affinity } }: Pod) =>
      affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution === undefined ? [] : ['true'],
  };
}

function optional<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}
