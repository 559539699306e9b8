/**
 * The kinds of the read API, an aggregated API of the apiserver (docs/decisions/0042-read-api.md). Its objects are answers: nothing is
 * stored, and a request changes nothing. All times are ISO 8601 in UTC, all durations seconds.
 */
import { READ_GROUP, READ_VERSION } from '../../constructs/api/labels';
import type { UnitCounts } from '../resources/types';

export const READ_API = `${READ_GROUP}/${READ_VERSION}`;

/** The most nodes of a what-if beside those that there are. More would be another cluster. */
export const MOST_MORE_NODES = 10_000;

/** How much one unit of a type is: an answer counts in units, and its readers think in cores and bytes. */
export interface UnitSizes {
  /** CPU of one core unit, in thousandths of a core. */
  readonly cpuMillis: number;
  /** Memory of one memory unit, in MiB. */
  readonly memoryMiB: number;
}

interface Answered<K extends string> {
  readonly apiVersion: typeof READ_API;
  readonly kind: K;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}

/** `get histories/NAME`: the events of all workloads that had this name, oldest first, also of those that are archived. */
export interface History extends Answered<'History'> {
  readonly entries: readonly HistoryEntry[];
}

export interface HistoryEntry {
  readonly at: string;
  readonly uid: string;
  /** Kind of the workload: Job or Pod. */
  readonly kind: string;
  readonly event: string;
  /** The leader at that time, or the user who submitted it; empty if it is not known. */
  readonly actor: string;
  readonly message: string;
}

/** `list usages?from=&until=&by=queue,user`: allocated hours of the namespace, or of all namespaces. */
export interface Usage extends Answered<'Usage'> {
  readonly from: string;
  readonly until: string;
  readonly lines: readonly UsageLine[];
  /**
   * Fair shares; without fair share there are none. The answer for one namespace has the shares of queues and of the user who asks, not those
   * of other users.
   */
  readonly shares: readonly FairShareLine[];
}

export interface UsageLine {
  readonly queue?: string;
  readonly namespace?: string;
  readonly user?: string;
  readonly jobs: number;
  readonly pods: number;
  readonly cpuHours: number;
  readonly memoryGiBHours: number;
  readonly gpuHours: number;
}

export interface FairShareLine {
  readonly queue: string;
  /** @default - the line is about the queue */
  readonly user?: string;
  readonly weight?: number;
  /** Part of the decayed usage, 0 to 1: of a queue, of that of all queues; of a user, of that of the queue. */
  readonly usedShare: number;
  /** 0 to 1, the higher the less was used; the factor of a user times that of its queue is part of the order. */
  readonly factor: number;
}

/** `list nodereports`: what Kubernetes, the queue's rows and Fluxion say about each node. */
export interface NodeReportList extends Answered<'NodeReportList'> {
  readonly items: readonly NodeReport[];
  readonly unitSizes: UnitSizes;
  /** Why Fluxion's own view is missing. @default - it is there */
  readonly withoutFluxion?: string;
}

export interface NodeReport extends Answered<'NodeReport'> {
  /** Down: not ready, or not schedulable; undefined: it is up. */
  readonly down?: string;
  readonly units: UnitCounts;
  /** Units of workloads that hold an allocation. */
  readonly used: UnitCounts;
  /** Units of the next reservation on the node. */
  readonly reserved: UnitCounts;
  /** Units that pods outside the queue use. */
  readonly unmanaged: UnitCounts;
  readonly free: UnitCounts;
  /** @default - Fluxion does not have the node, or could not be asked */
  readonly fluxion?: { readonly up: boolean; readonly total: UnitCounts; readonly free: UnitCounts };
  /** Differences between Fluxion and the rows, as sentences. */
  readonly drift: readonly string[];
}

