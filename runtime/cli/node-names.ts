/** Nodes in the order in which people count: node-2 before node-10. */
import { byNumber } from '../resources/hostlist';

export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return byNumber(a.name, b.name) || (a.name < b.name ? -1 : 1);
}
