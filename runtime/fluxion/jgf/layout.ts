/**
 * Builds the resource graph in JGF from nodes: cluster -> (zone -> rack) -> node -> one vertex per unit. Ids are
 * consecutive per type and set explicitly: by default Fluxion takes the trailing digits of a host name as id, and
 * equal ids are ties.
 */
import { isDeepStrictEqual } from 'node:util';
import { FluxqError, messageOf } from '../../errors';
import type { GraphNode, UnitCounts } from '../../resources/types';
import type { PlacedVertex } from './skipped-levels';
import type { JgfEdge, JgfGraph, JgfVertex } from './types';

export interface Vertex {
  readonly type: string;
  readonly name: string;
  readonly basename: string;
  readonly id: number;
  readonly uniqId: number;
  readonly rank: number;
  readonly path: string;
  readonly properties?: readonly string[];
  readonly down?: boolean;
}

/** The position of one node and its units in the graph. */
export interface PlacedNode {
  readonly node: GraphNode;
  /** The vertices from the root to the node. */
  readonly chain: readonly Vertex[];
  /** By unit type: id and uniq_id of unit number 0, which the other units continue. */
  readonly units: ReadonlyMap<
    string,
    { readonly id: number; readonly uniqId: number; readonly count: number }
  >;
}

const ROOT: Vertex = {
  type: 'cluster',
  name: 'cluster0',
  basename: 'cluster',
  id: 0,
  uniqId: 0,
  rank: -1,
  path: '/cluster0',
};

/** The vertices of the graph with their ids. Nodes can be added and removed; an id is never reused. */
export class GraphLayout {
  private readonly placed = new Map<string, PlacedNode>();
  private readonly levels = new Map<string, Vertex>();
  /** Number of nodes below each level, by path. */
  private readonly levelNodes = new Map<string, number>();
  private readonly nextId = new Map<string, number>();
  private nextUniqId = 1;

  constructor(nodes: readonly GraphNode[]) {
    this.add(nodes);
  }

  get nodes(): ReadonlyMap<string, PlacedNode> {
    return this.placed;
  }

  /** @throws FluxqError FLUXQ_FLUXION_GRAPH, and adds no node */
  add(nodes: readonly GraphNode[]): PlacedNode[] {
    checkNodes(nodes, this.placed);
    return nodes.map((node) => this.place(node));
  }

  /** A level that has no nodes left is removed, too: if it comes back, it is a new vertex. */
  remove(name: string): void {
    const chain = this.placed.get(name)?.chain ?? [];
    this.placed.delete(name);
    for (const { path } of chain.slice(1, -1)) {
      const left = (this.levelNodes.get(path) ?? 0) - 1;
      this.levelNodes.set(path, left);
      if (left > 0) continue;
      this.levels.delete(path);
      this.levelNodes.delete(path);
    }
  }

  setStatus(name: string, up: boolean): void {
    const placed = this.placed.get(name);
    if (placed !== undefined) this.placed.set(name, { ...placed, node: { ...placed.node, up } });
  }

  /**
   * Goes on as a new layout of these nodes, if it is equal to it, whatever is down: later nodes get the ids that they would
   * have there.
   * @returns false if it is not equal
   */
  restart(nodes: readonly GraphNode[]): boolean {
    if (nodes.length !== this.placed.size) return false;
    const up = (placed: PlacedNode) => ({ ...placed, node: { ...placed.node, up: true } });
    const made = new GraphLayout(nodes.map((node) => ({ ...node, up: true })));
    const own = this.placed.values();
    const isSame = (placed: PlacedNode) => isDeepStrictEqual(up(placed), up(own.next().value!));
    if (![...made.placed.values()].every(isSame)) return false;
    this.nextUniqId = made.nextUniqId;
    this.nextId.clear();
    for (const [type, id] of made.nextId) this.nextId.set(type, id);
    return true;
  }

  /** All levels and nodes, and one unit of each type below them. */
  *vertices(): Generator<PlacedVertex> {
    for (const { node, chain } of this.placed.values()) {
      for (const { path, type } of chain) yield { path, type };
      const { path } = chain.at(-1)!;
      for (const [type, count] of Object.entries(node.units))
        if (count > 0) yield { path: `${path}/${type.replaceAll('/', '_')}`, type };
    }
  }

