/**
 * From a resource to the manifests it is made of: the one way there, for the
 * construct, for `fluxqueue render` and for the runtime's controller. A pure
 * function; the same resource gives the same text.
 */
import { configMaps, scriptFiles } from './config-maps';
import { type Parts, takeApart } from './context';
import { workload } from './job';
import { keygen } from './keygen';
import type { ManifestObject, MiniClusterResource, RenderOptions } from './resource';
import { headlessService, portServices, servicesDeployment } from './services';

/**
 * The manifests in the order in which they are applied. What is wrong with the
 * resource `checkMiniCluster` says; this renders what it is given.
 */
export function renderMiniCluster(
  resource: MiniClusterResource,
  options: RenderOptions = {},
): readonly ManifestObject[] {
  return renderParts(takeApart(resource), options);
}

/** The same, of a resource that was taken apart to be checked. */
export function renderParts(parts: Parts, options: RenderOptions): readonly ManifestObject[] {
  const scripts = scriptFiles(parts);
  const manifests = options.keygen === undefined ? [] : keygen(parts, options.keygen);
  manifests.push(...configMaps(parts, scripts), headlessService(parts));
  manifests.push(...portServices(parts), ...servicesDeployment(parts), workload(parts, scripts));
  return manifests;
}
