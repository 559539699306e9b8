/** JGF, the graph format that flux-sched reads at initialization and writes in its answers. */
import { FluxqError, messageOf } from '../../errors';
import type { JgfGraph, JgfVertex, ReadVertex } from './types';

/** @throws FluxqError FLUXQ_FLUXION_GRAPH with the text of flux-sched */
export function parseJgf(input: JgfGraph | string): JgfGraph {
  const parsed = typeof input === 'string' ? parseJson(input) : input;
  const graph = isObject(parsed) ? parsed.graph : undefined;
  if (!isObject(graph)) throw refused('fetch_jgf: JGF does not contain a required key (graph)');
  for (const key of ['nodes', 'edges'] as const) {
    if (!Array.isArray(graph[key])) throw refused(`fetch_jgf: JGF does not contain a required key (${key})`);
  }
  return parsed as JgfGraph;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refused(`fetch_jgf: json_loads returned an error: ${messageOf(error)}`);
  }
}

/** @throws FluxqError FLUXQ_FLUXION_GRAPH */
export function readVertex(vertex: JgfVertex): ReadVertex {
  const metadata: unknown = isObject(vertex) ? vertex.metadata : undefined;
  if (!isObject(metadata) || typeof vertex.id !== 'string' || !/^-?\d+/.test(vertex.id))
    throw malformed(vertex);
  const { type, paths, name, basename } = metadata;
  if (typeof type !== 'string' || !isObject(paths) || typeof paths.containment !== 'string') {
    throw malformed(vertex);
  }
  const uniqId = numberOr(metadata.uniq_id, Number.parseInt(vertex.id, 10));
  const id = numberOr(
    metadata.id,
    type === 'node' && typeof name === 'string' ? trailingNumber(name) : uniqId,
  );
  const base = typeof basename === 'string' ? basename : type;
  return {
    type,
    basename: base,
    name: typeof name === 'string' ? name : `${base}${id}`,
    id,
    uniqId,
    rank: numberOr(metadata.rank, -1),
    up: numberOr(metadata.status, 0) === 0,
    size: numberOr(metadata.size, 1),
    unit: typeof metadata.unit === 'string' ? metadata.unit : '',
    properties: readProperties(metadata.properties, vertex.id),
    path: paths.containment,
  };
}

/** The containment paths and types of the vertices of a graph. */
export function jgfVertices(text: string): { readonly path: string; readonly type: string }[] {
  return parseJgf(text).graph.nodes.map((vertex) => readVertex(vertex));
}

function malformed(vertex: JgfVertex): FluxqError {
  return refused(`fill_fetcher: malformed metadata in an JGF node for ${vertex?.id}`);
}

/** Only the keys matter. flux-sched aborts the process on a value that is not a string. */
function readProperties(properties: unknown, id: string): string[] {
  if (properties === undefined || properties === null) return [];
  if (!isObject(properties) || Object.values(properties).some((value) => typeof value !== 'string')) {
    throw refused(`vertex ${id} has a property whose value is not a string`);
  }
  return Object.keys(properties);
}

function trailingNumber(name: string): number {
  return Number(/(\d*)$/.exec(name)![1] || '-1');
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error for a graph that `reapi_cli_initialize` refuses. */
export function refused(text: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_GRAPH', text, {
    field: 'jgf',
    remedy: 'provide a JGF graph with one root, one parent per vertex and string properties',
  });
}
