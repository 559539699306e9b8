import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadKey } from './workload-key';

/** A row, or an object by its kind and metadata. */
export interface WorkloadIdentity {
  readonly kind: string;
  readonly namespace?: string | undefined;
  /** Its name. @default - not known: it is no group of pods */
  readonly name?: string | undefined;
  readonly uid: string;
  /** Job id of its grant. @default - it has none */
  readonly jobid?: number;
}

export function identityOf(kind: string, { metadata }: KubernetesObject): WorkloadIdentity {
  return { ...metadata, kind };
}

/** The row of a group of pods. */
export type GroupRow = Pick<WorkloadRow, 'uid' | 'user' | 'jobspec' | 'allocation'>;

/** What the watches have to know about a pod. The workloads area implements it. */
export interface PodFacts {
  /**
   * The uids that the pod names as its workload: its Job's, or its own; also that of the object of a workload kind for which it
   * was made. Whether it belongs to one of these, `belongsTo` says.
   */
  workloadUids(pod: Pod): readonly string[];
  /** The object of a workload kind for which the pod was made, as admission noted it; whether that is admitted, it does not say. */
  owner(pod: Pod): (WorkloadKey & { readonly uid: string }) | undefined;
  /** `namespace/name` of the group of a pod, whichever of that name it is; undefined for other pods. */
  group(pod: Pod): string | undefined;
  /** The same of a workload that is a group of pods. */
  groupOf(workload: WorkloadIdentity): string | undefined;
  /** The group that these pods are; undefined if none of them is of it. @param row its row, if that has not ended */
  assemble(
    key: Pick<WorkloadKey, 'namespace' | 'name'>,
    pods: readonly Pod[],
    row: GroupRow | undefined,
  ): KubernetesObject | undefined;
  /** Whether the pod, which names this workload, belongs to it: an owner can be of another namespace, or of another grant, and name any uid. */
  belongsTo(pod: Pod, workload: WorkloadIdentity): boolean;
  /** The workload that has to be reconciled when the pod changes; undefined if no Job and no queued pod is concerned. */
  workloadKey(pod: Pod): WorkloadKey | undefined;
  /** The node whose units the pod uses; undefined if it is not bound to a node or has finished. */
  usedNode(pod: Pod): string | undefined;
  /** `namespace/name` of the Deployment of a pod that is a workload itself, as an index; [] for other pods. */
  deployments(pod: Pod): readonly string[];
  /** Whether the pod uses a node that its workload holds now. */
  isOnGrant(pod: Pod, row: Pick<WorkloadRow, 'allocation'>): boolean;
}
