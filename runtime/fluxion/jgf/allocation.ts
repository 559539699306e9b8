/**
 * Converts allocations between two forms. An {@link Allocation} has node names with one RFC 22 idset of unit numbers
 * per type. Fluxion uses JGF: the granted vertices with their ancestors, children before parents. rv1 (RFC 20) wraps
 * the same JGF under `scheduling` and adds the window.
 */
import { FluxqError, messageOf } from '../../errors';
import { formatIdset, parseIdset } from '../../resources/idset';
import type { AllocatedNode, Allocation } from '../../resources/types';
import { type GraphLayout, jgfVertex, unitVertex, type Vertex } from './layout';
import type { JgfGraph, JgfVertex } from './types';

/** The job id and the time span of an answer. */
export interface Window {
  readonly jobid: number;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

interface AnsweredVertex {
  readonly type: string;
  readonly basename: string;
  readonly name: string;
  readonly path: string;
  readonly exclusive: boolean;
}

/**
 * Reads the answer of a match, in JGF or in rv1.
 * @param nodesOf the names of the nodes below a zone or rack, which are held with it. @default - it has none
 * @throws FluxqError FLUXQ_FLUXION_ALLOCATION
 */
export function parseAnswer(
  text: string,
  window: Window,
  nodesOf: (levelPath: string) => readonly string[] = () => [],
): Allocation {
  const vertices = answeredVertices(text);
  // Leaves come before their node, so the nodes are collected first.
  const nodes = new Map(
    vertices
      .filter(({ type }) => type === 'node')
      .map((node) => [node.path, { node, units: new Map<string, number[]>() }]),
  );
  for (const { type, path, name, basename, exclusive } of vertices) {
    if (type === 'node' || !exclusive) continue;
    const above = nodeAbove(path, nodes);
    if (above === undefined) continue;
    const numbers = above.units.get(type) ?? [];
    numbers.push(unitNumber(name, basename));
    above.units.set(type, numbers);
  }
  const answered = [...nodes.values()].map(({ node, units }) => allocatedNode(node, units));
  const levels = vertices.filter(
    ({ exclusive, path }) => exclusive && nodeAbove(`${path}/`, nodes) === undefined,
  );
  const below = new Set(levels.flatMap(({ path }) => nodesOf(path)));
  if (below.size === 0) return { ...window, nodes: answered };
  const known = new Map(answered.map((node) => [node.name, node]));
  for (const name of below) known.set(name, { units: {}, ...known.get(name), name, exclusive: true });
  return { ...window, nodes: [...known.values()] };
}

/** Containment paths of the exclusively allocated vertices, in the order of the answer. */
export function heldPaths(text: string): string[] {
  return answeredVertices(text)
    .filter(({ exclusive }) => exclusive)
    .map(({ path }) => path);
}

function allocatedNode(node: AnsweredVertex, units: ReadonlyMap<string, readonly number[]>): AllocatedNode {
  return {
    name: node.name,
    units: Object.fromEntries([...units].map(([type, numbers]) => [type, formatIdset(numbers)])),
    ...(node.exclusive ? { exclusive: true } : {}),
  };
}

function nodeAbove<T>(path: string, nodes: ReadonlyMap<string, T>): T | undefined {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const node = nodes.get(path.slice(0, at));
    if (node !== undefined) return node;
  }
  return undefined;
}

/** The name of a unit is its basename with its number within the node. */
function unitNumber(name: string, basename: string): number {
  const number = Number(name.startsWith(basename) ? name.slice(basename.length) : Number.NaN);
  if (!Number.isSafeInteger(number)) throw malformed(`unit "${name}" has no number`);
  return number;
}

function answeredVertices(text: string): AnsweredVertex[] {
  let answer: { graph?: JgfGraph['graph']; scheduling?: JgfGraph };
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw malformed(messageOf(error), error);
  }
  const nodes = (answer.scheduling ?? answer).graph?.nodes;
  if (!Array.isArray(nodes)) throw malformed('no graph.nodes');
  return nodes.map(answeredVertex);
}

