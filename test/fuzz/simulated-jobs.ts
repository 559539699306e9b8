/** The parts of the Job controller that the queue depends on: pods, completion, failure, suspension, deletion. */
import { isDeepStrictEqual } from 'node:util';
import { COMPLETION_INDEX_ANNOTATION, JOB_UID_LABEL } from '../../constructs/api/labels';
import { isTrue } from '../../runtime/kubernetes/conditions';
import { ApiError } from '../../runtime/kubernetes/errors';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { formatIdset } from '../../runtime/resources/idset';
import { isTerminal } from '../../runtime/workloads/adapter';
import { type ObjectStore, timeOf } from './object-store';
import type { SimulatedApiserver } from './simulated-apiserver';

/** The finished pods of a Job, also after their deletion (in Kubernetes: finalizers and status). */
interface JobRecord {
  /** Completion indexes, or uids of pods without an index. */
  readonly succeeded: Set<string>;
  readonly failed: Set<string>;
}

const SUSPENDED = [{ type: 'Suspended', status: 'True' }] as const;

export class SimulatedJobs {
  private readonly records = new Map<string, JobRecord>();
  private created = 0;

  constructor(
    private readonly apiserver: SimulatedApiserver,
    private readonly now: () => number,
    /** Whether a suspended Job keeps its start time. */
    private readonly keepsStart: boolean,
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
    const { succeeded } = this.recordOf(uid);
    const isIndexed = job.spec.completionMode === 'Indexed';
    const counted = {
      active: pods.length - terminating,
      terminating,
      succeeded: succeeded.size,
      ...(isIndexed && { completedIndexes: formatIdset([...succeeded].map(Number)) }),
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
    if (!this.keepsStart) this.store.put('jobs', { ...job, status });
    else if (!isTrue(job.status.conditions, 'Suspended'))
      this.store.put('jobs', { ...job, status: { ...status, startTime, conditions: SUSPENDED } });
  }

  private run(job: Job, live: readonly Pod[], { succeeded, failed }: JobRecord): void {
    const { completions = 1, activeDeadlineSeconds = Infinity, backoffLimit = 6 } = job.spec;
    const { startTime, conditions, ...status } = job.status ?? {};
    // It counts the deadline from here on.
    if (startTime === undefined || isTrue(conditions, 'Suspended')) {
      this.store.put('jobs', { ...job, status: { ...status, startTime: timeOf(this.now()) } });
      return;
    }
    if (this.now() - Date.parse(startTime) / 1000 >= activeDeadlineSeconds)
      this.end(job, live, 'Failed', 'DeadlineExceeded');
    else if (failed.size > backoffLimit) this.end(job, live, 'Failed', 'BackoffLimitExceeded');
    else if (succeeded.size >= completions && live.length === 0) this.end(job, live, 'Complete');
    else this.makePods(job, live, succeeded);
  }

  private makePods(job: Job, notEnded: readonly Pod[], succeeded: ReadonlySet<string>): void {
    const { completions = 1, parallelism = 1, completionMode, podReplacementPolicy } = job.spec;
    const waits = podReplacementPolicy === 'Failed';
    const live = notEnded.filter(({ metadata }) => waits || metadata.deletionTimestamp === undefined);
    const wanted = Math.min(parallelism, completions - succeeded.size) - live.length;
    if (completionMode !== 'Indexed') {
      for (let i = 0; i < wanted; i++) this.makePod(job);
      return;
    }
    const taken = new Set([...succeeded, ...live.map(indexOf)]);
    const free = Array.from({ length: completions }, (_, i) => String(i)).filter(
      (index) => !taken.has(index),
    );
    for (const index of free.slice(0, Math.max(0, wanted))) this.makePod(job, index);
  }

  private makePod({ metadata, spec: { template } }: Job, index?: string): void {
    const { uid, name, namespace = '' } = metadata;
    const annotations = {
      ...template.metadata?.annotations,
      ...(index !== undefined && { [COMPLETION_INDEX_ANNOTATION]: index }),
    };
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

  private remove({ metadata: { namespace, name } }: Pod): void {
    this.apiserver.delete(podPath(namespace, name));
  }

  /** Counts a pod of a Job that has ended. Kubernetes removes no such pod before its Job controller has done this. */
  countEnded(pod: Pod): void {
    const [owner] = pod.metadata.ownerReferences ?? [];
    if (owner?.kind !== 'Job') return;
    const { succeeded, failed } = this.recordOf(owner.uid);
    if (pod.status?.phase === 'Succeeded') {
      succeeded.add(indexOf(pod));
      this.apiserver.progressed.add(owner.uid);
    }
    if (pod.status?.phase === 'Failed') failed.add(pod.metadata.uid);
  }

  private recordOf(uid: string): JobRecord {
    const record = this.records.get(uid) ?? { succeeded: new Set(), failed: new Set() };
    this.records.set(uid, record);
    return record;
  }
}

function indexOf({ metadata }: Pod): string {
  return metadata.annotations?.[COMPLETION_INDEX_ANNOTATION] ?? metadata.uid;
}
