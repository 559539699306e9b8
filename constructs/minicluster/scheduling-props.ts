import type { MiniClusterSpec } from './resource';

type PodSpec = NonNullable<MiniClusterSpec['pod']>;

/** Which nodes the pods get, and when. */
export interface MiniClusterSchedulingProps {
  /** Priority in the queue of fluxqueue; a higher one starts earlier. @default 0 */
  readonly priority?: number;
  /** Reserves whole nodes: the queue places no other workload on them. @default false */
  readonly exclusive?: boolean;
  /** CPU architecture of the nodes, e.g. `arm64`. @default - any */
  readonly arch?: string;
  /** Labels that a node must have, each with this value. @default - any node */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Labels that a node must have, each with one of these values. @default - any node */
  readonly nodeAffinity?: Readonly<Record<string, readonly string[]>>;
  /** Prefers nodes of one zone, and a different node for each pod. @default true */
  readonly affinity?: boolean;
  /** Taints of nodes that the pods tolerate. @default - none */
  readonly tolerations?: NonNullable<PodSpec['tolerations']>;
  /** Constraints on how evenly the brokers of this cluster spread over nodes, racks or zones. @default - none */
  readonly topologySpread?: NonNullable<PodSpec['topologySpread']>;
  /** Name of the PriorityClass of the pods. @default - the default PriorityClass of the cluster */
  readonly priorityClassName?: string;
  /** Name of the Kubernetes scheduler that binds the pods. @default - the default scheduler of the cluster */
  readonly schedulerName?: string;
}
