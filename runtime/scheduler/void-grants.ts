/** Grants of a pass that are void before they are committed, and what the pass planned behind them. */
import type { FluxionSync } from './fluxion-sync';
import type { SchedulingLoopOptions } from './loop-options';
import type { NodeList } from './node-list';
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
  { nodes, workloadCache, hasLeft, isUnlisted, mayGrant }: SchedulingLoopOptions,
): PassResult['grants'] {
  const current = nodes();
  const outdated = grants.findIndex(({ allocation }) => nodeList.isOutdated(allocation, current));
  return grants.slice(0, outdated < 0 ? grants.length : outdated).filter(({ uid }) => {
    const row = workloadCache.byUid(uid);
    return row !== undefined && !hasLeft(row) && !isUnlisted(row) && mayGrant(row);
  });
}

/**
 * A pass without the reservations that nobody has been told of: they are cancelled. Behind a grant that is void they are no
 * promises yet, and the next pass plans them behind that workload, which was earlier in line. Who waits for others to leave
 * stays promised, because those leave for it.
 */
export function withoutPlans(
  { reservations, cache, waits }: PassResult,
  before: readonly Reservation[],
  graph: Pick<FluxionSync, 'cancelLater'>,
): Pick<PassResult, 'reservations' | 'cache' | 'waits'> {
  const told = new Set(before.map(({ uid }) => uid));
  const plans = reservations.filter(({ uid }) => !told.has(uid));
  for (const { jobid } of plans) graph.cancelLater(jobid);
  const cancelled = new Set(plans.map(({ uid }) => uid));
  const isKept = ({ uid }: { readonly uid: string }) => !cancelled.has(uid);
  const { promised, beneficiaries } = cache;
  const kept = [...promised].filter(([uid]) => !cancelled.has(uid) || beneficiaries.has(uid));
  return {
    reservations: reservations.filter(isKept),
    cache: { ...cache, promised: new Map(kept) },
    waits: waits.filter(isKept),
  };
}
