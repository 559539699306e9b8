/** What the server of the dashboard tells the browser, as JSON. */

/** What one job holds on one node. */
export interface Share {
  readonly node: string;
  /** Allocated cores, to a tenth; absent if the FluxJob does not tell them, because the allocation is too large for it. */
  readonly cores?: number;
  readonly gpus?: number;
  /** Whether the whole node is allocated. */
  readonly exclusive?: boolean;
}

/** One workload. All times are RFC 3339. */
export interface JobView {
  /** The name of its FluxJob with its namespace, unique in the cluster. */
  readonly key: string;
  readonly namespace: string;
  /** As users name it: `job/train`. */
  readonly name: string;
  readonly queue: string;
  readonly phase: string;
  readonly position?: number;
  /** Why it waits, in one word and in one sentence. */
  readonly reason: string;
  readonly message: string;
  /** Further conditions that are true and say more about it. */
  readonly notes: readonly string[];
  readonly priority?: number;
  readonly pods?: number;
  readonly walltimeSeconds?: number;
  readonly created: string;
  readonly started?: string;
  /** A reservation: it starts then at the latest. */
  readonly reserved?: string;
  /** When it would start if nothing else were submitted. */
  readonly planned?: string;
  /** When it would start if workloads also ended as early as those of their users usually do. */
  readonly likely?: string;
  /** When it ends at the latest, if its start and its walltime do not say that. */
  readonly ends?: string;
  readonly ended?: string;
  readonly result?: string;
  readonly requeues?: number;
  /** Hostlist of its nodes. */
  readonly nodes?: string;
  /** What it holds now; empty while it waits and when it has ended. */
  readonly shares: readonly Share[];
}

export interface NodeView {
  readonly name: string;
  readonly cores: number;
  readonly gpus: number;
  /** `down`: not Ready. `drained`: takes no new workloads. */
  readonly state: 'up' | 'down' | 'drained';
}

/** Why the server of the page does not hear of changes. */
export interface Trouble {
  /** A sentence. */
  readonly message: string;
  /** The last answer that it had, RFC 3339. */
  readonly since: string;
}

/** The changes since the message before, or all there is. */
export interface Changes {
  readonly jobs: readonly JobView[];
  /** Keys of jobs that are gone. */
  readonly goneJobs: readonly string[];
  readonly nodes: readonly NodeView[];
  readonly goneNodes: readonly string[];
  /** Why there are no nodes beside those that jobs hold. */
  readonly nodesUnknown?: string;
  /** @default - none at this moment */
  readonly trouble?: Trouble;
  /** @default - all namespaces, or the message has only changes */
  readonly namespace?: string;
}

/** What the page asks for beside that, or one sentence that says why there is no answer. */
export type Answer<T> = { readonly answer: T } | { readonly problem: string };

/** The events of all workloads of one name, oldest first: what the page shows of a History of the read API. */
export interface HistoryView {
  readonly entries: readonly HistoryEntryView[];
}

export interface HistoryEntryView {
  readonly at: string;
  readonly uid: string;
  /** Kind of the workload: Job or Pod. */
  readonly kind: string;
  readonly event: string;
  /** The leader at that time, or the user who submitted it; empty if it is not known. */
  readonly actor: string;
  readonly message: string;
}

/** Allocated hours of a period: what the page shows of a Usage of the read API. */
export interface UsageView {
  readonly from: string;
  readonly lines: readonly UsageLineView[];
  /** Without fair share there are none. */
  readonly shares: readonly FairShareView[];
}

export interface UsageLineView {
  readonly queue?: string;
  readonly namespace?: string;
  readonly user?: string;
  readonly jobs: number;
  readonly cpuHours: number;
  readonly memoryGiBHours: number;
  readonly gpuHours: number;
}

export interface FairShareView {
  readonly queue: string;
  /** @default - the line is about the queue */
  readonly user?: string;
  readonly weight?: number;
  /** Part of the decayed usage of all queues, or of the user's queue, 0 to 1. */
  readonly usedShare: number;
  /** Part of the priority, times `priorityWeights.fairShare`; 0 to 1. */
  readonly factor: number;
}
