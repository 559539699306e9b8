/** Builds a {@link ResourceGraph} from JGF, or directly from nodes with the ids that their JGF has. */

import type { GraphNode } from '../../resources/types';
import { parseJgf, readVertex, refused } from '../jgf/jgf';
import { checkNodes, unitBasename } from '../jgf/layout';
import type { JgfEdge, JgfGraph, ReadVertex } from '../jgf/types';
import type { Branch } from './branch';
import { ResourceGraph } from './resource-graph';
import { NODE, ResourceTypes, STORAGE_NODE } from './resource-types';

const NO_PROPERTIES: ReadonlySet<string> = new Set();

/** @throws FluxqError FLUXQ_FLUXION_GRAPH */
export function graphFromJgf(input: JgfGraph | string): ResourceGraph {
  const { nodes, edges } = parseJgf(input).graph;
  const graph = new ResourceGraph();
  graph.reserve(nodes.length);
  const read: ReadVertex[] = [];
  const numberOf = new Map<string, number>();
  const numberAt = new Map<string, number>();
  for (const vertex of nodes) {
    const fields = readVertex(vertex);
    if (numberOf.has(vertex.id)) throw refused(`found duplicate JGF node id: ${vertex.id}`);
    // A vertex with a known rank and path is the same vertex again.
    const place = `${fields.rank} ${fields.path}`;
    const v = numberAt.get(place) ?? addRead(graph, fields);
    numberAt.set(place, v);
    numberOf.set(vertex.id, v);
    read[v] = fields;
  }
  const root = read.findIndex(({ path }) => path.lastIndexOf('/') === 0);
  if (root < 0) throw refused("initialize_matchers_and_traversers: ERROR: can't initialize traverser");
  build(graph, read, childrenOf(edges, numberOf, read), root);
  return graph;
}

function addRead(graph: ResourceGraph, vertex: ReadVertex): number {
  const v = graph.add({ ...vertex, type: graph.types.intern(vertex.type) });
  if (vertex.basename !== unitBasename(vertex.type)) graph.basenames.set(v, vertex.basename);
  const number = vertex.name.startsWith(vertex.basename) ? vertex.name.slice(vertex.basename.length) : '';
  if (/^(0|[1-9]\d{0,8})$/.test(number)) graph.number[v] = Number(number);
  else graph.names.set(v, vertex.name);
  if (vertex.unit !== '') graph.units.set(v, vertex.unit);
  return v;
}

function childrenOf(
  edges: readonly JgfEdge[],
  numberOf: ReadonlyMap<string, number>,
  read: readonly ReadVertex[],
): Map<number, number[]> {
  const children = new Map<number, number[]>();
  const parentOf = new Map<number, number>();
  for (const edge of edges) {
    if ((edge.metadata?.subsystem ?? 'containment') !== 'containment') continue;
    const [from, to] = endsOf(edge, numberOf);
    // Some writers add edges from child to parent as well; they contain no information.
    if (read[from]!.path.startsWith(`${read[to]!.path}/`)) continue;
    if (parentOf.get(to) === from) continue;
    if (from === to || parentOf.has(to)) throw refused(`vertex ${edge.target} has more than one parent`);
    parentOf.set(to, from);
    const known = children.get(from);
    if (known === undefined) children.set(from, [to]);
    else known.push(to);
  }
  return children;
}

function endsOf({ source, target }: JgfEdge, numberOf: ReadonlyMap<string, number>): [number, number] {
  const [from, to] = [numberOf.get(source), numberOf.get(target)];
  if (from === undefined || to === undefined) {
    throw refused(`unpack_edge: source and/or target vertex not found${source} -> ${target}.`);
  }
  return [from, to];
}

