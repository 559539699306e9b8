import type { Fluxion } from '../../fluxion/types';
import type { UnitSettings } from '../../jobspec/units';
import type { QueueSettings } from '../../queue/settings';
import type { WaitUpdate, WorkloadRow } from '../../queue/workload';
import type { Allocation, GraphNode } from '../../resources/types';
import type { OutcomeOf } from './dependencies';
import type { FairShare } from './fair-share';
import type { PassCache } from './pass-cache';
import type { Reservation } from './reservations';

/** What a pass needs of Fluxion. */
export type Matcher = Pick<Fluxion, 'match' | 'cancel' | 'satisfiable' | 'replay' | 'state'>;

export interface PassQueue {
  readonly settings: QueueSettings;
  /** All its rows that are not Finished: those that wait are decided, the others count against quota and limits. Any order. */
  readonly rows: readonly WorkloadRow[];
}

export interface PassInput {
  /** Unix seconds, whole. */
  readonly now: number;
  /** All share one graph, and one order. */
  readonly queues: readonly PassQueue[];
  /** Rows of queues that are not there. @default [] */
  readonly orphaned?: readonly WorkloadRow[];
  readonly matcher: Matcher;
  /**
   * The last pass's, as long as they stand in Fluxion. Whoever rebuilds it, or cancels them, gives none: they are
   * made anew then, and may come later.
   */
  readonly reservations: readonly Reservation[];
  /** The last pass's. @default - nothing is remembered */
  readonly memory?: PassCache | undefined;
  /**
   * Whether units may have been given back since the last pass, by whomever: a workload that ended or let go of
   * nodes, pods that are not ours, a rebuild. If not, what was refused is not asked again. @default true
   */
  readonly freed?: boolean;
  /**
   * The graph's nodes, to say why something can never start, and to spare Fluxion the question whether it can. The
   * same array as long as none of them changes.
   * @default - Fluxion's own text
   */
  readonly nodes?: readonly GraphNode[];
  /** Sizes of the units, for texts and quotas. @default - 1 core, 1 GiB */
  readonly units?: UnitSettings;
  /**
   * Whether nodes were added, grew, or came up since the last pass that was not cut short (`more`): what was
   * unsatisfiable is then asked again. @default true
   */
  readonly graphGrew?: boolean;
  /** Asked before every match; true ends the pass with what it has decided so far. @default - never */
  readonly interrupted?: () => boolean;
  /** @default - off: priority, then submission */
  readonly fairShare?: FairShare;
  /** For dependencies. @default - nothing of any name was ever there */
  readonly outcomeOf?: OutcomeOf;
}

export interface PassResult {
  /** To commit (`Queue.allocate`); the allocation of a row that is not returned there has to be cancelled in Fluxion. */
  readonly grants: readonly { readonly uid: string; readonly allocation: Allocation }[];
  /** To commit (`Queue.wait`): only rows whose reason, message or estimate changed. */
  readonly waits: readonly WaitUpdate[];
  /** To commit before anything acts on it: workloads that have to leave their nodes and wait again. */
  readonly recalls: readonly Recall[];
  /** The next pass's `reservations`. */
  readonly reservations: readonly Reservation[];
  /** The next pass's `memory`. */
  readonly memory: PassCache;
  /** Another pass would find more to do at once: the depth or an interruption cut this one short. */
  readonly more: boolean;
  /** Absolute second at which time alone changes something; undefined: never. */
  readonly nextAt: number | undefined;
  /** How often Fluxion was asked. */
  readonly matches: number;
}

export interface Recall {
  readonly uid: string;
  /** For its user: why it was taken back. */
  readonly message: string;
}
