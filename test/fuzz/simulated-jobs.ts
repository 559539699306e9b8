/** The parts of the Job controller that the queue depends on: pods, completion, failure, suspension, deletion. */
import { isDeepStrictEqual } from 'node:util';
import { COMPLETION_INDEX_ANNOTATION, JOB_UID_LABEL } from '../../constructs/api/labels';
import { isTrue } from '../../runtime/kubernetes/conditions';
import { ApiError } from '../../runtime/kubernetes/errors';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { formatIdset } from '../../runtime/resources/idset';
import { isTerminal } from '../../runtime/workloads/adapter';
import { JobRecord } from './job-record';
import { type ObjectStore, timeOf } from './object-store';
import type { SimulatedApiserver } from './simulated-apiserver';

interface JobRules {
  /** Whether a suspended Job keeps its start time. */
  readonly keepsStart: boolean;
  /** Whether pods that somebody else deletes count as failed, and pods that failed are made again later. */
  readonly countsDeleted: boolean;
}

const SUSPENDED = [{ type: 'Suspended', status: 'True' }] as const;

export class SimulatedJobs {
  private readonly records = new Map<string, JobRecord>();
  private created = 0;

  constructor(
    private readonly apiserver: SimulatedApiserver,
    private readonly now: () => number,
    private readonly rules: JobRules,
  ) {}

  private get store(): ObjectStore {
    return this.apiserver.store;
  }

  /** Reconciles one Job once. @param pods its pods */
  sync(job: Job, pods: readonly Pod[]): void {
    for (const pod of pods) this.countEnded(pod);
    this.step(job, pods);
    this.count(`${job.metadata.namespace}/${job.metadata.name}`, job.metadata.uid);
  }

