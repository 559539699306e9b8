/** Turns a user's object into a submission: settings, queue, walltime, priority, jobspec. */
import { isDeepStrictEqual } from 'node:util';
import { FluxqError, messageOf } from '../errors';
import type { ClusterFacts } from '../jobspec/constraints';
import { invalidJobspec, type JobspecOptions, jobspecOf, shapeOf } from '../jobspec/jobspec';
import { withLimitRanges } from '../jobspec/limit-range';
import type { PodSpec } from '../jobspec/pod';
import { gangOf, meetsConstraints, type SetJobspec, withoutConstraints } from '../jobspec/pod-sets';
import { withRuntimeClass } from '../jobspec/runtime-class';
import type { Jobspec } from '../jobspec/types';
import type { KubernetesObject } from '../kubernetes/types';
import type { QueueSettings } from '../queue/settings';
import {
  askedBy,
  type Predecessor,
  type Submission,
  type SubmissionUpdate,
  type WorkloadRow,
} from '../queue/workload';
import { identityOf } from '../shared/pod-facts';
import { type ActiveWorkload, secondsOf, type WorkloadAdapter } from './adapter';
import {
  chosenDeadline,
  type Demand,
  type PodSet,
  podsOf,
  walltimeOf,
  withDeadline,
  withGroupState,
} from './demand';
import { elasticPodSettings } from './elastic-pod';
import { type Template, withAdded } from './injected';
import { InjectedCharges } from './injected-charges';
import { withOwners } from './owner-settings';
import { reductionsOf } from './reductions';
import { rowUserOf } from './row-user';
import { podSettings, workloadSettings } from './settings';
import { notesSame, reducedIn, withNotes } from './submission-notes';
import type { SubmissionBuilderOptions } from './submission-options';

export class SubmissionBuilder {
  /** Objects that ask for what their row says, by these facts. A watch delivers a new object for each change. */
  private readonly comparedBy = new WeakMap<ClusterFacts, WeakSet<KubernetesObject>>();
  /** What webhooks add to the pods of Jobs. */
  readonly charges: InjectedCharges;

  constructor(private readonly options: SubmissionBuilderOptions) {
    this.charges = new InjectedCharges((...given) => this.podOf(...given), options.mutationsFor);
  }

  /**
   * Queues the workload, in the place of its predecessor if it has one. An invalid workload is queued too, so that its
   * FluxJob tells its user why it waits. Returns undefined if it has a row already.
   * @param predecessor Only what asks for the same in the same queue takes the place: else a changed template would jump a queue
   */
  async submit(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    predecessor?: Predecessor,
  ): Promise<WorkloadRow | undefined> {
    const submission = this.judge(object, adapter, undefined);
    const { uid, asked, ...place } = predecessor ?? {};
    const own = askedBy(submission);
    const row = await this.options.workloadCache.submit({
      ...submission,
      ...(isDeepStrictEqual({ ...own, ...asked }, own) && place),
      ...(uid !== undefined && { predecessor: uid }),
    });
    if (row === undefined) return undefined;
    this.compared.add(object);
    this.reportInvalid(object, adapter, submission);
    this.reportReductions(object, adapter, submission);
    return row;
  }

  /** What the user changed since the workload was queued; undefined if nothing changed. */
  changeOf(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
  ): SubmissionUpdate | undefined {
    const wanted = this.judge(object, adapter, row.queue);
    const update = mutableFields(wanted);
    // The shape identifies the jobspec. A jobspec from Postgres has its keys in another order, so it is not compared.
    const known = { ...mutableFields(row), jobspec: wanted.jobspec };
    const isReducedAsBefore = isDeepStrictEqual(reducedIn(wanted), reducedIn(row));
    // A grant stays what it is if only another part of the wish is cut away.
    const isNoted = isReducedAsBefore || row.phase !== 'Waiting';
    if (isNoted && notesSame(wanted, row) && isDeepStrictEqual(update, known)) {
      this.compared.add(object);
      return undefined;
    }
    if (!isReducedAsBefore) this.reportReductions(object, adapter, wanted);
    this.reportInvalid(object, adapter, wanted);
    return hasProgressed(wanted, row, () => adapter.demand(object))
      ? { ...update, progressed: true }
      : update;
  }

  private reportReductions(object: KubernetesObject, adapter: WorkloadAdapter, submission: Submission): void {
    const reduced = reducedIn(submission);
    if (reduced.length > 0) this.options.onReduced(object, adapter, reduced.join('; '));
  }

