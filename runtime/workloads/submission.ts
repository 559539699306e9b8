/** From a workload as its user wrote it to a submission: settings, queue, walltime, priority, jobspec. */
import { isDeepStrictEqual } from 'node:util';
import { USER_ANNOTATION } from '../../constructs/api/labels';
import type { Config } from '../config';
import { FluxqError, messageOf } from '../errors';
import type { ClusterFacts } from '../jobspec/constraints';
import { jobspecOf, shapeOf } from '../jobspec/jobspec';
import type { KubernetesObject, ObjectMeta } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { QueueSettings } from '../queue/settings';
import type { Submission, SubmissionUpdate, WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { QueueChoice } from '../shared/queues';
import { type Demand, secondsOf, type WorkloadAdapter } from './adapter';
import { joiningSettings } from './elastic-pod';
import { workloadSettings } from './settings';

export interface SubmissionBuilderOptions {
  readonly workloadCache: WorkloadCache;
  readonly queues: QueueChoice;
  /** Value of a PriorityClass; without a name, of the cluster's default one. */
  readonly priorityOf: (className: string | undefined) => number | undefined;
  /** Namespace of the stack: what its ServiceAccounts make is nobody's own. */
  readonly stackNamespace: string;
  readonly units: Config['units'];
  /** Labels and taints of the nodes as they are now: constraints are written with them. */
  readonly clusterFacts: () => ClusterFacts;
  /** A workload that can't be queued as it is written. */
  readonly onInvalid: (object: KubernetesObject, adapter: WorkloadAdapter, message: string) => void;
  readonly logger: Logger;
}

export class SubmissionBuilder {
  constructor(private readonly options: SubmissionBuilderOptions) {}

  /** The new row; undefined when there was one already or the workload is invalid. */
  async submit(object: KubernetesObject, adapter: WorkloadAdapter): Promise<WorkloadRow | undefined> {
    const submission = this.submissionOf(object, adapter, undefined);
    return submission === undefined ? undefined : this.options.workloadCache.submit(submission);
  }

  /** What its user changed since it was queued; undefined when nothing. */
  changeOf(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
  ): SubmissionUpdate | undefined {
    const wanted = this.submissionOf(object, adapter, row.queue);
    if (wanted === undefined) return undefined;
    const update = changeable(wanted);
    // Equal shapes ask for the same; a jobspec from Postgres has its keys in another order.
    const known = { ...changeable(row), jobspec: wanted.jobspec };
    return isDeepStrictEqual(update, known) ? undefined : update;
  }

  /** As it would be submitted; undefined when it can't be. */
  submissionOf(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    current: string | undefined,
  ): Submission | undefined {
    try {
      return this.read(object, adapter, current);
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

  private read(object: KubernetesObject, adapter: WorkloadAdapter, current: string | undefined): Submission {
    const { queues, units, clusterFacts } = this.options;
    const { metadata } = object;
    const { namespace = '' } = metadata;
    const settings =
      joiningSettings(object, (uid) => this.options.workloadCache.byUid(uid)) ?? workloadSettings(metadata);
    const demand = adapter.demand(object);
    const queue = queues.queueOf({ namespace, asked: settings.queue, current });
    const plan = queues.planOf(queue);
    const asked = settings.walltimeSeconds ?? demand.deadlineSeconds ?? plan.defaultWalltimeSeconds;
    const walltime = Math.min(asked, plan.maxWalltimeSeconds);
    const jobspec = jobspecOf({
      pod: demand.spec,
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
      priority: clamped(settings.priority ?? this.classPriority(demand), plan),
      submittedAt: secondsOf(metadata.creationTimestamp),
      walltime,
      pods: demand.pods,
      jobspec,
      shape: shapeOf(jobspec),
      // Nothing to schedule: it waits until its user gives it pods.
      held: settings.hold || demand.pods === 0,
      user: this.userOf(metadata),
      after: settings.after,
      preemptible: settings.preemptible,
    };
  }

  private classPriority({ priority, spec }: Demand): number {
    return priority ?? this.options.priorityOf(spec.priorityClassName) ?? 0;
  }

  /** Whom admission saw; what a controller made is its namespace's. */
  private userOf({ annotations, namespace = '' }: ObjectMeta): string {
    const user = annotations?.[USER_ANNOTATION] ?? '';
    const isOurs = user.startsWith(`system:serviceaccount:${this.options.stackNamespace}:`);
    return user === '' || isOurs ? `namespace:${namespace}` : user;
  }
}

function clamped(priority: number, { priority: { min, max } }: QueueSettings): number {
  return Math.min(max, Math.max(min, priority));
}

/** What its user may change while it waits. */
function changeable(given: Submission): SubmissionUpdate {
  const { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible } = given;
  return { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible };
}
