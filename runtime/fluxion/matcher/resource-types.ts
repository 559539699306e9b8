/** Resource types as numbers. Their order affects answers, because pruning filters are sorted by it. */
const BUILT_IN = [
  'cluster',
  'core',
  'socket',
  'gpu',
  'node',
  'rack',
  'slot',
  'xor_slot',
  'ssd',
  'storage_node',
] as const;

export const NODE = BUILT_IN.indexOf('node');
export const SLOT = BUILT_IN.indexOf('slot');
export const STORAGE_NODE = BUILT_IN.indexOf('storage_node');

/** Whether flux-sched knows the type in any graph with these pruning filters. */
export function isAlwaysKnown(type: string, pruneFilters: string): boolean {
  return (BUILT_IN as readonly string[]).includes(type) || filteredTypes(pruneFilters).includes(type);
}

/** @param pruneFilters in the syntax of flux-sched, for example `ALL:core,ALL:node,cluster:gpu` */
export function filteredTypes(pruneFilters: string): string[] {
  const pairs = pruneFilters.split(',').filter((pair) => pair.includes(':'));
  return pairs.map((pair) => pair.slice(pair.indexOf(':') + 1));
}

export class ResourceTypes {
  private readonly numbers = new Map<string, number>();
  readonly names: string[] = [];

  constructor(names: Iterable<string> = BUILT_IN) {
    for (const name of names) this.intern(name);
  }

  intern(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    this.numbers.set(name, this.names.length);
    this.names.push(name);
    return this.names.length - 1;
  }

  find(name: string): number | undefined {
    return this.numbers.get(name);
  }

  clone(): ResourceTypes {
    return new ResourceTypes(this.names);
  }
}
