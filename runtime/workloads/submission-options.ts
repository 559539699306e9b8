/** What submissions of workloads need. */
import type { Config } from '../config';
import type { ClusterFacts } from '../jobspec/constraints';
import type { LimitRangeFields } from '../jobspec/limit-range';
import type { RuntimeClassFields } from '../jobspec/runtime-class';
import type { StorageFacts } from '../jobspec/volumes';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { WorkloadCache } from '../queue/workload-cache';
import type { GraphNode } from '../resources/types';
import type { WorkloadIdentity } from '../shared/pod-facts';
import type { QueueChoice } from '../shared/queues';
import type { WorkloadAdapter } from './adapter';
import type { Owners } from './owner-settings';

export interface SubmissionBuilderOptions {
  readonly workloadCache: Pick<WorkloadCache, 'submit' | 'byUid'>;
  readonly queues: QueueChoice;
  /** The value of a PriorityClass; without a name, the value of the cluster's default class. */
  readonly priorityOf: (className: string | undefined) => number | undefined;
  readonly units: Config['units'];
  /** The current labels of the nodes, from which some constraints are written. */
  readonly clusterFacts: () => ClusterFacts;
  /** The node with this name, as constraints see it. */
  readonly nodeOf: (name: string) => GraphNode | undefined;
  /** The RuntimeClass with this name. */
  readonly runtimeClassOf: (name: string) => RuntimeClassFields | undefined;
  /** The LimitRanges of this namespace. */
  readonly limitRangesOf: (namespace: string) => readonly LimitRangeFields[];
  /** What else than the queue may change new pods of this namespace. @default - nothing does */
  readonly mutationsFor?: (namespace: string) => string | undefined;
  readonly storage: StorageFacts;
  /** The object that says whose a workload of this kind is. @default - the workload itself */
  readonly creatorOf?: (kind: string, object: KubernetesObject) => KubernetesObject;
  /** What the owner of a pod asks for. @default - none is known */
  readonly owners?: Pick<Owners, 'of'>;
  /** The pods of this workload. @default - none are known */
  readonly podsOf?: (workload: WorkloadIdentity) => readonly Pod[];
  /** Seconds from its first pod on within which a group of pods should be complete. */
  readonly groupSeconds: number;
  /** Called for a workload that waits as Invalid because of its settings or its pod template, when that is news. */
  readonly onInvalid: (object: KubernetesObject, adapter: WorkloadAdapter, message: string) => void;
  /** Called when the workloads of this namespace request other units than was known. @default - nobody is told */
  readonly onLearned?: (namespace: string) => void;
  /** Called for a workload that gets less than it asks for. */
  readonly onReduced: (object: KubernetesObject, adapter: WorkloadAdapter, message: string) => void;
  readonly logger: Logger;
}
