/** Keeps the pods of one test on nodes of its own. */
import type { KubeObject } from '../cluster/api';
import type { NodeShape } from '../cluster/nodes';

/** The label of nodes that one test has for itself. */
export const OWNER_LABEL = 'fluxqueue.test/owner';

/** The shape of a node that only this owner's pods use. */
export function owned(shape: NodeShape, owner: string): NodeShape {
  return { ...shape, labels: { [OWNER_LABEL]: owner, ...shape.labels } };
}

const CLUSTER_WIDE = new Set([
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'PersistentVolume',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
]);

/** The manifest in this namespace, with a node selector in each of its pod templates. */
export function placed(manifest: KubeObject, namespace: string, owner = namespace): KubeObject {
  const scope = CLUSTER_WIDE.has(manifest.kind) ? {} : { namespace };
  const object = { ...manifest, metadata: { ...scope, ...manifest.metadata } };
  return withSelector(object, owner) as KubeObject;
}

function withSelector(value: unknown, owner: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withSelector(item, owner));
  const entries = Object.entries(value).map(([key, item]) => [key, withSelector(item, owner)]);
  const object = Object.fromEntries(entries) as Record<string, unknown>;
  // A pod's spec is the only object with a list of containers; a MiniCluster has its pod's fields beside the list.
  if (!Array.isArray(object.containers)) return object;
  if ('size' in object) return { ...object, pod: selecting(object.pod, owner) };
  return selecting(object, owner);
}

function selecting(spec: unknown, owner: string): object {
  const { nodeSelector, ...rest } = (spec ?? {}) as { nodeSelector?: object };
  return { ...rest, nodeSelector: { [OWNER_LABEL]: owner, ...nodeSelector } };
}