/** `get resourcegraphs/fluxion`: the graph that the leader's Fluxion holds, or why it could not be asked. */
export interface ResourceGraph extends Answered<'ResourceGraph'> {
  readonly bootId: string;
  readonly unitSizes: UnitSizes;
  readonly nodes: readonly {
    readonly name: string;
    readonly up: boolean;
    readonly total: UnitCounts;
    readonly free: UnitCounts;
    readonly properties: readonly string[];
    readonly zone?: string;
    readonly rack?: string;
  }[];
}

/** `list plans`: when the visible workloads run, by the promises of the leader and a plan behind them. */
export interface Plan extends Answered<'Plan'> {
  readonly now: string;
  readonly jobs: readonly PlannedJob[];
  /** Waiting workloads that may start, but later than the plan reaches. */
  readonly unplanned: number;
  /** Waiting workloads that cannot start as things are: held, impossible, or behind another one by their own wish. @default 0 */
  readonly blocked?: number;
  /**
   * How far promised starts (of reservations) were from the grants of the last seven days, over all namespaces.
   * @default - nothing that was promised a start has got its nodes yet
   */
  readonly estimateError?: EstimateError;
}

export interface PlannedJob {
  readonly namespace: string;
  readonly name: string;
  readonly kind: string;
  readonly queue: string;
  /** Starting: it has its nodes, and its pods do not run yet. */
  readonly state: 'Starting' | 'Running' | 'Reserved' | 'Planned';
  readonly start: string;
  /** That of its walltime, which counts from the start of its pods; if `overdue`, a guess that moves. */
  readonly end: string;
  /** When it starts if workloads end as early as the last two of their users. @default - not sooner than `start`, or not known */
  readonly likelyStart?: string;
  /** Whether it should have ended by now. @default false */
  readonly overdue?: boolean;
  readonly nodes: readonly string[];
}

/** `list priorities`: what waits in line, in the order of a pass, with the points by which it is ordered. */
export interface Priority extends Answered<'Priority'> {
  readonly now: string;
  /** The answer for one namespace has the workloads of the user who asks, not those of other users. */
  readonly jobs: readonly PrioritizedJob[];
}

export interface PrioritizedJob {
  readonly namespace: string;
  readonly name: string;
  readonly kind: string;
  readonly uid: string;
  readonly queue: string;
  /** The sum of the factors. */
  readonly points: number;
  readonly factors: {
    /** Its priority, within the range of its queue. */
    readonly own: number;
    readonly queue: number;
    readonly age: number;
    readonly fairShare: number;
    readonly size: number;
  };
}

export interface EstimateError {
  readonly jobs: number;
  readonly p50Seconds: number;
  readonly p90Seconds: number;
}

/** `create whatifs`: when a workload would start if it were submitted now. */
export interface WhatIf extends Answered<'WhatIf'> {
  readonly spec: WhatIfSpec;
  readonly status?: WhatIfStatus;
}

export interface WhatIfSpec {
  /** A Job, a Pod or a MiniCluster, as it would be applied. */
  readonly object: Readonly<Record<string, unknown>>;
  /** So many nodes more, each like the node that most nodes are like. @default 0 */
  readonly moreNodes?: number;
  /** Policy of its queue. @default - that of the queue */
  readonly policy?: string;
  /** @default - that of the object */
  readonly priority?: number;
}

export interface WhatIfStatus {
  /** @default - it does not start within the plan; `message` says why */
  readonly start?: string;
  /** @default - it does not start within the plan, or it has no end */
  readonly end?: string;
  /** When it would start if workloads ended as early as the last two of their users. @default - not sooner than `start`, or not known */
  readonly likelyStart?: string;
  readonly nodes: readonly string[];
  readonly message: string;
  /** Workloads of the same namespace that would start later because of it. */
  readonly delays: readonly { readonly name: string; readonly from: string; readonly to: string }[];
}

/** `list traces?from=&until=`: what started and ended, and how large the cluster is, in Standard Workload Format. Users and namespaces are numbers. */
export interface Trace extends Answered<'Trace'> {
  readonly swf: string;
}
