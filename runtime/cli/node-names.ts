/** Names of nodes in the order in which people count: node-2 before node-10. */
import { formatHostlist } from '../resources/hostlist';

const { compare } = new Intl.Collator('en', { numeric: true });

export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compare(a.name, b.name) || (a.name < b.name ? -1 : 1);
}

/** Names in any order as a hostlist. */
export function hostlistOf(names: readonly string[]): string {
  return formatHostlist(names.toSorted(compare));
}
