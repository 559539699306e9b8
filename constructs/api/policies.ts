/** Policies that users choose by name. */

export const QUEUE_POLICIES = ['fcfs', 'easy', 'conservative', 'hybrid'] as const;

/**
 * Which waiting workloads may start before earlier ones. `fcfs`: none. The other policies backfill: a later workload
 * starts if it delays no reservation. `easy` reserves nodes for the first waiting workload, `hybrid` for the first few,
 * `conservative` for all of them, up to the queue's depth.
 */
export type QueuePolicy = (typeof QUEUE_POLICIES)[number];

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

/** Fluxion's order in which nodes are filled. */
export type MatchPolicy = (typeof MATCH_POLICIES)[number];
