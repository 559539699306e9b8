/** Applies the JSON patch operations (RFC 6902) that admission uses, as the apiserver does. */
import type { JsonPatch } from '../../runtime/kubernetes/json-patch';

type Json = Record<string, unknown> | unknown[];

/** Returns a patched copy. @throws if the parent of a path is missing, as the apiserver does */
export function applyPatch<T>(document: T, patch: readonly JsonPatch[]): T {
  const copy = structuredClone(document);
  for (const operation of patch) {
    const [parent, last] = locate(copy as Json, operation.path);
    if (operation.op === 'add') add(parent, last, structuredClone(operation.value));
    else remove(parent, last);
  }
  return copy;
}

function locate(document: Json, path: string): [parent: Json, last: string] {
  const tokens = path
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = tokens.pop() as string;
  const parent = tokens.reduce<unknown>(
    (at, token) => (at as Record<string, unknown>)[token],
    document,
  ) as Json;
  if (typeof parent !== 'object' || parent === null) throw new Error(`no parent of ${path}`);
  return [parent, last];
}

function add(parent: Json, last: string, value: unknown): void {
  if (!Array.isArray(parent)) parent[last] = value;
  else if (last === '-') parent.push(value);
  else throw new Error(`inserting into a list is not used: ${last}`);
}

function remove(parent: Json, last: string): void {
  if (Array.isArray(parent)) throw new Error(`removing from a list is not used: ${last}`);
  if (!(last in parent)) throw new Error(`nothing to remove at ${last}`);
  delete parent[last];
}
