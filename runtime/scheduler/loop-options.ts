import type { Clock } from '../clock';
import type { UnitSettings } from '../jobspec/units';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';
import type { QueueSettings } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { GraphNode, Surplus, UnitCounts } from '../resources/types';
import type { FluxionSync } from './fluxion-sync';
import type { FairShare } from './pass/fair-share';
import type { Surroundings } from './pass/placed-pods';
import type { HasLeft, PassInput, PassResult, PassStep } from './pass/types';

/** Compares the rows with the apiserver. */
export interface RowsAudit {
  /**
   * @param isReloaded whether the rows were read again since the last time
   * @returns whether it suspects differences, which have to be confirmed
   */
  compare(isReloaded: boolean): Promise<boolean>;
  /** Looks once more at what the last comparison suspects. */
  confirm(): Promise<void>;
}

/** What the scheduling loop reads, and whom it calls. */
export interface SchedulingLoopOptions {
  readonly workloadCache: WorkloadCache;
  readonly graph: FluxionSync;
  /** The nodes of the cluster as graph nodes: the same map for as long as none of them changes. */
  readonly nodes: () => ReadonlyMap<string, GraphNode>;
  /** Units in use on each node by pods outside the queue. */
  readonly unmanaged: () => ReadonlyMap<string, UnitCounts>;
  /** What workloads use beyond their grants, by uid, when `unmanaged` was counted last. */
  readonly surpluses: () => ReadonlyMap<string, Surplus>;
  /** The pods of the cluster. */
  readonly surroundings: Surroundings;
  readonly units: UnitSettings;
  /** @returns undefined if there is no such queue */
  readonly queueSettings: (name: string) => QueueSettings | undefined;
  /** All queues, also empty ones: other queues of their cohort may borrow their idle quota. */
  readonly queues: () => readonly QueueSettings[];
  /** Why the FluxSetup of a queue is invalid; undefined: it is valid, or does not exist. */
  readonly problemOf: (queue: string) => string | undefined;
  /** @returns undefined if fair share is off */
  readonly fairUsage: (now: number) => FairShare | undefined;
  /** Whether the namespace of the workload has left the queue: it is neither started nor evicted. */
  readonly hasLeft: HasLeft;
  /** Whether objects of the workload's kind cannot be listed: it cannot be released. */
  readonly isUnlisted: (row: Pick<WorkloadRow, 'kind'>) => boolean;
  /** Whether a grant for this waiting row may be committed. */
  readonly mayGrant: (row: WorkloadRow) => boolean;
  /** Called after the commit, with each workload that is to be released. */
  readonly onGranted: (row: WorkloadRow) => void;
  /** Called after the commit, with each workload that has to leave its nodes. */
  readonly onEvictionRequested: (row: WorkloadRow) => void;
  /**
   * Called now and then with each workload that was granted and is not released, or has to leave its nodes: whoever was told
   * may have failed. Called after the commit with each workload that waits for another controller from now on.
   */
  readonly onPending: (row: WorkloadRow) => void;
  readonly audit: RowsAudit;
  /** Called when Fluxion held other units than it should. */
  readonly onFluxionDiffers: (difference: string) => void;
  /** Milliseconds from one audit to the next. */
  readonly auditMs: number;
  /** Called when the workload cache was stale, has been reloaded and was compared: any row may have changed. */
  readonly onReloaded: () => void;
  /** Called when the lease was lost or the database has seen a newer leader. */
  readonly onFenced: (error: Error) => void;
  /**
   * Called after the commit of each pass. It is settled if nothing has changed since it began.
   * @default - nobody is told
   */
  readonly onPassed?: (result: PassResult, isSettled: boolean) => void;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  /** Unix seconds; they never go back. */
  readonly now: () => number;
}

/** What the loop adds to a snapshot is left out. */
export type Snapshot = Omit<
  PassInput,
  | 'matcher'
  | 'surroundings'
  | 'units'
  | 'isLeftOut'
  | 'problemOf'
  | 'cache'
  | 'interrupted'
  | 'rest'
  | 'onStep'
  | 'nodes'
> & {
  readonly nodes: readonly GraphNode[];
};

/** `audit`: compare rows and apiserver. `sync`: make Fluxion equal to rows and nodes. `snapshot`: read the rows. */
export type PassPhase = 'audit' | 'sync' | 'snapshot' | PassStep | 'commit';
