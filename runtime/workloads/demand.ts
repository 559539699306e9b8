/** What a workload asks for: its pod sets, and how long they may run. */
import { MINICLUSTER_DEADLINE_SECONDS } from '../../constructs/api/queue-defaults';
import type { Jobspec } from '../jobspec/types';
import type { PodSpec } from '../kubernetes/types';
import type { QueueSettings } from '../queue/settings';
import { ENDLESS_SECONDS } from '../resources/endless';
import type { WorkloadSettings } from './settings';

/** Pods of one workload that ask for the same. */
export interface PodSet {
  /** Unique in its workload. */
  readonly name: string;
  /** Pods that run at the same time. */
  readonly count: number;
  readonly spec: PodSpec;
  /** Labels of the pods. */
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations of the pod template. @default - it is no template */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Name of its first pod, if that is there already: ephemeral volumes have claims of that name. @default - it is a template */
  readonly podName?: string | undefined;
  /** Path of this pod spec in the object. */
  readonly field: string;
}

export interface Demand {
  /** They are granted all at once or not at all. */
  readonly podSets: readonly [PodSet, ...PodSet[]];
  /** The user's activeDeadlineSeconds. It is the default of the walltime. */
  readonly deadlineSeconds: number | undefined;
  /** Whether it runs until somebody deletes it, unless it has a walltime or a deadline: a pod that always restarts. */
  readonly isService: boolean;
  /** The priority that the apiserver resolved; undefined for kinds where it does that only for their pods. */
  readonly priority: number | undefined;
  /** Whether some of its tasks are done, and it asks for the rest only. @default false */
  readonly isRemainder?: boolean;
  /** Which of its pods are missing, as a clause: it is granted nothing meanwhile. @default - all that it asks for are known */
  readonly incomplete?: string;
  /** Whether it keeps its nodes until it ends. @default false */
  readonly isImmovable?: boolean;
}

/**
 * What is read of the demand of an object; undefined where its pods can be no workload, as of a JobSet with more sets than one may
 * have. Such an object waits as Invalid, with the cause, and one that has a grant may still be changed to it.
 */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function podsOf({ podSets }: Demand): number {
  return podSets.reduce((sum, { count }) => sum + count, 0);
}

/** The maximum of its queue does not shorten a service: nobody would enforce it. */
export function walltimeOf(
  { walltimeSeconds }: Pick<WorkloadSettings, 'walltimeSeconds'>,
  { deadlineSeconds, isService }: Demand,
  plan: QueueSettings,
): number {
  const requested = walltimeSeconds ?? deadlineSeconds;
  if (requested === undefined && isService) return ENDLESS_SECONDS;
  return Math.min(requested ?? plan.defaultWalltimeSeconds, plan.maxWalltimeSeconds);
}

/** @param other deadline of what made it, in seconds: the earlier one counts */
export function withDeadline(demand: Demand, other: number | undefined): Demand {
  if (other === undefined) return demand;
  return { ...demand, deadlineSeconds: Math.min(demand.deadlineSeconds ?? other, other) };
}

/** Nobody chose the default of MiniClusters. */
export function chosenDeadline({ deadlineSeconds }: Demand): number | undefined {
  return deadlineSeconds === MINICLUSTER_DEADLINE_SECONDS ? undefined : deadlineSeconds;
}

/** @param until when all pods of a group should be there; Unix seconds */
export function withGroupState(
  jobspec: Jobspec,
  { incomplete, isImmovable = false }: Demand,
  until: number,
): Jobspec {
  if (incomplete === undefined && !isImmovable) return jobspec;
  const { attributes } = jobspec;
  const state = {
    ...(incomplete !== undefined && { incomplete: { message: incomplete, until } }),
    ...(isImmovable && { immovable: true }),
  };
  return { ...jobspec, attributes: { ...attributes, user: { ...attributes.user, ...state } } };
}
