/**
 * The part of a FluxJob that is kept in memory, by its watch and by the reconciler that writes it: what decides whether it
 * has to be written. Specs are the same for all workloads that ask alike, and conditions for those that were judged alike
 * in one second, so both are interned.
 */
import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import type { InternPool } from '../intern';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import { mapped } from './pod-projection';

type Spec = FluxJobObject['spec'];

/** The spec without the name of the workload, which never changes. */
type WatchedSpec = Omit<Spec, 'workload'>;

export interface WatchedFluxJob {
  /** The uid of the FluxJob. */
  readonly uid: string;
  /** The uid of its workload. */
  readonly workload: string;
  readonly spec: WatchedSpec;
  readonly status: FluxJobStatus;
  /** Whether nothing owns it any more: its workload was deleted without what it owns. @default false */
  readonly isOrphan?: boolean;
}

export function projectFluxJob({ metadata, ...shown }: FluxJobObject, pool: InternPool): WatchedFluxJob {
  const { uid, ownerReferences = [] } = metadata;
  return {
    ...watchedFluxJob(uid, shown, pool),
    ...mapped('isOrphan', ownerReferences.length === 0 || undefined),
  };
}

/** @param uid of the FluxJob */
export function watchedFluxJob(
  uid: string,
  { spec, status = {} }: Pick<FluxJobObject, 'spec' | 'status'>,
  pool: InternPool,
): WatchedFluxJob {
  const workload = pool.text(spec.workload.uid);
  return { uid, workload, spec: keptSpec(spec, pool), status: keptStatus(status, pool) };
}

export function keptSpec(
  { queue, priority, walltimeSeconds, pods, jobspec }: Spec,
  pool: InternPool,
): WatchedSpec {
  return pool.object({
    queue,
    ...mapped('priority', priority),
    ...mapped('walltimeSeconds', walltimeSeconds),
    ...mapped('pods', pods),
    ...mapped('jobspec', pool.text(jobspec)),
  });
}

function keptStatus(status: FluxJobStatus, pool: InternPool): FluxJobStatus {
  const { conditions } = status;
  if (conditions === undefined) return status;
  const kept = conditions.map(({ type, status: value, reason, message, lastTransitionTime }) => ({
    type: pool.text(type),
    status: pool.text(value),
    reason: pool.text(reason),
    message: pool.text(message),
    lastTransitionTime: pool.text(lastTransitionTime),
  }));
  return { ...status, conditions: pool.object(kept) };
}