  /** The names of the nodes below a zone or rack, in the order of the graph. */
  nodesBelow(levelPath: string): string[] {
    const below = [...this.placed.values()].filter(({ chain }) =>
      chain.some(({ path }) => path === levelPath),
    );
    const place = ({ chain }: PlacedNode) => chain.map(({ uniqId }) => uniqId);
    const compare = (a: readonly number[], b: readonly number[]) => {
      const i = a.findIndex((uniqId, j) => uniqId !== b[j]);
      return i < 0 ? 0 : a[i]! - (b[i] ?? 0);
    };
    return below.sort((a, b) => compare(place(a), place(b))).map(({ node }) => node.name);
  }

  /** The graph in JGF. */
  jgf(placed: readonly PlacedNode[] = [...this.placed.values()]): JgfGraph {
    return jgfOf(placed);
  }

  private place(node: GraphNode): PlacedNode {
    const chain: Vertex[] = [ROOT];
    if (node.zone !== undefined) chain.push(this.level('zone', node.zone, chain));
    if (node.rack !== undefined) chain.push(this.level('rack', node.rack, chain));
    for (const { path } of chain.slice(1)) this.levelNodes.set(path, (this.levelNodes.get(path) ?? 0) + 1);
    const id = this.take('node', 1);
    const parent = chain.at(-1)!;
    chain.push({
      type: 'node',
      name: node.name,
      basename: 'node',
      id,
      uniqId: this.takeUniq(1),
      rank: id,
      path: `${parent.path}/${node.name}`,
    });
    const units = new Map<string, { id: number; uniqId: number; count: number }>();
    for (const [type, count] of Object.entries(node.units)) {
      units.set(type, { id: this.take(type, count), uniqId: this.takeUniq(count), count });
    }
    const placed = { node, chain, units };
    this.placed.set(node.name, placed);
    return placed;
  }

  /** Names have the form TYPE=VALUE; no Kubernetes node name contains `=`, so a zone can't collide with a node. */
  private level(type: string, value: string, above: readonly Vertex[]): Vertex {
    const name = `${type}=${value}`;
    const path = `${above.at(-1)!.path}/${name}`;
    const known = this.levels.get(path);
    if (known !== undefined) return known;
    const level = {
      type,
      name,
      basename: type,
      id: this.take(type, 1),
      uniqId: this.takeUniq(1),
      rank: -1,
      path,
    };
    this.levels.set(path, level);
    return level;
  }

  private take(type: string, count: number): number {
    const first = this.nextId.get(type) ?? 0;
    this.nextId.set(type, first + count);
    return first;
  }

  private takeUniq(count: number): number {
    const first = this.nextUniqId;
    this.nextUniqId += count;
    return first;
  }
}

/**
 * The JGF of these nodes and of the levels above them, in the order in which the vertices were added. Fluxion explores
 * children in the order of their edges, so this order decides between equal scores, also after nodes were removed.
 */
function jgfOf(placed: readonly PlacedNode[]): JgfGraph {
  const parts = new Map<number, readonly [parent: Vertex, vertices: readonly Vertex[]]>();
  for (const one of placed) {
    const { node, chain, units } = one;
    const [parent, own] = [chain.at(-2)!, chain.at(-1)!];
    for (const [i, level] of chain.slice(0, -1).entries())
      if (i > 0) parts.set(level.uniqId, [chain[i - 1]!, [level]]);
    parts.set(own.uniqId, [parent, [{ ...own, properties: node.properties ?? [], down: node.up === false }]]);
    for (const [type, { uniqId, count }] of units)
      if (count > 0) parts.set(uniqId, [own, unitVertices(one, type)]);
  }
  const nodes: JgfVertex[] = [jgfVertex(ROOT)];
  const edges: JgfEdge[] = [];
  for (const [, [parent, vertices]] of [...parts].sort(([a], [b]) => a - b))
    for (const vertex of vertices) {
      nodes.push(jgfVertex(vertex));
      edges.push(containmentEdge(parent, vertex));
    }
  return { graph: { nodes, edges } };
}

