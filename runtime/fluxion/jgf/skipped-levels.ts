/**
 * Requests that flux-sched does not answer in a defined way: a slot directly in a named level, of resources that are below a
 * level that the request does not name, as in rack[slot[core]] on a graph with nodes. Its traverser finds such slots and
 * cannot allocate them, so it answers BUSY for ever. Both engines refuse them instead.
 */
/** The part of a jobspec's resource that matters here. */
interface RequestedResource {
  readonly type: string;
  readonly with?: readonly RequestedResource[];
}

export interface PlacedVertex {
  /** Containment path. */
  readonly path: string;
  readonly type: string;
}

/** A vertex with children, and the one above it: their types, and the types of their children. */
interface Pair {
  readonly above: string;
  readonly aboveChildren: ReadonlySet<string>;
  readonly type: string;
  readonly children: ReadonlySet<string>;
}

export class SkippedLevels {
  private pairs: readonly Pair[] | undefined;

  /** @param vertices of the graph; units of one type and parent may be one vertex */
  constructor(private readonly vertices: () => Iterable<PlacedVertex>) {}

  /** Nodes were added or removed. */
  graphChanged(): void {
    this.pairs = undefined;
  }

  /** Why such a request is refused; undefined for all other requests, also for those that Fluxion cannot read. */
  refusalOf(resources: readonly RequestedResource[]): string | undefined {
    if (!Array.isArray(resources)) return undefined;
    for (const { type, with: inside = [] } of resources) {
      const slot = inside.find((one: RequestedResource) => one.type === 'slot');
      const skipped = slot && this.levelBetween(type, slot.with ?? []);
      if (skipped !== undefined)
        return `a slot in "${type}" must name the level between them: ${type}, ${skipped}, slot`;
      const below = this.refusalOf(inside);
      if (below !== undefined) return below;
    }
    return undefined;
  }

  private levelBetween(named: string, wanted: readonly RequestedResource[]): string | undefined {
    if (named === 'slot') return undefined;
    this.pairs ??= pairsOf(this.vertices());
    const hasAll = (children: ReadonlySet<string>) => wanted.every(({ type }) => children.has(type));
    return this.pairs.find(
      ({ above, aboveChildren, children }) => above === named && !hasAll(aboveChildren) && hasAll(children),
    )?.type;
  }
}

/** All different pairs. The root is left out above: flux-sched passes any levels below it. */
function pairsOf(vertices: Iterable<PlacedVertex>): Pair[] {
  const typeOf = new Map<string, string>();
  const childrenOf = new Map<string, Set<string>>();
  for (const { path, type } of vertices) {
    typeOf.set(path, type);
    const above = parentOf(path);
    const children = childrenOf.get(above);
    if (children === undefined) childrenOf.set(above, new Set([type]));
    else children.add(type);
  }
  const pairs = new Map<string, Pair>();
  for (const [path, children] of childrenOf) {
    const parent = parentOf(path);
    const [type, above, aboveChildren] = [typeOf.get(path), typeOf.get(parent), childrenOf.get(parent)];
    if (type === undefined || above === undefined || parentOf(parent) === '') continue;
    const key = [above, ...aboveChildren!, '', type, ...children].join(' ');
    pairs.set(key, { above, aboveChildren: aboveChildren!, type, children });
  }
  return [...pairs.values()];
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
