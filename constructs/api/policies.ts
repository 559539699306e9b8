/** Policies that users choose by name. */

export const QUEUE_POLICIES = ['fcfs', 'easy', 'conservative', 'hybrid'] as const;

/**
 * Which waiting workloads may start before earlier ones. `fcfs`: none. The other policies backfill: a later workload
 * starts if it delays no reservation. `easy` reserves nodes for the first waiting workload, `hybrid` for the first few,
 * `conservative` for all of them, up to the queue's depth.
 */
export type QueuePolicy = (typeof QUEUE_POLICIES)[number];

export const BACKFILL_ORDERS = ['submission', 'shortestArea'] as const;

/**
 * Which workloads are tried first behind the promised starts of `easy` and `hybrid`. `submission`: those that come first in line.
 * `shortestArea`: those that ask for the smallest part of the cluster times their walltime.
 */
export type BackfillOrder = (typeof BACKFILL_ORDERS)[number];

export const FAIR_SHARING = ['Never', 'LessThanOrEqualToFinalShare', 'LessThanInitialShare'] as const;

/**
 * Whether workloads of a queue may evict workloads of queues that have borrowed a larger share of their cohort.
 * `LessThanOrEqualToFinalShare`: if the share of the queue is then at most what remains of that of the other one.
 * `LessThanInitialShare`: else also if it is then smaller than that of the other one was. `Never`: by no share.
 */
export type FairSharing = (typeof FAIR_SHARING)[number];

export const MATCH_POLICIES = [
  'first',
  'firstnodex',
  'low',
  'high',
  'lonode',
  'hinode',
  'lonodex',
  'hinodex',
  'locality',
] as const;

/**
 * The policies that choose by the order of earlier grants. flux-sched's library loses that order when time moves or nodes
 * change, so a stack with the library refuses them.
 */
export const HISTORY_POLICIES: readonly MatchPolicy[] = ['first', 'firstnodex'];

/** Fluxion's order in which nodes are filled. */
export type MatchPolicy = (typeof MATCH_POLICIES)[number];

export const FLUXJOB_POLICIES = ['Notable', 'All'] as const;

/**
 * Which workloads have a FluxJob. `All`: every one. `Notable`: while a namespace starts and ends more than about ten workloads
 * a second, what waits in line has it after a minute, and what succeeds before has none.
 */
export type FluxJobPolicy = (typeof FLUXJOB_POLICIES)[number];
