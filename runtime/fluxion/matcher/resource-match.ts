/** Matches the resources of a request with one vertex of the traversal. */
import type { Branch } from './branch';
import type { Resource } from './request';
import { SLOT } from './resource-types';

/**
 * The resource that applies to a vertex of this type: the resource of that type, or the slot. Undefined when none
 * applies; null when two apply, and then the vertex never matches.
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
 * The slot to fill at this vertex: the slot requested at the vertex or below the matching resource, if all its
 * elements are children of the vertex.
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

/** The resource that applies to a leaf of this type: one without children, and no slot. */
export function resourceForLeaf(type: number, resources: readonly Resource[]): Resource | undefined {
  const found = resourceFor(type, resources);
  return found?.type === type && found.with.length === 0 ? found : undefined;
}