  /** A label of nodes has another value since the comparison: what was granted may not suit any more. */
  private get compared(): WeakSet<KubernetesObject> {
    const facts = this.options.clusterFacts();
    const compared = this.comparedBy.get(facts) ?? new WeakSet();
    this.comparedBy.set(facts, compared);
    return compared;
  }

  /** Whether the object still asks for what was granted: its user can change it between grant and release. */
  asksForGrant(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): boolean {
    if (this.compared.has(object)) return this.isOnItsNodes(row.jobspec, row);
    const wanted = this.submissionOf(object, adapter, row.queue);
    return wanted !== undefined && this.suitsGrant(wanted, row);
  }

  /**
   * Nodes get other taints and labels after a grant, and constraints may name the values of labels: what counts is that the
   * granted nodes meet what the workload asks for now.
   */
  private suitsGrant({ jobspec, ...wanted }: Submission, row: WorkloadRow): boolean {
    return (
      isDeepStrictEqual(
        grantedFields({ ...wanted, shape: unconstrainedShape(jobspec) }),
        grantedFields({ ...row, shape: unconstrainedShape(row.jobspec) }),
      ) && this.isOnItsNodes(jobspec, row)
    );
  }

  /** Whether the granted nodes, as they are now, may have the pods that are asked for. */
  private isOnItsNodes(jobspec: Jobspec, { allocation }: WorkloadRow): boolean {
    return meetsConstraints(jobspec, allocation?.nodes ?? [], this.options.nodeOf);
  }

  /** The submission of the workload as it is now; undefined if the workload is invalid. */
  submissionOf(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    current: string | undefined,
  ): Submission | undefined {
    const submission = this.judge(object, adapter, current);
    return isInvalid(submission) ? undefined : submission;
  }

  /** What would be queued if the object were created now, also if it is invalid. */
  preview(object: KubernetesObject, adapter: WorkloadAdapter): Submission {
    return this.judge(object, adapter, undefined);
  }

  /** Whatever an object contains, judging it throws nothing: it would be judged again and again. */
  private judge(object: KubernetesObject, adapter: WorkloadAdapter, current: string | undefined): Submission {
    try {
      return this.build(object, adapter, current);
    } catch (error) {
      const { logger, units } = this.options;
      const isExpected = error instanceof FluxqError;
      const { namespace, name } = object.metadata;
      if (!isExpected) logger.error({ workload: name, namespace, err: error }, 'cannot read a workload');
      const message = isExpected ? error.message : `the queue cannot read it: ${messageOf(error)}`;
      return this.identified(object, adapter, current, { pods: 1, jobspec: invalidJobspec(message, units) });
    }
  }

  /** A submission that only says which workload it is, in the queue of its namespace. */
  private identified(
    object: KubernetesObject,
    { kind }: WorkloadAdapter,
    current: string | undefined,
    { pods, jobspec }: Pick<Submission, 'pods' | 'jobspec'>,
  ): Submission {
    const { metadata } = object;
    const { namespace = '', uid, name, creationTimestamp } = metadata;
    const submittedAt = secondsOf(creationTimestamp);
    return {
      uid,
      kind,
      namespace,
      name,
      queue: this.options.queues.queueOf({ namespace, requested: undefined, current }),
      priority: 0,
      submittedAt: Number.isFinite(submittedAt) ? submittedAt : 0,
      walltime: jobspec.attributes.system.duration,
      pods,
      jobspec,
      shape: shapeOf(jobspec),
      held: false,
      user: this.userOf(kind, object),
      after: [],
      preemptible: false,
    };
  }

  private reportInvalid(object: KubernetesObject, adapter: WorkloadAdapter, { jobspec }: Submission): void {
    const message = jobspec.attributes.user?.invalid;
    if (message === undefined) return;
    this.options.logger.warn({ workload: object.metadata.name, error: message }, 'invalid workload');
    this.options.onInvalid(object, adapter, message);
  }

