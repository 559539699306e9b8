/** RFC 6902 `add`, the one operation that admission uses, as the apiserver applies it. */
import type { JsonPatch } from '../../runtime/admission/review';

type Json = Record<string, unknown> | unknown[];

/** A patched copy. @throws when the parent of a path is missing, as the apiserver does */
export function applyPatch<T>(document: T, patch: readonly JsonPatch[]): T {
  const copy = structuredClone(document);
  for (const { path, value } of patch) add(copy as Json, path, structuredClone(value));
  return copy;
}

function add(document: Json, path: string, value: unknown): void {
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
  if (!Array.isArray(parent)) parent[last] = value;
  else if (last === '-') parent.push(value);
  else throw new Error(`inserting into a list is not used: ${path}`);
}
