/** From a workload as its user wrote it to a submission: settings, walltime, jobspec. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config';
import { FluxqError, messageOf } from '../errors';
import type { ClusterFacts } from '../jobspec/constraints';
import { jobspecOf, shapeOf } from '../jobspec/jobspec';
import type { KubernetesObject } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { Ledger } from '../queue/ledger';
import type { Submission, SubmissionUpdate, WorkloadRow } from '../queue/types';
import { secondsOf, type WorkloadAdapter } from '../workloads/adapter';
import { workloadSettings } from '../workloads/settings';
import { joiningSettings } from './joining';

export interface IntakeOptions {
  readonly ledger: Ledger;
  readonly queue: Config['queue'];
  readonly units: Config['units'];
  /** Labels and taints of the nodes as they are now: constraints are written with them. */
  readonly clusterFacts: () => ClusterFacts;
  /** A workload that can't be queued as it is written. */
  readonly onInvalid: (object: KubernetesObject, adapter: WorkloadAdapter, message: string) => void;
  readonly logger: Logger;
}

export class Intake {
  constructor(private readonly options: IntakeOptions) {}

  /** The new row; undefined when there was one already or the workload is invalid. */
  async submit(object: KubernetesObject, adapter: WorkloadAdapter): Promise<WorkloadRow | undefined> {
    const submission = this.submissionOf(object, adapter);
    return submission === undefined ? undefined : this.options.ledger.submit(submission);
  }

  /** What its user changed since it was queued; undefined when nothing. */
  changeOf(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
  ): SubmissionUpdate | undefined {
    const wanted = this.submissionOf(object, adapter);
    if (wanted === undefined) return undefined;
    const update = changeable(wanted);
    // Equal shapes ask for the same; a jobspec from Postgres has its keys in another order.
    const known = { ...changeable(row), jobspec: wanted.jobspec };
    return isDeepStrictEqual(update, known) ? undefined : update;
  }

  private submissionOf(object: KubernetesObject, adapter: WorkloadAdapter): Submission | undefined {
    try {
      return this.read(object, adapter);
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

  private read(object: KubernetesObject, adapter: WorkloadAdapter): Submission {
    const { queue, units, clusterFacts } = this.options;
    const { metadata } = object;
    const settings =
      joiningSettings(object, (uid) => this.options.ledger.byUid(uid)) ?? workloadSettings(metadata);
    const demand = adapter.demand(object);
    const asked = settings.walltimeSeconds ?? demand.deadlineSeconds ?? queue.defaultWalltimeSeconds;
    const walltime = Math.min(asked, queue.maxWalltimeSeconds);
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
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      queue: settings.queue ?? queue.name,
      priority: settings.priority,
      submittedAt: secondsOf(metadata.creationTimestamp),
      walltime,
      pods: demand.pods,
      jobspec,
      shape: shapeOf(jobspec),
      // Nothing to schedule: it waits until its user gives it pods.
      held: settings.hold || demand.pods === 0,
      user: `namespace:${metadata.namespace ?? ''}`,
      after: settings.after.map((name) => ({ type: 'afterok', name })),
      preemptible: false,
    };
  }
}

/** What its user may change while it waits. */
function changeable(given: Submission): SubmissionUpdate {
  const { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible } = given;
  return { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible };
}
