import type { JgfGraph, JgfVertex } from '../../../runtime/fluxion/jgf/types';

interface Shape {
  readonly racks: number;
  /** In each rack. */
  readonly nodes: number;
  /** In each node. */
  readonly sockets: number;
  /** In each socket. */
  readonly cores: number;
  readonly gpus: number;
  readonly memory: number;
}

/** cluster -> rack -> node -> socket -> core, gpu, memory. Every second node has the property ssd. */
export function socketGraph({ racks, nodes, sockets, cores, gpus, memory }: Shape): JgfGraph {
  const builder = new Builder();
  const units = { core: cores, gpu: gpus, memory };
  for (const rack of builder.add('rack', racks, builder.root))
    for (const node of builder.add('node', nodes, rack))
      for (const socket of builder.add('socket', sockets, node))
        for (const [type, count] of Object.entries(units)) builder.add(type, count, socket);
  return builder.graph;
}

class Builder {
  readonly root: JgfVertex;
  readonly graph: { graph: { nodes: JgfVertex[]; edges: { source: string; target: string }[] } };
  private readonly nextId = new Map<string, number>();

  constructor() {
    this.root = this.vertex('cluster', '', -1);
    this.graph = { graph: { nodes: [this.root], edges: [] } };
  }

  add(type: string, count: number, above: JgfVertex): JgfVertex[] {
    const { nodes, edges } = this.graph.graph;
    return Array.from({ length: count }, () => {
      const { paths, rank = -1 } = above.metadata;
      const own = type === 'node' ? (this.nextId.get('node') ?? 0) : rank;
      const vertex = this.vertex(type, paths!.containment!, own, nodes.length);
      nodes.push(vertex);
      edges.push({ source: above.id, target: vertex.id });
      return vertex;
    });
  }

  private vertex(type: string, above: string, rank: number, uniqId = 0): JgfVertex {
    const id = this.nextId.get(type) ?? 0;
    this.nextId.set(type, id + 1);
    const name = `${type}${id}`;
    const properties = type === 'node' && id % 2 === 1 ? { ssd: '' } : {};
    const fixed = { basename: type, exclusive: false, unit: '', size: 1 };
    const paths = { containment: `${above}/${name}` };
    return {
      id: `${uniqId}`,
      metadata: { type, name, id, uniq_id: uniqId, rank, ...fixed, properties, paths },
    };
  }
}
