/** What a request means for one vertex of the walk. */
import type { Branch } from './branch';
import type { Resource } from './request';
import { SLOT } from './resource-types';

/**
 * The one of `resources` that concerns a vertex of this type: the one of the type itself, or the
 * slot. Undefined for none; null for two, and then the vertex never matches.
 */
export function resourceFor(type: number, resources: readonly Resource[]): Resource | undefined | null {
  let found: Resource | undefined;
  for (const resource of resources) {
    if (resource.type !== type && resource.type !== SLOT) continue;
    if (found !== undefined) return null;
    found = resource;
  }
  return found;
}

/**
 * The slot to be filled at this vertex: the one that is asked for here or just below, if all its elements are
 * directly below.
 */
export function slotAt(
  branch: Branch,
  wanted: Resource | undefined,
  match: Resource | undefined,
): Resource | undefined {
  const slot = match === undefined ? wanted : match.slot;
  if (slot === undefined) return undefined;
  for (const { type } of slot.with) if (!branch.hasChildOfType(type)) return undefined;
  return slot;
}

/** What a leaf of this type is asked for: nothing below it, and no slot beside it. */
export function resourceForLeaf(type: number, resources: readonly Resource[]): Resource | undefined {
  const found = resourceFor(type, resources);
  return found?.type === type && found.with.length === 0 ? found : undefined;
}
