/** Paths of the Kubernetes API: `jobs('default', 'train', 'status')`. */
import { FluxqError } from '../errors';

export interface ResourcePath {
  /** API group; empty for the core group. @default '' */
  readonly group?: string;
  /** @default 'v1' */
  readonly version?: string;
  /** Plural, as in the URL: `pods`. */
  readonly resource: string;
  /** @default - all namespaces, or a resource without namespaces */
  readonly namespace?: string;
  readonly name?: string;
  /** `status`, `scale`, `binding`. */
  readonly subresource?: string;
}

/**
 * Every part is escaped, so that a name from user input can't change the path. An empty one would make the path of an object
 * that of all of them.
 * @throws FluxqError FLUXQ_EMPTY_NAME
 */
export function resourcePath({
  group = '',
  version = 'v1',
  resource,
  namespace,
  name,
  subresource,
}: ResourcePath): string {
  for (const [field, part] of Object.entries({ namespace, name, subresource })) refuseEmpty(field, part);
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const place = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  const part = subresource === undefined ? '' : `/${subresource}`;
  return `${root}${place}/${resource}${object}${part}`;
}

function refuseEmpty(field: string, part: string | undefined): void {
  if (part === '') throw emptyName(field);
}

/** @param field the part of a path, the argument or the option that is empty */
export function emptyName(field: string): FluxqError {
  return new FluxqError('FLUXQ_EMPTY_NAME', 'is empty', {
    field,
    value: '',
    remedy: 'give it a value; a variable of the shell may be unset',
  });
}

export type NamespacedPath = (namespace?: string, name?: string, subresource?: string) => string;
export type ClusterPath = (name?: string, subresource?: string) => string;

/** The paths of a namespaced resource. */
export function namespaced(group: string, version: string, resource: string): NamespacedPath {
  return (namespace, name, subresource) =>
    resourcePath({
      group,
      version,
      resource,
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(subresource !== undefined && { subresource }),
    });
}

/** The paths of a resource without namespaces. */
export function clusterWide(group: string, version: string, resource: string): ClusterPath {
  return (name, subresource) =>
    resourcePath({
      group,
      version,
      resource,
      ...(name !== undefined && { name }),
      ...(subresource !== undefined && { subresource }),
    });
}

function admission(resource: string): ClusterPath {
  return clusterWide('admissionregistration.k8s.io', 'v1', resource);
}

export const jobs = namespaced('batch', 'v1', 'jobs');
export const pods = namespaced('', 'v1', 'pods');
export const secrets = namespaced('', 'v1', 'secrets');
export const configMaps = namespaced('', 'v1', 'configmaps');
export const leases = namespaced('coordination.k8s.io', 'v1', 'leases');
export const events = namespaced('events.k8s.io', 'v1', 'events');
export const namespaces = clusterWide('', 'v1', 'namespaces');
export const limitRanges = namespaced('', 'v1', 'limitranges');
export const nodes = clusterWide('', 'v1', 'nodes');
export const priorityClasses = clusterWide('scheduling.k8s.io', 'v1', 'priorityclasses');
export const runtimeClasses = clusterWide('node.k8s.io', 'v1', 'runtimeclasses');
export const persistentVolumeClaims = namespaced('', 'v1', 'persistentvolumeclaims');
export const persistentVolumes = clusterWide('', 'v1', 'persistentvolumes');
export const resourceClaims = namespaced('resource.k8s.io', 'v1', 'resourceclaims');
export const resourceClaimTemplates = namespaced('resource.k8s.io', 'v1', 'resourceclaimtemplates');
export const apiServices = clusterWide('apiregistration.k8s.io', 'v1', 'apiservices');
export const mutatingWebhookConfigurations = admission('mutatingwebhookconfigurations');
export const mutatingAdmissionPolicies = admission('mutatingadmissionpolicies');
export const mutatingAdmissionPolicyBindings = admission('mutatingadmissionpolicybindings');
export const validatingAdmissionPolicies = admission('validatingadmissionpolicies');
export const validatingAdmissionPolicyBindings = admission('validatingadmissionpolicybindings');
export const storageClasses = clusterWide('storage.k8s.io', 'v1', 'storageclasses');

/** The plural resource in a path, for metrics: `/apis/batch/v1/namespaces/a/jobs/b/status` gives `jobs/status`. */
export function resourceOf(path: string): string {
  const { parts, at } = dissect(path);
  const resource = parts[at] ?? path;
  const subresource = parts[at + 2];
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}

/** The path of an object, without its subresource. */
export function objectPath(path: string): string {
  const { parts, at } = dissect(path);
  return parts.slice(0, at + 2).join('/');
}

/** The namespace of the object or collection; undefined for one without. */
export function namespaceOf(path: string): string | undefined {
  const { parts, at, namespaced } = dissect(path);
  return namespaced ? decodeURIComponent(parts[at - 1]!) : undefined;
}

/** Subresources of a Namespace: `namespaces/a/status` is not the path of a resource in the namespace. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

/** The parts of a path, and the index of the resource among them. */
function dissect(path: string): {
  readonly parts: readonly string[];
  readonly at: number;
  readonly namespaced: boolean;
} {
  const query = path.indexOf('?');
  // ['', 'api', version, ...] or ['', 'apis', group, version, ...]
  const parts = (query === -1 ? path : path.slice(0, query)).split('/');
  const at = parts[1] === 'api' ? 3 : 4;
  const inside = parts[at + 2];
  const namespaced = parts[at] === 'namespaces' && inside !== undefined && !OF_NAMESPACES.has(inside);
  return { parts, at: namespaced ? at + 2 : at, namespaced };
}
