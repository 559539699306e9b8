/** Refusals that the library does not give itself. */
import { FluxqError } from '../../errors';
import type { Jobspec, JobspecResource } from '../../jobspec/types';
import type { EngineResult } from '../engine';
import type { MatchOperation } from '../types';

export const NO_NODES = 'the graph has no nodes';

/** The refusal that Fluxion gives in a graph with nodes: for all operations but one, too many nodes are BUSY. */
export function noNodes(jobspec: Jobspec, operation: MatchOperation): EngineResult {
  const looksAhead = operation === 'allocate_orelse_reserve' || operation === 'without_allocating_future';
  const unsatisfiable =
    operation === 'allocate_with_satisfiability' || (looksAhead && !asksNodes(jobspec.resources));
  return { status: unsatisfiable ? 'UNSATISFIABLE' : 'BUSY', text: NO_NODES };
}

function asksNodes(resources: readonly JobspecResource[]): boolean {
  return resources.some(({ type, with: inside = [] }) => type === 'node' || asksNodes(inside));
}

export function refusedReplay(jobid: number, reason: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_REPLAY', reason, {
    field: 'jobid',
    value: jobid,
    remedy: 'requeue the workload',
  });
}