  private build(object: KubernetesObject, adapter: WorkloadAdapter, current: string | undefined): Submission {
    const { queues } = this.options;
    const { metadata } = object;
    const { namespace = '' } = metadata;
    const elastic = elasticPodSettings(object, (uid) => this.options.workloadCache.byUid(uid));
    const owners = adapter.kind === 'Pod' ? this.options.owners?.of(object) : undefined;
    const own = () => (adapter.podsExist ? podSettings(metadata) : workloadSettings(metadata));
    const settings = elastic ?? withOwners(own(), owners);
    const demand = withDeadline(adapter.demand(object), owners?.deadlineSeconds);
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
    const pods = podsOf(demand);
    const { exclusive } = settings;
    const asked = this.jobspecFor(object, adapter, demand, { walltime, exclusive });
    const until = secondsOf(metadata.creationTimestamp) + this.options.groupSeconds;
    const jobspec = withGroupState(asked, demand, until);
    const added = this.charges.of(demand.podSets[0], namespace, adapter);
    return {
      uid: metadata.uid,
      kind: adapter.kind,
      namespace,
      name: metadata.name,
      queue,
      priority: clamp(priority, plan),
      submittedAt: secondsOf(metadata.creationTimestamp),
      walltime,
      pods,
      jobspec: withNotes(jobspec, { ...settings, reduced: reductionsOf(wishes, plan, queue) }, added),
      shape: shapeOf(jobspec),
      // Without pods there is nothing to schedule: the workload is held until its user adds pods.
      // An earlier version knows no other way to keep it from starting.
      held: settings.hold || pods === 0 || demand.incomplete !== undefined,
      user: elastic?.user ?? this.userOf(adapter.kind, object),
      after: settings.after,
      preemptible: settings.preemptible,
    };
  }

  private userOf(kind: string, object: KubernetesObject): string {
    return rowUserOf((this.options.creatorOf?.(kind, object) ?? object).metadata);
  }

  private jobspecFor(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    { podSets: [first, ...others] }: Demand,
    asked: Pick<JobspecOptions, 'walltime' | 'exclusive'>,
  ): Jobspec {
    const { units, clusterFacts, storage } = this.options;
    const { namespace = '' } = object.metadata;
    const request = (podSet: PodSet): SetJobspec => {
      const { name, count, labels, field, podName } = podSet;
      const traits = { namespace, labels };
      const jobspec = jobspecOf({
        ...asked,
        pod: withAdded(this.podOf(podSet, namespace, adapter), this.charges.of(podSet, namespace, adapter)),
        self: traits,
        storage,
        podName,
        gates: adapter.gates(object, this.options.podsOf?.(identityOf(adapter.kind, object)) ?? []),
        field,
        pods: Math.max(1, count),
        array: !adapter.isGang(object),
        units,
        cluster: clusterFacts(),
      });
      return { name, traits, jobspec };
    };
    return gangOf([request(first), ...others.map(request)]);
  }

  /** The pods as the apiserver will store them. It has stored a pod already. */
  private podOf({ spec }: PodSet, namespace: string, { podsExist }: WorkloadAdapter): PodSpec {
    const { runtimeClassOf, limitRangesOf } = this.options;
    const pod = withRuntimeClass(spec, runtimeClassOf);
    return podsExist ? pod : withLimitRanges(pod, limitRangesOf(namespace));
  }

  /** Compares the first pod of a grant with its template: from now on, Jobs with it are charged what that pod requests. */
  learn(workload: ActiveWorkload): void {
    if (this.charges.learn(workload)) this.reportLearned(workload.object.metadata.namespace ?? '');
  }

  /** Compares a pod of a dry run with its template, as {@link learn}. @param version of what made it of the template */
  expect(template: Template, pod: PodSpec, version: string): void {
    if (this.charges.expect(template, pod, version)) this.reportLearned(template.namespace);
  }

  private reportLearned(namespace: string): void {
    this.options.logger.info({ namespace }, 'pods request something else than their template: learned');
    this.options.onLearned?.(namespace);
  }

  private classPriority({ priority, podSets: [{ spec }] }: Demand): number {
    return priority ?? this.options.priorityOf(spec.priorityClassName) ?? 0;
  }
}

function clamp(priority: number, { priority: { min, max } }: QueueSettings): number {
  return Math.min(max, Math.max(min, priority));
}

function isInvalid({ jobspec }: Submission): boolean {
  return jobspec.attributes.user?.invalid !== undefined;
}

/** Whether it asks for fewer pods because tasks of it are done, and not because its user wants fewer. */
function hasProgressed(wanted: Submission, { pods }: WorkloadRow, demand: () => Demand): boolean {
  return !isInvalid(wanted) && wanted.pods < pods && demand().isRemainder === true;
}

/** The fields that a user may change while the workload waits. */
function mutableFields(submission: Submission): SubmissionUpdate {
  const { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible } = submission;
  return { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible };
}

/** The fields on which the grant is based. The shape identifies the jobspec. */
function grantedFields({ queue, walltime, pods, shape, held }: Omit<Submission, 'jobspec'>) {
  return { queue, walltime, pods, shape, held };
}

/** The shape of the request as it is on any node. */
function unconstrainedShape(jobspec: Jobspec): string {
  return shapeOf(withoutConstraints(jobspec));
}