function build(
  graph: ResourceGraph,
  read: readonly ReadVertex[],
  children: ReadonlyMap<number, readonly number[]>,
  root: number,
): void {
  for (let v = 0; v < graph.count; v++) if (v !== root) graph.countType(graph.type[v]!);
  const visit = (v: number, parent: Branch | undefined): void => {
    const branch = graph.addBranch(v, parent, new Set(read[v]!.properties));
    const seen = new Set<number>();
    for (const child of children.get(v) ?? []) {
      const { uniqId, path } = read[child]!;
      if (seen.has(uniqId)) throw refused(`two vertices below ${read[v]!.path} have the unique id ${uniqId}`);
      seen.add(uniqId);
      if (isBranch(graph.type[child]!, children.has(child))) visit(child, branch);
      else graph.addLeaf(child, branch);
      if (graph.pathOf(child) !== path) graph.paths.set(child, path);
    }
    graph.countLeaves(branch);
    graph.countBranch(branch, 1, true);
  };
  if (`/${graph.nameOf(root)}` !== read[root]!.path) graph.paths.set(root, read[root]!.path);
  visit(root, undefined);
}

function isBranch(type: number, hasChildren: boolean): boolean {
  return hasChildren || type === NODE || type === STORAGE_NODE;
}

/**
 * @param countsUnits whether the units of a node are one leaf per type; else each unit is a vertex, as in JGF
 * @throws FluxqError FLUXQ_FLUXION_GRAPH
 */
export function graphFromNodes(nodes: readonly GraphNode[], countsUnits: boolean): ResourceGraph {
  const graph = new ResourceGraph(new ResourceTypes(), countsUnits);
  const root = graph.add({ type: 0, id: 0, uniqId: 0, rank: -1, size: 1, up: true });
  graph.addBranch(root, undefined, NO_PROPERTIES);
  addNodes(graph, nodes);
  return graph;
}

/**
 * Adds all nodes as up; the caller sets their status. flux-sched subtracts a node that is loaded as down from the up nodes.
 * @throws FluxqError FLUXQ_FLUXION_GRAPH, and leaves the graph unchanged
 */
export function addNodes(graph: ResourceGraph, nodes: readonly GraphNode[]): Branch[] {
  checkNodes(nodes, graph.nodes);
  const levels = new Map<string, Branch>();
  for (const [v, branch] of graph.branchOf) levels.set(graph.pathOf(v), branch);
  return nodes.map((node) => {
    let parent = graph.root;
    for (const type of ['zone', 'rack'] as const) {
      const value = node[type];
      if (value !== undefined) parent = level(graph, levels, parent, type, `${type}=${value}`);
    }
    return addNode(graph, parent, node);
  });
}

function level(
  graph: ResourceGraph,
  levels: Map<string, Branch>,
  parent: Branch,
  typeName: string,
  name: string,
): Branch {
  const path = `${graph.pathOf(parent.vertex)}/${name}`;
  const known = levels.get(path);
  if (known !== undefined) return known;
  const type = graph.types.intern(typeName);
  graph.countType(type);
  const v = graph.add({ type, ...graph.takeIds(type), rank: -1, size: 1, up: true });
  graph.names.set(v, name);
  const branch = graph.addBranch(v, parent, NO_PROPERTIES);
  graph.countBranch(branch, 1, true);
  levels.set(path, branch);
  return branch;
}

function addNode(graph: ResourceGraph, parent: Branch, node: GraphNode): Branch {
  const ids = graph.takeIds(NODE);
  graph.countType(NODE);
  const v = graph.add({ type: NODE, ...ids, rank: ids.id, size: 1, up: true });
  graph.names.set(v, node.name);
  const branch = graph.addBranch(v, parent, new Set(node.properties));
  for (const [typeName, count] of Object.entries(node.units)) {
    const type = graph.types.intern(typeName);
    if (count > 0) graph.countType(type);
    const { id, uniqId } = graph.takeIds(type);
    const run = graph.countsUnits ? count : 1;
    for (let i = 0; i < count; i += run) {
      const ofUnit = { id: id + i, uniqId: uniqId + i, rank: ids.id, size: 1, up: true };
      const leaf = graph.add({ type, ...ofUnit, units: run });
      graph.number[leaf] = i;
      graph.addLeaf(leaf, branch);
    }
  }
  graph.countLeaves(branch);
  graph.countBranch(branch, 1, true);
  return branch;
}
