/** Requests that one area makes of another without knowing it. */
import { Signal } from '../signal';
import type { WorkloadKey } from './workload-key';

/** Units that no longer belong to a job. */
export interface FreedUnits {
  readonly jobid: number;
  /** The nodes on which the job's units are free. @default - all of its nodes */
  readonly nodes?: readonly string[];
  /** Whether the job keeps what its row has now, perhaps fewer units on a node. @default false */
  readonly isReduced?: boolean;
}

export interface Resubmission {
  /** @default - all namespaces */
  readonly namespaces?: ReadonlySet<string>;
  /** Only workloads whose jobspec was made from the values of one of these node labels. @default - all */
  readonly labels?: ReadonlySet<string>;
}

export class Signals {
  /** This workload has to be reconciled. */
  readonly reconcileWorkload = new Signal<WorkloadKey>();
  /** Waiting workloads may belong to another queue or need another jobspec: they have to be compared with their rows. */
  readonly resubmitWaiting = new Signal<Resubmission>();
  /** A scheduling pass should run soon. */
  readonly schedule = new Signal();
  /** The database and the cluster should be compared before the next scheduling pass. */
  readonly audit = new Signal();
  /** Fluxion has to free these units before the next scheduling pass. */
  readonly unitsFreed = new Signal<FreedUnits>();
  /** Every object has to be reconciled: the term has started, or the workload cache was reloaded. */
  readonly resync = new Signal();
}
