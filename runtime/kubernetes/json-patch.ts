/** JSON patches (RFC 6902) of the maps of an object, such as its labels. */
import { keyOfToken, pointerToken } from '../../constructs/api/json-pointer';

/** An operation that changes an object. `add` also replaces a member of an object. */
export type JsonPatch =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Sets the wanted entries of a map and removes those that are undefined.
 * @param map undefined if the object has no such map, which a patch then creates, because its entries need it
 */
export function patchEntries(
  path: string,
  map: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string | undefined>>,
): JsonPatch[] {
  const changed = Object.entries(wanted).filter(([key, value]) => map?.[key] !== value);
  if (changed.length === 0) return [];
  if (map === undefined) return [{ op: 'add', path, value: Object.fromEntries(changed) }];
  return changed.map(([key, value]) => {
    const at = `${path}/${pointerToken(key)}`;
    return value === undefined ? { op: 'remove', path: at } : { op: 'add', path: at, value };
  });
}

type Container = Record<string, unknown> | unknown[];

/** A changed copy of the object, as the apiserver makes it from patches of this file. Paths must exist up to their last key. */
export function patched<T extends object>(object: T, patch: readonly JsonPatch[]): T {
  const copy = structuredClone(object);
  for (const operation of patch) {
    const keys = operation.path.slice(1).split('/').map(keyOfToken);
    const last = keys.pop()!;
    const parent = keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], copy) as Container;
    if (Array.isArray(parent))
      parent.splice(last === '-' ? parent.length : Number(last), 0, addedBy(operation));
    else if (operation.op === 'remove') delete parent[last];
    else parent[last] = operation.value;
  }
  return copy;
}

function addedBy(operation: JsonPatch): unknown {
  return operation.op === 'add' ? operation.value : undefined;
}
