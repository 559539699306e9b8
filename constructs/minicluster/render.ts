/**
 * Renders a resource to the manifests that it consists of, for the construct, for `fluxqueue render` and for the
 * controller. Rendering is a pure function: the same resource always gives the same text.
 */
import { configMapFiles, configMaps } from './config-maps';
import { type ClusterContext, contextOf } from './context';
import { workload } from './job';
import { keygenManifests } from './keygen';
import type { LazyManifest } from './manifest';
import type { ManifestObject, MiniClusterResource, RenderOptions } from './resource';
import { headlessService, portServices, servicesDeployment } from './services';

/**
 * Renders the manifests in the order in which they are applied. It does not validate the resource; `validateMiniCluster`
 * does.
 */
export function renderMiniCluster(
  resource: MiniClusterResource,
  options: RenderOptions = {},
): readonly ManifestObject[] {
  return lazyManifests(contextOf(resource), options).map((manifest) => manifest.produce());
}

/** Returns the same manifests without their content; the workload (Job or StatefulSet) is the last one. */
export function lazyManifests(
  context: ClusterContext,
  { keygen, report }: RenderOptions,
): readonly LazyManifest[] {
  const files = once(() => configMapFiles(context, report));
  const manifests = keygen === undefined ? [] : keygenManifests(context, keygen);
  manifests.push(...configMaps(context, files), headlessService(context));
  manifests.push(...portServices(context), ...servicesDeployment(context), workload(context, files));
  return manifests;
}

function once<T extends object>(produce: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= produce();
    return value;
  };
}
