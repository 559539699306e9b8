/** What reconciles of workloads need. */
import type { Clock } from '../clock';
import type { Config } from '../config';
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { QueueSettings } from '../queue/settings';
import type { RequeueCause, WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { DecisionLogger } from '../shared/decision-log';
import type { GrantWait } from '../shared/grant-waits';
import type { Namespaces, Scope } from '../shared/namespaces';
import type { WorkloadIdentity } from '../shared/pod-facts';
import type { WorkloadKey } from '../shared/workload-key';
import type { WorkloadAdapter } from './adapter';
import type { DryRuns } from './dry-runs';
import type { NodeView } from './live-pods';
import type { Owners } from './owner-settings';
import type { SubmissionBuilder } from './submission';

export interface WorkloadReconcilerOptions {
  readonly client: KubernetesClient;
  readonly workloadCache: WorkloadCache;
  readonly submissionBuilder: SubmissionBuilder;
  /** @default - what webhooks and policies add to pods is known once a pod exists */
  readonly dryRuns?: Pick<DryRuns, 'awaited' | 'follow'>;
  /** @default - pods have no owners that say anything */
  readonly owners?: Pick<Owners, 'read'>;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  /** The object of a key, as the watch last delivered it. */
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
  /** Whether objects of the key's kind may exist that cannot be listed. */
  readonly isUnlisted: (key: Pick<WorkloadKey, 'kind'>) => boolean;
  /** The pods of this workload, as the watch last delivered them. */
  readonly podsOf: (workload: WorkloadIdentity) => readonly Pod[];
  readonly namespaces: Pick<Namespaces, 'hasLeft' | 'isAwaited' | 'isExcluded'>;
  readonly scope: Scope;
  readonly nodes: NodeView;
  /** Whether this scheduler has ever scheduled or refused a pod. */
  readonly schedulerRuns: (schedulerName: string) => boolean;
  /** The requeue limit and backoff of a queue. */
  readonly requeueOf: (queue: string) => QueueSettings['requeue'];
  /** How long pods of a granted workload may wait. */
  readonly limits: Config['grants'];
  /** Called with what a granted workload waits for; undefined while a pod of it runs. */
  readonly onWait: (uid: string, wait: GrantWait | undefined) => void;
  /** Called with what is said of pods of a granted workload that do not end; undefined: all end in time. */
  readonly onLingering: (uid: string, sentence: string | undefined) => void;
  /** Whether the nodes of the grant with this job id may be in use, so that it must not be released. */
  readonly isWithdrawn: (jobid: number) => boolean;
  /** Whether the grant has not started within its walltime, and a reservation waits for its nodes. */
  readonly isAwaited: (row: Pick<WorkloadRow, 'jobid' | 'startedAt'>) => boolean;
  /** Called when the units of a job are free again. */
  readonly onFreed: (jobid: number) => void;
  /** Called when the units on some nodes of a job are free again. */
  readonly onShrunk: (jobid: number, nodes: readonly string[]) => void;
  /** Called when a job holds fewer units than before, by what its row says now. */
  readonly onReduced: (jobid: number) => void;
  /** Called when a workload runs under a grant that the queue has no record of. */
  readonly onUnrecordedGrant: () => void;
  /** Called when the queue has changed in a way that the next scheduling pass should see. */
  readonly onQueueChanged: () => void;
  /** Called when a grant ended before its workload. */
  readonly onRequeued: (cause: RequeueCause) => void;
  /** Reconciles this workload again. */
  readonly enqueue: (key: WorkloadKey) => void;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote) => void;
  /** Whether many workloads start and end at this moment. */
  readonly isBusy: () => boolean;
  readonly logger: DecisionLogger;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}
