/**
 * The contract of a scheduling pass. The caller gives one consistent snapshot (`PassInput`): every queue with its
 * rows, the graph that Fluxion holds, and what the previous pass left (reservations and cache). The pass returns
 * decisions (`PassResult`) and writes nothing: the caller commits them, and a decision that was not committed never
 * happened. All times are Unix seconds.
 */
import type { Fluxion } from '../../fluxion/types';
import type { UnitSettings } from '../../jobspec/units';
import type { QueueSettings } from '../../queue/settings';
import type { EvictionRequest, WaitUpdate, WorkloadRow } from '../../queue/workload';
import type { Allocation, GraphNode, Surplus, UnitCounts } from '../../resources/types';
import type { OutcomeOf } from './dependencies';
import type { FairShare } from './fair-share';
import type { NodeChanges } from './node-changes';
import type { PassCache } from './pass-cache';
import type { Surroundings } from './placed-pods';
import type { Reservation } from './reservations';

/** The part of Fluxion that a pass calls. */
export type Matcher = Pick<Fluxion, 'match' | 'cancel' | 'satisfiable' | 'replay' | 'state'>;

export interface PassQueue {
  readonly settings: QueueSettings;
  /**
   * All rows of the queue that are not Finished, in any order. The pass decides those that are Waiting; the others
   * count against quota and limits.
   */
  readonly rows: readonly WorkloadRow[];
}

/** The steps of a pass that take time: to find the order, and to ask Fluxion for one workload after the other. */
export type PassStep = 'order' | 'match';

export type HasLeft = (row: Pick<WorkloadRow, 'namespace'>) => boolean;

export interface PassInput {
  /** The time of the pass in whole Unix seconds. */
  readonly now: number;
  /** All queues. They share one graph and one order. */
  readonly queues: readonly PassQueue[];
  /** Rows whose queue does not exist. @default [] */
  readonly orphaned?: readonly WorkloadRow[];
  /** Why the settings of a queue are invalid. @default - a queue without settings does not exist */
  readonly problemOf?: (queue: string) => string | undefined;
  readonly matcher: Matcher;
  /**
   * Reservations of the previous pass that Fluxion still holds. After a rebuild of Fluxion there are none: the pass
   * makes new ones, which may start later.
   */
  readonly reservations: readonly Reservation[];
  /** The cache that the previous pass returned. @default - the pass starts with an empty cache */
  readonly cache?: PassCache | undefined;
  /**
   * Whether units may have become free since the previous pass: a workload ended or left nodes, pods outside the
   * queue ended, or Fluxion was rebuilt. If not, refused requests are not repeated. @default true
   */
  readonly freed?: boolean;
  /**
   * The nodes of the graph. With them the pass says why a workload can never start, and asks Fluxion less often.
   * Pass the same array for as long as no node changes: what is counted over it is cached.
   * @default - unknown: messages are Fluxion's own
   */
  readonly nodes?: readonly GraphNode[];
  /** Units in use on each node by pods outside the queue. @default - none */
  readonly unmanaged?: ReadonlyMap<string, UnitCounts>;
  /** What workloads use beyond their grants, by uid: it is charged to their queues. @default - nothing */
  readonly surpluses?: ReadonlyMap<string, Surplus>;
  /** The pods of the cluster. @default - unknown: placement rules are left to kube-scheduler */
  readonly surroundings?: Surroundings;
  /** Sizes of the units, for messages and quotas. @default - 1 core, 1 GiB */
  readonly units?: UnitSettings;
  /**
   * Whether nodes changed since the last pass that was complete (`more` was false): unsatisfiable workloads that fit by
   * counting are then tried again. @default true
   */
  readonly graphGrew?: boolean;
  /** Which nodes changed since then. @default - not known */
  readonly nodeChanges?: NodeChanges;
  /** Called before every match; true ends the pass with its decisions so far. @default - never */
  readonly interrupted?: () => boolean;
  /** Called after each workload, so that other work of the process is not kept waiting. @default - the pass never rests */
  readonly rest?: () => Promise<void> | undefined;
  /** Whether the namespace of the workload has left the queue: it is neither started nor evicted. @default - none has */
  readonly hasLeft?: HasLeft;
  /** Whether objects of the workload's kind cannot be listed: it is not started. @default - all can be */
  readonly isUnlisted?: (row: Pick<WorkloadRow, 'kind'>) => boolean;
  /** Whether the workload is left out, because passes have failed at it. @default - none is */
  readonly isLeftOut?: (row: WorkloadRow) => boolean;
  /** Whether workloads may have to leave for others. @default true */
  readonly evicts?: boolean;
  /** @default - off: priority, then time of submission */
  readonly fairShare?: FairShare;
  /** Result of the workload that a dependency names. @default - no such workload ever existed */
  readonly outcomeOf?: OutcomeOf;
  /** Called when a step starts, so that the caller can measure it. @default - not reported */
  readonly onStep?: (step: PassStep) => void;
}

/** An allocation that starts now. */
export interface Grant {
  readonly uid: string;
  /** It ends with the walltime. */
  readonly allocation: Allocation;
  /** Its end in Fluxion, with the grace of its pods. @default - that of the allocation */
  readonly plannedEnd?: number;
}

export interface PassResult {
  /**
   * To commit with `Queue.allocate`. If the queue does not return a row, its allocation has to be cancelled in
   * Fluxion.
   */
  readonly grants: readonly Grant[];
  /** To commit with `Queue.wait`: only rows whose reason, message or estimated start changed. */
  readonly waits: readonly WaitUpdate[];
  /** To commit with `Queue.requestEviction`, before anything suspends these workloads. */
  readonly evictions: readonly EvictionRequest[];
  /** The workloads that might start, in the order of the pass. */
  readonly line: readonly WorkloadRow[];
  /** The `reservations` of the next pass. */
  readonly reservations: readonly Reservation[];
  /** The `cache` of the next pass. */
  readonly cache: PassCache;
  /** Grants that did not start within their walltime, on nodes for which a reservation waits: they should leave. */
  readonly awaited: readonly WorkloadRow[];
  /** Whether a next pass would decide more at once: the depth of a queue or an interruption ended this one early. */
  readonly more: boolean;
  /** The second at which time alone changes a decision; undefined: never. */
  readonly nextAt: number | undefined;
  /** How many match requests Fluxion answered. */
  readonly matches: number;
}
