/** Suspended workloads that have run, where Kubernetes keeps their template as it was. */
import type { KubernetesClient } from '../kubernetes/client';
import { applyPatch } from '../kubernetes/writes';
import type { ActiveWorkload } from './adapter';

/**
 * Whether Kubernetes accepts the release of a suspended workload. If it never would by itself, its status is patched: the watch shows
 * then that it does.
 */
export async function isReleasable(
  client: KubernetesClient,
  { object, adapter, row }: Pick<ActiveWorkload, 'object' | 'adapter' | 'row'>,
): Promise<boolean> {
  if (adapter.canRelease(object)) return true;
  const patch = adapter.thawPatch(object);
  if (patch !== undefined) await applyPatch(client, `${adapter.path(row.namespace, row.name)}/status`, patch);
  return false;
}
