/** Turns a user's object into a submission: settings, queue, walltime, priority, jobspec. */
import { isDeepStrictEqual } from 'node:util';
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { MINICLUSTER_DEADLINE_SECONDS } from '../../constructs/api/queue-defaults';
import type { Config } from '../config';
import { FluxqError, messageOf } from '../errors';
import type { ClusterFacts } from '../jobspec/constraints';
import { jobspecOf, shapeOf } from '../jobspec/jobspec';
import { type RuntimeClassFields, withRuntimeClass } from '../jobspec/runtime-class';
import type { Jobspec } from '../jobspec/types';
import type { StorageFacts } from '../jobspec/volumes';
import type { KubernetesObject, ObjectMeta } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { QueueSettings } from '../queue/settings';
import type { Predecessor, Submission, SubmissionUpdate, WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { ENDLESS_SECONDS } from '../resources/endless';
import type { QueueChoice } from '../shared/queues';
import { type Demand, secondsOf, type WorkloadAdapter } from './adapter';
import { elasticPodSettings } from './elastic-pod';
import { reductionsOf } from './reductions';
import { type WorkloadSettings, workloadSettings } from './settings';

/** User names of ServiceAccounts begin with this. */
const SERVICE_ACCOUNT = 'system:serviceaccount:';

export interface SubmissionBuilderOptions {
  readonly workloadCache: WorkloadCache;
  readonly queues: QueueChoice;
  /** The value of a PriorityClass; without a name, the value of the cluster's default class. */
  readonly priorityOf: (className: string | undefined) => number | undefined;
  readonly units: Config['units'];
  /** The current labels and taints of the nodes, from which constraints are written. */
  readonly clusterFacts: () => ClusterFacts;
  /** The RuntimeClass with this name. */
  readonly runtimeClassOf: (name: string) => RuntimeClassFields | undefined;
  readonly storage: StorageFacts;
  /** Called for a workload that cannot be queued because its settings or its pod template are invalid. */
  readonly onInvalid: (object: KubernetesObject, adapter: WorkloadAdapter, message: string) => void;
  /** Called for a workload that gets less than it asks for. */
  readonly onReduced: (object: KubernetesObject, adapter: WorkloadAdapter, message: string) => void;
  readonly logger: Logger;
}

export class SubmissionBuilder {
  /** Objects that ask for what their row says. A watch delivers a new object for each change. */
  private readonly compared = new WeakSet<KubernetesObject>();

  constructor(private readonly options: SubmissionBuilderOptions) {}

  /** Queues the workload, in the place of its predecessor if it has one. Returns undefined if it has a row already or is invalid. */
  async submit(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    predecessor?: Predecessor,
  ): Promise<WorkloadRow | undefined> {
    const submission = this.submissionOf(object, adapter, undefined);
    if (submission === undefined) return undefined;
    const row = await this.options.workloadCache.submit({ ...submission, ...predecessor });
    if (row === undefined) return undefined;
    this.compared.add(object);
    this.reportReductions(object, adapter, submission);
    return row;
  }

  /** What the user changed since the workload was queued; undefined if nothing changed. */
  changeOf(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
  ): SubmissionUpdate | undefined {
    const wanted = this.submissionOf(object, adapter, row.queue);
    if (wanted === undefined) return undefined;
    const update = mutableFields(wanted);
    // The shape identifies the jobspec. A jobspec from Postgres has its keys in another order, so it is not compared.
    const known = { ...mutableFields(row), jobspec: wanted.jobspec };
    const isReducedAsBefore = isDeepStrictEqual(reducedIn(wanted), reducedIn(row));
    if (!isReducedAsBefore) this.reportReductions(object, adapter, wanted);
    if (!isReducedAsBefore || !isDeepStrictEqual(update, known)) return update;
    this.compared.add(object);
    return undefined;
  }

  private reportReductions(object: KubernetesObject, adapter: WorkloadAdapter, submission: Submission): void {
    const reduced = reducedIn(submission);
    if (reduced.length > 0) this.options.onReduced(object, adapter, reduced.join('; '));
  }

  /** Whether the object still asks for what was granted: its user can change it between grant and release. */
  asksForGrant(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): boolean {
    if (this.compared.has(object)) return true;
    const wanted = this.submissionOf(object, adapter, row.queue);
    return wanted !== undefined && isDeepStrictEqual(grantedFields(wanted), grantedFields(row));
  }

  /** The submission of the workload as it is now; undefined if the workload is invalid. */
  submissionOf(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    current: string | undefined,
  ): Submission | undefined {
    try {
      return this.build(object, adapter, current);
    } catch (error) {
      if (!(error instanceof FluxqError)) throw error;
      this.options.logger.warn(
        { workload: object.metadata.name, error: messageOf(error) },
        'invalid workload',
      );
      this.options.onInvalid(object, adapter, error.message);
      return undefined;
    }
  }

  private build(object: KubernetesObject, adapter: WorkloadAdapter, current: string | undefined): Submission {
    const { queues, units, clusterFacts, runtimeClassOf, storage } = this.options;
    const { metadata } = object;
    const { namespace = '' } = metadata;
    const elastic = elasticPodSettings(object, (uid) => this.options.workloadCache.byUid(uid));
    const settings = elastic ?? workloadSettings(metadata);
    const demand = adapter.demand(object);
    const queue = elastic?.queue ?? queues.queueOf({ namespace, requested: settings.queue, current });
    const plan = queues.planOf(queue);
    const walltime = walltimeOf(settings, demand, plan);
    const priority = settings.priority ?? this.classPriority(demand);
    const { queue: requested } = settings;
    const isRefused = elastic === undefined && queues.refusesStackQueue({ namespace, requested });
    const wishes = {
      walltime: settings.walltimeSeconds ?? chosenDeadline(demand),
      priority,
      refusedQueue: isRefused ? requested : undefined,
    };
    const jobspec = jobspecOf({
      pod: withRuntimeClass(demand.spec, runtimeClassOf),
      self: { namespace, labels: demand.labels },
      storage,
      podName: adapter.kind === 'Pod' ? metadata.name : undefined,
      field: demand.field,
      pods: Math.max(1, demand.pods),
      walltime,
      exclusive: settings.exclusive,
      units,
      cluster: clusterFacts(),
    });
    return {
      uid: metadata.uid,
      kind: adapter.kind,
      namespace,
      name: metadata.name,
      queue,
      priority: clamp(priority, plan),
      submittedAt: secondsOf(metadata.creationTimestamp),
      walltime,
      pods: demand.pods,
      jobspec: withReductions(jobspec, reductionsOf(wishes, plan, queue)),
      shape: shapeOf(jobspec),
      // Without pods there is nothing to schedule: the workload is held until its user adds pods.
      held: settings.hold || demand.pods === 0,
      user: elastic?.user ?? this.userOf(metadata),
      after: settings.after,
      preemptible: settings.preemptible,
    };
  }

  private classPriority({ priority, spec }: Demand): number {
    return priority ?? this.options.priorityOf(spec.priorityClassName) ?? 0;
  }

  /**
   * The person that admission recorded. What a controller or a ServiceAccount created belongs to its namespace: otherwise
   * whoever may create ServiceAccounts had the limits of a user once for each.
   */
  private userOf({ annotations, namespace = '' }: ObjectMeta): string {
    const user = annotations?.[USER_ANNOTATION] ?? '';
    return user === '' || user.startsWith(SERVICE_ACCOUNT) ? `namespace:${namespace}` : user;
  }
}

/** The maximum of its queue does not shorten a service: nobody would enforce it. */
function walltimeOf(
  { walltimeSeconds }: Pick<WorkloadSettings, 'walltimeSeconds'>,
  { deadlineSeconds, isService }: Demand,
  plan: QueueSettings,
): number {
  const requested = walltimeSeconds ?? deadlineSeconds;
  if (requested === undefined && isService) return ENDLESS_SECONDS;
  return Math.min(requested ?? plan.defaultWalltimeSeconds, plan.maxWalltimeSeconds);
}

function clamp(priority: number, { priority: { min, max } }: QueueSettings): number {
  return Math.min(max, Math.max(min, priority));
}

/** The fields that a user may change while the workload waits. */
function mutableFields(submission: Submission): SubmissionUpdate {
  const { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible } = submission;
  return { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible };
}

/** The fields on which the grant is based. The shape identifies the jobspec. */
function grantedFields({ queue, walltime, pods, shape, held }: Submission) {
  return { queue, walltime, pods, shape, held };
}

function withReductions(jobspec: Jobspec, reduced: readonly string[]): Jobspec {
  if (reduced.length === 0) return jobspec;
  const { attributes } = jobspec;
  return { ...jobspec, attributes: { ...attributes, user: { ...attributes.user, reduced } } };
}

function reducedIn({ jobspec }: Pick<Submission, 'jobspec'>): readonly string[] {
  return jobspec.attributes.user?.reduced ?? [];
}

/** Nobody chose the default of MiniClusters. */
function chosenDeadline({ deadlineSeconds }: Demand): number | undefined {
  return deadlineSeconds === MINICLUSTER_DEADLINE_SECONDS ? undefined : deadlineSeconds;
}