function containmentEdge(parent: Vertex, child: Vertex): JgfEdge {
  return {
    source: `${parent.uniqId}`,
    target: `${child.uniqId}`,
    metadata: { subsystem: 'containment' },
  };
}

/** The unit vertices of one type below a node. */
function unitVertices(placed: PlacedNode, type: string): Vertex[] {
  const units = placed.units.get(type);
  if (units === undefined) return [];
  return Array.from({ length: units.count }, (_, number) => unitVertex(placed, type, number)!);
}

/** @param number of the unit within the node @returns undefined when the node has no such unit */
export function unitVertex(placed: PlacedNode, type: string, number: number): Vertex | undefined {
  const units = placed.units.get(type);
  if (units === undefined || number >= units.count) return undefined;
  const parent = placed.chain.at(-1)!;
  const basename = unitBasename(type);
  const name = `${basename}${number}`;
  return {
    type,
    name,
    basename,
    id: units.id + number,
    uniqId: units.uniqId + number,
    rank: parent.rank,
    path: `${parent.path}/${name}`,
  };
}

/** A unit type as basename: the slash of an extended resource (`example.com/dongle`) would split the path. */
export function unitBasename(type: string): string {
  return type.replaceAll('/', '_');
}

/** Writes all keys, because defaults differ between versions of Fluxion. */
export function jgfVertex(vertex: Vertex, exclusive = false): JgfVertex {
  const { type, basename, name, id, uniqId, rank, path, properties = [], down = false } = vertex;
  return {
    id: `${uniqId}`,
    metadata: {
      type,
      basename,
      name,
      id,
      uniq_id: uniqId,
      rank,
      // 0 is up, 1 is down.
      ...(down ? { status: 1 } : {}),
      exclusive,
      unit: '',
      size: 1,
      // Values must be strings: any other type aborts the library.
      properties: Object.fromEntries(properties.map((property) => [property, ''])),
      paths: { containment: path },
    },
  };
}

/** @throws FluxqError FLUXQ_FLUXION_GRAPH with the first invalid node */
export function checkNodes(nodes: readonly GraphNode[], known: { has(name: string): boolean }): void {
  const seen = new Set<string>();
  for (const { name, units } of nodes) {
    if (name === '' || name.includes('/')) throw badNode('name', name, 'use a name without "/"');
    if (seen.has(name) || known.has(name)) throw badNode('name', name, 'list each node once');
    seen.add(name);
    checkUnits(name, units);
  }
}

function checkUnits(name: string, units: UnitCounts): void {
  for (const [type, count] of Object.entries(units)) {
    if (type === '' || STRUCTURE.has(type))
      throw badNode(`${name}.units`, type, 'use a leaf type such as core');
    if (!Number.isSafeInteger(count) || count < 0) {
      throw badNode(`${name}.units.${type}`, count, 'use a whole number of units');
    }
  }
}

/**
 * Refuses graphs on which the library aborts the process: a root without children, or a property that is not a
 * string. The library refuses other invalid graphs itself.
 * @throws FluxqError FLUXQ_FLUXION_GRAPH
 */
export function checkJgf(text: string): void {
  let jgf: Partial<JgfGraph>;
  try {
    jgf = JSON.parse(text);
  } catch (error) {
    throw badJgf(messageOf(error));
  }
  const { nodes, edges } = jgf.graph ?? {};
  if (!Array.isArray(nodes) || !Array.isArray(edges) || edges.length === 0)
    throw badJgf('graph.nodes or graph.edges is missing');
  for (const { id, metadata } of nodes as JgfVertex[]) {
    const values = Object.values(metadata?.properties ?? {});
    if (values.some((value) => typeof value !== 'string'))
      throw badJgf(`a property of vertex ${id} is not a string`);
  }
}

function badJgf(reason: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_GRAPH', `the JGF can not be loaded: ${reason}`, { field: 'jgf' });
}

const STRUCTURE: ReadonlySet<string> = new Set(['cluster', 'zone', 'rack', 'node', 'slot', 'xor_slot']);

function badNode(field: string, value: unknown, remedy: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_GRAPH', 'the graph does not accept this node', {
    field,
    value,
    remedy,
  });
}