  /** Writes into the status of the Job how many of its pods are not over, and what has succeeded. */
  private count(key: string, uid: string): void {
    const job = this.store.get<Job>('jobs', key);
    if (job?.metadata.uid !== uid) return;
    const pods = this.store
      .list<Pod>('pods')
      .filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === uid && !isTerminal(pod));
    const terminating = pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
    const record = this.recordOf(uid);
    const { succeeded } = record;
    const isIndexed = job.spec.completionMode === 'Indexed';
    const failed = record.failedIndexes(job).map(Number);
    const counted = {
      active: pods.length - terminating,
      terminating,
      succeeded: succeeded.size,
      ...(isIndexed && { completedIndexes: formatIdset([...succeeded].map(Number)) }),
      ...(failed.length > 0 && { failedIndexes: formatIdset(failed) }),
    };
    const nothing = { active: 0, terminating: 0, succeeded: 0, ...(isIndexed && { completedIndexes: '' }) };
    if (isDeepStrictEqual({ ...job.status, ...counted }, { ...nothing, ...job.status })) return;
    this.store.put('jobs', { ...job, status: { ...job.status, ...counted } });
  }

  private step(job: Job, pods: readonly Pod[]): void {
    const record = this.recordOf(job.metadata.uid);
    const live = pods.filter((pod) => !isTerminal(pod));
    if (job.metadata.deletionTimestamp !== undefined) {
      for (const pod of pods) this.remove(pod);
      if (pods.length === 0) this.store.remove('jobs', `${job.metadata.namespace}/${job.metadata.name}`);
      return;
    }
    if (job.status?.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed') === true) return;
    if (job.spec.suspend !== true) this.run(job, live, record);
    // A Job whose pods have all succeeded is complete, also if it is suspended before that is counted.
    else if (record.succeeded.size >= (job.spec.completions ?? 1) && live.length === 0)
      this.end(job, live, 'Complete');
    else this.suspend(job, live);
  }

  /** Deletes the pods of deleted Jobs. */
  collect(): void {
    const uids = new Set<string>();
    for (const { metadata } of this.store.list<Job>('jobs')) uids.add(metadata.uid);
    for (const pod of this.store.list<Pod>('pods')) {
      const owner = pod.metadata.ownerReferences?.[0];
      if (owner?.kind === 'Job' && !uids.has(owner.uid)) this.remove(pod);
    }
  }

  private suspend(job: Job, live: readonly Pod[]): void {
    for (const pod of live) this.remove(pod);
    if (job.status?.startTime === undefined) return;
    const { startTime, ...status } = job.status;
    if (!this.rules.keepsStart) this.store.put('jobs', { ...job, status });
    else if (!isTrue(job.status.conditions, 'Suspended'))
      this.store.put('jobs', { ...job, status: { ...status, startTime, conditions: SUSPENDED } });
  }

  private run(job: Job, live: readonly Pod[], record: JobRecord): void {
    const { succeeded, failed } = record;
    const { completions = 1, activeDeadlineSeconds = Infinity, backoffLimit = 6 } = job.spec;
    const { startTime, conditions, ...status } = job.status ?? {};
    const { maxFailedIndexes = Infinity } = job.spec as { readonly maxFailedIndexes?: number };
    const failedIndexes = record.failedIndexes(job);
    // It counts the deadline from here on.
    if (startTime === undefined || isTrue(conditions, 'Suspended')) {
      this.store.put('jobs', { ...job, status: { ...status, startTime: timeOf(this.now()) } });
      return;
    }
    if (this.now() - Date.parse(startTime) / 1000 >= activeDeadlineSeconds)
      this.end(job, live, 'Failed', 'DeadlineExceeded');
    else if (failed.size > backoffLimit) this.end(job, live, 'Failed', 'BackoffLimitExceeded');
    else if (failedIndexes.length > maxFailedIndexes)
      this.end(job, live, 'Failed', 'MaxFailedIndexesExceeded');
    else if (succeeded.size + failedIndexes.length >= completions && live.length === 0)
      this.end(job, live, failedIndexes.length > 0 ? 'Failed' : 'Complete');
    else this.makePods(job, live, record);
  }

  private makePods(job: Job, notEnded: readonly Pod[], record: JobRecord): void {
    const { completions = 1, parallelism = 1, completionMode, podReplacementPolicy } = job.spec;
    const { succeeded } = record;
    const failed = record.failedIndexes(job);
    const waits = podReplacementPolicy === 'Failed';
    const live = notEnded.filter(({ metadata }) => waits || metadata.deletionTimestamp === undefined);
    const wanted = Math.min(parallelism, completions - succeeded.size - failed.length) - live.length;
    const isDue = (index?: string) => !this.rules.countsDeleted || record.mayRetry(job, index, this.now());
    for (const pod of live.slice(live.length + Math.min(0, wanted))) this.remove(pod);
    if (completionMode !== 'Indexed') {
      if (isDue()) for (let i = 0; i < wanted; i++) this.makePod(job);
      return;
    }
    const taken = new Set([...succeeded, ...failed, ...live.map(indexOf)]);
    const free = Array.from({ length: completions }, (_, i) => String(i)).filter(
      (index) => !taken.has(index),
    );
    // The first indexes without a pod are next, and none after them comes in place of one that waits for its retry.
    for (const index of free.slice(0, Math.max(0, wanted)).filter(isDue)) this.makePod(job, index);
  }

  private makePod(job: Job, index?: string): void {
    const { template } = job.spec;
    const { uid, name, namespace = '' } = job.metadata;
    const record = this.recordOf(uid);
    const annotations = {
      ...template.metadata?.annotations,
      ...record.endOf(job, index),
      ...(index !== undefined && { [COMPLETION_INDEX_ANNOTATION]: index }),
    };
    record.made += 1;
    this.create(podPath(namespace), {
      metadata: {
        name: `${name}-${this.created++}`,
        annotations,
        labels: { ...template.metadata?.labels, [JOB_UID_LABEL]: uid },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
      },
      spec: template.spec,
      status: { phase: 'Pending' },
    });
  }

  /** Admission may refuse the pod: then the Job controller tries again. */
  private create(path: string, pod: object): void {
    try {
      this.apiserver.create(path, pod);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  private end(job: Job, live: readonly Pod[], type: 'Complete' | 'Failed', reason?: string): void {
    for (const pod of live) this.remove(pod);
    if (live.length > 0) return;
    const condition = {
      type,
      status: 'True' as const,
      lastTransitionTime: timeOf(this.now()),
      ...(reason !== undefined && { reason }),
    };
    this.store.put('jobs', { ...job, status: { ...job.status, conditions: [condition] } });
  }

  private remove({ metadata: { namespace, name, uid, ownerReferences } }: Pod): void {
    this.recordOf(ownerReferences?.[0]?.uid ?? '').removed.add(uid);
    this.apiserver.delete(podPath(namespace, name));
  }

  /** Counts a pod of a Job that has ended. Kubernetes removes no such pod before its Job controller has done this. */
  countEnded(pod: Pod): void {
    const [owner] = pod.metadata.ownerReferences ?? [];
    if (owner?.kind !== 'Job') return;
    const record = this.recordOf(owner.uid);
    const { uid, deletionTimestamp } = pod.metadata;
    if (this.rules.countsDeleted && (record.removed.has(uid) || record.failed.has(uid))) return;
    if (pod.status?.phase === 'Succeeded') {
      record.succeed(indexOf(pod));
      this.apiserver.progressed.add(owner.uid);
    } else if (pod.status?.phase === 'Failed') record.fail(pod, this.now());
    else if (this.rules.countsDeleted && deletionTimestamp !== undefined && this.replacesEnding(pod))
      record.fail(pod, this.now());
  }

  /** Counts a pod of a Job that is gone: one that had not ended has failed, unless the Job controller deleted it. */
  countGone(pod: Pod): void {
    this.countEnded(pod);
    const [owner] = pod.metadata.ownerReferences ?? [];
    if (owner?.kind !== 'Job' || !this.rules.countsDeleted || isTerminal(pod)) return;
    const record = this.recordOf(owner.uid);
    if (!record.removed.has(pod.metadata.uid)) record.fail(pod, this.now());
  }

  private replacesEnding({ metadata }: Pod): boolean {
    const key = `${metadata.namespace}/${metadata.ownerReferences?.[0]?.name}`;
    return this.store.get<Job>('jobs', key)?.spec.podReplacementPolicy !== 'Failed';
  }

  private recordOf(uid: string): JobRecord {
    const record = this.records.get(uid) ?? new JobRecord();
    this.records.set(uid, record);
    return record;
  }
}

function indexOf({ metadata }: Pod): string {
  return metadata.annotations?.[COMPLETION_INDEX_ANNOTATION] ?? metadata.uid;
}