/** Fluxion 0.39 and later omits fields that have their default value. */
function answeredVertex({ metadata }: JgfVertex): AnsweredVertex {
  const { type, basename = type, exclusive = false } = metadata;
  const path = metadata.paths?.containment;
  if (typeof type !== 'string' || typeof path !== 'string') {
    throw malformed(`vertex without type or path: ${JSON.stringify(metadata)}`);
  }
  const name = metadata.name ?? path.slice(path.lastIndexOf('/') + 1);
  return { type, basename, path, name, exclusive };
}

function malformed(reason: string, cause?: unknown): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_ALLOCATION', `can not read the answer of Fluxion: ${reason}`, {
    remedy: 'check that the server is flux-sched 0.53 or newer, or the public service image',
    cause,
  });
}

/** The unit numbers of a node by type. */
export function unitsOf(node: AllocatedNode): [type: string, numbers: number[]][] {
  return Object.entries(node.units).map(([type, ids]) => [type, parseIdset(ids)]);
}

/**
 * Writes an allocation in JGF as Fluxion does: children first, with all ancestors.
 * @throws FluxqError FLUXQ_FLUXION_REPLAY when a node or unit is not in the graph
 */
export function formatJgf(allocation: Allocation, layout: GraphLayout): JgfGraph {
  const nodes: JgfVertex[] = [];
  const edges: { source: string; target: string }[] = [];
  const above = new Map<number, { vertex: Vertex; parent: Vertex | undefined }>();
  const edge = (parent: Vertex, child: Vertex) =>
    edges.push({ source: `${parent.uniqId}`, target: `${child.uniqId}` });
  for (const granted of allocation.nodes) {
    const placed = layout.nodes.get(granted.name);
    if (placed === undefined) throw notInGraph(allocation, granted.name);
    const node = placed.chain.at(-1)!;
    for (const [type, numbers] of unitsOf(granted)) {
      for (const number of numbers) {
        const unit = unitVertex(placed, type, number);
        if (unit === undefined) throw notInGraph(allocation, `${granted.name}/${type}${number}`);
        nodes.push(jgfVertex(unit, true));
        edge(node, unit);
      }
    }
    nodes.push(jgfVertex(node, granted.exclusive === true));
    placed.chain.slice(0, -1).forEach((vertex, i) => {
      above.set(vertex.uniqId, { vertex, parent: placed.chain[i - 1] });
    });
    edge(placed.chain.at(-2)!, node);
  }
  // The deepest level comes first: a rack before its zone, the cluster last.
  const levels = [...above.values()].sort(
    (a, b) => b.vertex.path.split('/').length - a.vertex.path.split('/').length,
  );
  for (const { vertex, parent } of levels) {
    nodes.push(jgfVertex(vertex));
    if (parent !== undefined) edge(parent, vertex);
  }
  return { graph: { nodes, edges } };
}

/** Writes an allocation in rv1, with a window on the axis of the server, for the library's update_allocate. */
export function formatRv1(allocation: Allocation, layout: GraphLayout, start: number, end: number): string {
  return wrapRv1(formatJgf(allocation, layout), allocation.nodes, start, end);
}

/** Fluxion reads only `scheduling` and the window; RFC 20 requires R_lite as well. */
export function wrapRv1(
  scheduling: JgfGraph,
  nodes: readonly AllocatedNode[],
  start: number,
  end: number,
): string {
  const ranks = new Map(
    scheduling.graph.nodes
      .filter(({ metadata }) => metadata.type === 'node')
      .map(({ metadata }) => [metadata.name ?? '', metadata.rank ?? -1]),
  );
  const lite = nodes.map(({ name, units }) => ({
    rank: `${ranks.get(name) ?? -1}`,
    children: Object.fromEntries(Object.entries(units).filter(([type]) => type === 'core' || type === 'gpu')),
  }));
  const nodelist = nodes.map(({ name }) => name);
  const execution = { R_lite: lite, nodelist, starttime: start, expiration: end };
  return JSON.stringify({ version: 1, execution, scheduling });
}

function notInGraph(allocation: Allocation, vertex: string): FluxqError {
  return new FluxqError(
    'FLUXQ_FLUXION_REPLAY',
    `job ${allocation.jobid} holds a vertex that is not in the graph`,
    {
      field: 'allocation',
      value: vertex,
      remedy: 'requeue the workload, or add the node again',
    },
  );
}
