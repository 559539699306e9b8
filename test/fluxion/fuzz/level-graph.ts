import type { JgfGraph, JgfVertex } from '../../../runtime/fluxion/jgf/types';

interface Shape {
  /** Types from the level below the root on; one of them is node. */
  readonly levels: readonly string[];
  /** Number of vertices of each level below one vertex of the level above. */
  readonly below: readonly number[];
  /** Below each vertex of the last level. */
  readonly cores: number;
  readonly gpus: number;
  readonly memory: { readonly count: number; readonly size: number };
  /** Gpus and memory are below the nodes; else they are beside the cores. */
  readonly onNodes: boolean;
  /** Six times as many nodes. */
  readonly isMany: boolean;
}

/** For example cluster -> rack -> node -> socket -> core, gpu, memory. Every second node has the property ssd. */
export function levelGraph(shape: Shape): JgfGraph {
  const builder = new Builder();
  const { levels, below, isMany } = shape;
  const fill = (parent: JgfVertex, level: number): void => {
    addUnits(builder, parent, shape, level);
    const type = levels[level];
    if (type === undefined) return;
    const count = below[level]! * (isMany && type === 'node' ? 6 : 1);
    for (let i = 0; i < count; i++) fill(builder.add(type, parent), level + 1);
  };
  fill(builder.root, 0);
  return builder.graph;
}

function addUnits(builder: Builder, parent: JgfVertex, shape: Shape, level: number): void {
  const { levels, cores, gpus, memory, onNodes } = shape;
  const isLast = level === levels.length;
  const add = (type: string, count: number, size = 1) => {
    for (let i = 0; i < count; i++) builder.add(type, parent, size);
  };
  if (isLast) add('core', cores);
  if (!(onNodes ? parent.metadata.type === 'node' : isLast)) return;
  add('gpu', gpus);
  add('memory', memory.count, memory.size);
}

class Builder {
  readonly root: JgfVertex;
  readonly graph: { graph: { nodes: JgfVertex[]; edges: { source: string; target: string }[] } };
  private readonly nextId = new Map<string, number>();

  constructor() {
    this.root = this.vertex('cluster', '', { rank: -1, uniqId: 0, size: 1 });
    this.graph = { graph: { nodes: [this.root], edges: [] } };
  }

  add(type: string, above: JgfVertex, size = 1): JgfVertex {
    const { nodes, edges } = this.graph.graph;
    const { paths, rank = -1 } = above.metadata;
    const own = type === 'node' ? (this.nextId.get('node') ?? 0) : rank;
    const vertex = this.vertex(type, paths.containment!, { rank: own, uniqId: nodes.length, size });
    nodes.push(vertex);
    edges.push({ source: above.id, target: vertex.id });
    return vertex;
  }

  private vertex(
    type: string,
    above: string,
    { rank, uniqId, size }: { rank: number; uniqId: number; size: number },
  ): JgfVertex {
    const id = this.nextId.get(type) ?? 0;
    this.nextId.set(type, id + 1);
    const name = `${type}${id}`;
    const properties = type === 'node' && id % 2 === 1 ? { ssd: '' } : {};
    const fixed = { basename: type, exclusive: false, unit: '', size };
    const paths = { containment: `${above}/${name}` };
    return {
      id: `${uniqId}`,
      metadata: { type, name, id, uniq_id: uniqId, rank, ...fixed, properties, paths },
    };
  }
}
