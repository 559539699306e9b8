/**
 * What of a spec can take effect now. Brokers read how many ranks there are
 * when they start, so a cluster that has started keeps the maximum it started
 * with: within it the size may change, beyond it only a new cluster helps. Pure.
 */
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import { hasStarted, maximumSize, type Refusal } from './lifecycle';
import type { Progress } from './progress';
import type { MiniCluster } from './resource';

export interface Plan {
  /** The spec to render. */
  readonly spec: MiniClusterSpec;
  /** What of the user's spec is not in it. */
  readonly refusal: Refusal | undefined;
}

/** @param progress of its Job, if that is there */
export function planOf(cluster: MiniCluster, progress: Progress | undefined): Plan {
  const { spec, status } = cluster;
  if (progress === undefined || !hasStarted(status?.phase)) return { spec, refusal: undefined };
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
