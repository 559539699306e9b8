/**
 * Terms of this folder: a *jobspec* (Flux RFC 14 and 25) is the request that Fluxion matches; a *slot* is the part of it
 * that is replicated (here one pod); a *constraint* (RFC 31) restricts the nodes.
 */
import type { LabelSelector, PodSpec } from './pod';

/** Count of a resource: exact, or a range in which Fluxion takes the most it finds. */
type Count =
  | number
  | {
      readonly min: number;
      readonly max?: number;
      readonly operator?: '+' | '*' | '^';
      readonly operand?: number;
    };

export interface JobspecResource {
  /** `node`, `slot`, `core`, `memory`, `gpu`, or any leaf type of the graph. */
  readonly type: string;
  readonly count: Count;
  readonly unit?: string;
  /** Required on a slot. */
  readonly label?: string;
  readonly exclusive?: boolean;
  readonly with?: readonly JobspecResource[];
}

/** RFC 31, and `tolerates`, which Fluxion gets as the properties of taints. `{}` matches every node. */
export type Constraint =
  | {
      /** Taints as `writtenTolerations` writes them: a node with any other one does not match. */
      readonly tolerates: readonly string[];
    }
  | { readonly properties: readonly string[] }
  | { readonly hostlist: readonly string[] }
  | { readonly ranks: readonly string[] }
  | { readonly not: readonly Constraint[] }
  | { readonly or: readonly Constraint[] }
  | { readonly and: readonly Constraint[] }
  | Readonly<Record<string, never>>;

/** The pods that a rule is about. */
export interface SelectedPods {
  /** @default - all namespaces */
  readonly namespaces?: readonly string[];
  /** @default - no pod */
  readonly selector?: LabelSelector;
}

/** A rule about the pods in one group of nodes: those with the same value of a label. */
export interface GroupRule extends SelectedPods {
  readonly topologyKey: string;
  /** Whether the pods of the workload are among those that the rule is about. */
  readonly self: boolean;
}

export interface SpreadRule extends GroupRule {
  readonly maxSkew: number;
  /** With fewer groups than this the smallest one counts as empty. @default 1 */
  readonly minDomains?: number;
  /** The nodes whose groups count. @default - all nodes that have the label */
  readonly among?: Constraint;
}

export interface PlacementRules {
  /** Ports of the node that each pod takes, as `PROTOCOL/IP/PORT`. */
  readonly hostPorts?: readonly string[];
  /** No group may have one of these pods beside the workload's (required anti-affinity). */
  readonly apart?: readonly GroupRule[];
  /** Each pod needs one of these pods in its group (required affinity). */
  readonly together?: readonly GroupRule[];
  readonly spread?: readonly SpreadRule[];
  /** Labels whose value has to be the same on the nodes of all pods: these share a volume that is not made yet. */
  readonly jointly?: readonly string[];
  /** Whole amounts of node resources that each pod takes and the graph does not count, by name. */
  readonly amounts?: Readonly<Record<string, number>>;
}

/** What is asked for the pods of one pod set of several, beside the units of its slot. */
export interface PodSetRequest {
  readonly name: string;
  /** Namespace and labels of its pods: rules about pods may be about them. */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly constraints?: Constraint;
  readonly requests?: Readonly<Record<string, string>>;
  readonly placement?: PlacementRules;
}

/** Canonical jobspec (RFC 14); plain JSON. */
export interface Jobspec {
  readonly version: number;
  readonly resources: readonly JobspecResource[];
  readonly tasks: readonly {
    readonly command: readonly string[];
    readonly slot: string;
    readonly count: { readonly per_slot: number } | { readonly total: number };
  }[];
  readonly attributes: {
    readonly system: {
      /** Walltime in seconds, always above 0: Fluxion takes 0 for 100 years. */
      readonly duration: number;
      readonly constraints?: Constraint;
    };
    /** Fluxion ignores this part. @default - nothing but what Fluxion reads */
    readonly user?: {
      /** The sizes of the units that the resources are counted in. @default - those of the leader that stored the row */
      readonly units?: { readonly cpuMillis: number; readonly memoryMiB: number };
      /** What each pod requests, as Kubernetes writes it: for messages, and to count in other units. @default - not known */
      readonly requests?: Readonly<Record<string, string>>;
      /** By which passes choose nodes. @default - units and constraints are all that counts */
      readonly placement?: PlacementRules;
      /** Seconds that Kubernetes gives its pods to end. @default 30 */
      readonly graceSeconds?: number;
      /** Seconds of work that an eviction loses at most, above 0. @default - all that it has done */
      readonly checkpointSeconds?: number;
      /** `fluxqueue/gang-size` of the workload. Not part of the shape. @default - none, or an earlier version wrote the row */
      readonly gangSize?: number;
      /** Names of the PersistentVolumeClaims that constraints and rules were made from. @default [] */
      readonly claims?: readonly string[];
      /** Paths of fields of the user's object that only kube-scheduler checks. @default [] */
      readonly unmodeled?: readonly string[];
      /** Scheduling gates of other controllers: the pod is granted nothing before they are gone. @default [] */
      readonly gates?: readonly string[];
      /** Whether its pods are of use without each other: where not all of them ever fit, some of them start. @default false */
      readonly array?: boolean;
      /** The pod sets of a gang of several, one for each slot: what else would stand here and in the constraints is theirs. @default - one pod set */
      readonly podSets?: readonly PodSetRequest[];
      /** Which pods of a group are missing, as a clause, and until when they should be there, in Unix seconds. @default - it is complete */
      readonly incomplete?: { readonly message: string; readonly until: number };
      /** Whether it keeps its nodes until it ends. @default false */
      readonly immovable?: boolean;
      /** Why the workload cannot be read: it waits as Invalid until its user changes it. @default - it can be read */
      readonly invalid?: string;
      /** What the user asked for and a limit of the queue changed, one clause each. Not part of the shape. @default [] */
      readonly reduced?: readonly string[];
      /** What webhooks of the cluster add to each pod: it is part of `requests`. Not part of the shape. @default - nothing */
      readonly injected?: Readonly<Record<string, string | number>>;
      /** What they add to the place of each pod: it is part of the constraints. Not part of the shape. @default - nothing */
      readonly placed?: Pick<PodSpec, 'nodeSelector' | 'tolerations'>;
      /** Keys of node labels whose values constraints and rules were made from. @default [] */
      readonly labels?: readonly string[];
    };
  };
}
