/**
 * Consecutive units of one vertex. In a graph from nodes a leaf stands for all units of its type on the node (`runs` in
 * {@link ResourceGraph}), so a grant of 320 core units is one piece and not 320 vertices. Every other vertex has only
 * unit 0.
 */
export interface Piece {
  readonly vertex: number;
  /** First unit. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export function wholeVertex(vertex: number, units = 1): Piece {
  return { vertex, from: 0, to: units };
}

/** The same units in ascending order as few pieces as possible. @param pieces of one vertex, without overlaps */
export function joined(pieces: readonly Piece[]): readonly Piece[] {
  if (pieces.length === 1) return pieces;
  const result: Piece[] = [];
  for (const piece of [...pieces].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last?.to === piece.from) result[result.length - 1] = { ...last, to: piece.to };
    else result.push(piece);
  }
  return result;
}
