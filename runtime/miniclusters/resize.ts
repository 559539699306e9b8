/**
 * What of a spec can take effect now. Brokers read how many ranks there are
 * when they start, so a cluster that has started keeps the maximum it started
 * with: within it the size may change, beyond it only a new cluster helps. Pure.
 */
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { MiniCluster } from './resource';
import { hasStarted, maximumSize, type Refusal } from './status';
import type { Progress } from './workload-status';

export interface Plan {
  /** The spec to render. */
  readonly spec: MiniClusterSpec;
  /** What of the user's spec is not in it. */
  readonly refusal: Refusal | undefined;
}

export type WorkloadKind = 'Job' | 'StatefulSet';

/**
 * @param progress of its workload, if that is there
 * @param kind of its workload
 */
export function planOf(
  cluster: MiniCluster,
  progress: Progress | undefined,
  kind: WorkloadKind | undefined,
): Plan {
  const { spec } = cluster;
  if (progress === undefined || kind === undefined) return { spec, refusal: undefined };
  const { workload = 'Job' } = spec;
  const sized = sizePlan(cluster, progress);
  if (workload === kind) return sized;
  const message =
    `spec.workload: it is made as a ${kind} (got ${JSON.stringify(workload)}); ` +
    'delete the MiniCluster and apply it anew to make it another';
  return { spec: { ...sized.spec, workload: kind }, refusal: { reason: 'Immutable', message } };
}

function sizePlan(cluster: MiniCluster, progress: Progress): Plan {
  const { spec, status } = cluster;
  if (!hasStarted(status?.phase)) return { spec, refusal: undefined };
  const registered = maximumSize(cluster);
  const size = spec.size ?? 1;
  const fits = size <= registered;
  const refusal =
    fits && (spec.maxSize ?? registered) <= registered
      ? undefined
      : {
          reason: 'MaximumFixed',
          message:
            `spec.${fits ? 'maxSize' : 'size'}: its brokers were started with at most ${registered} ranks ` +
            `(got ${fits ? spec.maxSize : size}); delete the MiniCluster and apply it anew to make it larger`,
        };
  return { spec: { ...spec, size: fits ? size : progress.wanted, maxSize: registered }, refusal };
}
