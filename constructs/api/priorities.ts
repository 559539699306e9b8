/**
 * Who may give a workload which priority. Priorities order the workloads of all namespaces, so a higher one than the
 * default needs a right that only an administrator grants.
 */
import { FLUXJOB_GROUP } from './labels';

/** Priorities that every user may set. */
export const USER_PRIORITIES = { min: -100, max: 0 } as const;

/** The right to set any priority in a namespace. */
export const PRIORITIZE = { group: FLUXJOB_GROUP, resource: 'fluxjobs', verb: 'prioritize' } as const;
/** ClusterRole with that right, for a RoleBinding. */
export const PRIORITIZE_ROLE = 'fluxqueue-prioritize';

/** The right to use a PriorityClass with a higher value; every user may use the cluster's default class. */
export const USE_CLASS = { group: 'scheduling.k8s.io', resource: 'priorityclasses', verb: 'use' } as const;

export const PRIORITY_CODE = 'FLUXQ_PRIORITY';
