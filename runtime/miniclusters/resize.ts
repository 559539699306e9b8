/**
 * The part of a spec that can take effect now. Brokers read the number of ranks
 * when they start, so a started cluster keeps the maximum size with which it
 * started. The size can change up to that maximum; a larger size requires a new
 * cluster.
 */
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { MiniCluster } from './resource';
import { hasStarted, maximumSize, type Rejection } from './status';
import type { Progress } from './workload-status';

export interface EffectiveSpec {
  /** The spec to render. */
  readonly spec: MiniClusterSpec;
  /** The part of the user's spec that cannot take effect. */
  readonly rejection: Rejection | undefined;
}

export type WorkloadKind = 'Job' | 'StatefulSet';

/**
 * @param progress progress of the cluster's workload; undefined if that does not exist yet
 * @param kind kind of the cluster's workload; undefined if that does not exist yet
 */
export function effectiveSpec(
  cluster: MiniCluster,
  progress: Progress | undefined,
  kind: WorkloadKind | undefined,
): EffectiveSpec {
  const { spec } = cluster;
  if (progress === undefined || kind === undefined) return { spec, rejection: undefined };
  const { workload = 'Job' } = spec;
  const sized = withEffectiveSize(cluster, progress);
  if (workload === kind) return sized;
  const message =
    `spec.workload: cannot change from ${kind} (got ${JSON.stringify(workload)}); ` +
    'delete and recreate the MiniCluster to change it';
  return { spec: { ...sized.spec, workload: kind }, rejection: { reason: 'Immutable', message } };
}

function withEffectiveSize(cluster: MiniCluster, progress: Progress): EffectiveSpec {
  const { spec, status } = cluster;
  if (!hasStarted(status?.phase)) return { spec, rejection: undefined };
  const registered = maximumSize(cluster);
  const size = spec.size ?? 1;
  const fits = size <= registered;
  const rejection =
    fits && (spec.maxSize ?? registered) <= registered
      ? undefined
      : {
          reason: 'MaximumFixed',
          message:
            `spec.${fits ? 'maxSize' : 'size'}: must be at most ${registered}, the maximum size at the start of the brokers ` +
            `(got ${fits ? spec.maxSize : size}); delete and recreate the MiniCluster to make it larger`,
        };
  return { spec: { ...spec, size: fits ? size : progress.desired, maxSize: registered }, rejection };
}
