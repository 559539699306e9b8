/**
 * When a workload that runs ends at the latest. The end of its allocation is that time: plans and promises of others, and what
 * its user is told, follow it. A grant plans with a prompt start; the first container may start late, and its user may lower the
 * deadline, which Kubernetes counts from its own start of the Job.
 */
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { isEndless } from '../resources/endless';
import { END_TOLERANCE_SECONDS } from '../resources/told-end';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import { type ActiveWorkload, secondsOf } from './adapter';
import { PARKED_SECONDS } from './deadlines';

/** A Job and a Pod have both fields, with the same meaning. */
type Limited = KubernetesObject & {
  readonly spec?: { readonly activeDeadlineSeconds?: number; readonly suspend?: boolean };
  readonly status?: { readonly startTime?: string };
};

interface GrantedEndOptions {
  readonly workloadCache: Pick<WorkloadCache, 'shrink'>;
  readonly onQueueChanged: () => void;
  readonly logger: DecisionLogger;
}

/** Unix seconds of the latest end; undefined while the workload has not started, or is ending already. */
export function latestEnd({ object, row }: Pick<ActiveWorkload, 'object' | 'row'>): number | undefined {
  const { metadata, spec = {}, status = {} } = object as Limited;
  const { allocation, startedAt, evictionReason, walltime } = row;
  if (startedAt === null || allocation === null || isEndless(allocation)) return undefined;
  if (evictionReason !== null || metadata.deletionTimestamp !== undefined || spec.suspend === true)
    return undefined;
  const begun = secondsOf(status.startTime ?? '');
  const byWalltime = startedAt + walltime;
  const { activeDeadlineSeconds } = spec;
  if (activeDeadlineSeconds === undefined || !Number.isFinite(begun)) return byWalltime;
  // The watch still shows the Job before its grant.
  return activeDeadlineSeconds === PARKED_SECONDS
    ? undefined
    : Math.min(byWalltime, begun + activeDeadlineSeconds);
}

/** Moves the end of the allocation to the latest end of the workload. */
export async function followEnd(
  { workloadCache, onQueueChanged, logger }: GrantedEndOptions,
  { object, row }: Pick<ActiveWorkload, 'object' | 'row'>,
): Promise<void> {
  const end = latestEnd({ object, row });
  if (end === undefined || isNear(end, row)) return;
  await workloadCache.shrink(row.uid, { ...row.allocation!, end: Math.ceil(end) }, []);
  logDecision(logger, row, 'its latest end has moved', { end, planned: row.allocation!.end });
  onQueueChanged();
}

function isNear(end: number, { allocation }: WorkloadRow): boolean {
  return Math.abs(end - allocation!.end) <= END_TOLERANCE_SECONDS;
}
