/** Applies the objects of a cluster while its programs start. */
import type { ApiClient, KubeObject } from './api';

interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

/** Enough for two cores. */
const PARALLEL = 4;

const isDefinition = (object: KubeObject): object is Definition => object.kind === 'CustomResourceDefinition';
const isFirst = (object: KubeObject) => object.kind === 'Namespace' || isDefinition(object);

/**
 * Applies namespaces and definitions, and waits until their kinds are served. The garbage collector learns about kinds that
 * it does not find at its start after half a minute only.
 */
export async function applyDefinitions(api: ApiClient, objects: readonly KubeObject[]): Promise<void> {
  await api.apply(objects.filter(isFirst));
  for (const { spec } of objects.filter(isDefinition))
    for (const { name, served } of spec.versions)
      if (served)
        await api.collection({
          apiVersion: `${spec.group}/${name}`,
          kind: spec.names.kind,
          metadata: { name: '' },
        });
}

/** Applies all other objects, side by side. */
export async function applyOthers(api: ApiClient, objects: readonly KubeObject[]): Promise<void> {
  const pending = objects.filter((object) => !isFirst(object));
  const worker = async () => {
    for (let object = pending.shift(); object !== undefined; object = pending.shift())
      await api.apply(object);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}
