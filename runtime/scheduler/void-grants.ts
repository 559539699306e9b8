/** Grants of a pass that are void before they are committed, and what the pass planned behind them. */
import type { SchedulingLoopOptions } from './loop-options';
import type { NodeList } from './node-list';
import type { PassCache } from './pass/pass-cache';
import type { Reservation } from './pass/reservations';
import type { PassResult } from './pass/types';

/**
 * The grants that are committed. A node that changed during the pass, or the constraints of a row that is newer than the nodes,
 * void a grant on it. A changed node also voids the later grants: the next pass, which runs at once, may need their nodes for
 * the earlier one.
 */
export function confirmedGrants(
  grants: PassResult['grants'],
  nodeList: NodeList,
  { nodes, workloadCache, hasLeft, mayGrant }: SchedulingLoopOptions,
): PassResult['grants'] {
  const current = nodes();
  const outdated = grants.findIndex(({ allocation }) => nodeList.isOutdated(allocation, current));
  return grants.slice(0, outdated < 0 ? grants.length : outdated).filter(({ uid }) => {
    const row = workloadCache.byUid(uid);
    return row !== undefined && !hasLeft(row) && mayGrant(row);
  });
}

/**
 * The reservations that nobody has been told of. Behind a grant that is void they are no promises yet: the next pass plans them
 * behind that workload, which was earlier in line.
 */
export function untoldPlans(
  { reservations }: PassResult,
  before: readonly Reservation[],
): readonly Reservation[] {
  const told = new Set(before.map(({ uid }) => uid));
  return reservations.filter(({ uid }) => !told.has(uid));
}

/** Without the promises of cancelled plans. For who waits for others to leave they stay, because those leave for it. */
export function withoutPromises(cache: PassCache, uids: ReadonlySet<string>): PassCache {
  const { promised, beneficiaries } = cache;
  const kept = [...promised].filter(([uid]) => !uids.has(uid) || beneficiaries.has(uid));
  return { ...cache, promised: new Map(kept) };
}
