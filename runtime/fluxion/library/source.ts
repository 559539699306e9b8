/** The graph of a session: from nodes, or in JGF. */
import type { MatchPolicy } from '../../../constructs/api/policies';
import type { Jobspec } from '../../jobspec/types';
import { jgfVertices } from '../jgf/jgf';
import type { GraphLayout } from '../jgf/layout';
import { type PlacedVertex, SkippedLevels } from '../jgf/skipped-levels';
import { type Policy, policyOf } from '../matcher/policy';
import { isAlwaysKnown } from '../matcher/resource-types';
import { refusalOf } from '../matcher/subset';

export interface GraphSource {
  readonly policy: MatchPolicy;
  readonly layout: GraphLayout;
  /** A graph in JGF, which replaces the layout. */
  readonly jgf: string | undefined;
  readonly pruneFilters: string;
}

/** What the embedded matcher knows of its graph without the library. */
export class KnownGraph {
  private readonly skippedLevels: SkippedLevels;
  private readonly policy: Policy;
  /** The types of all vertices; undefined after nodes were added or removed. */
  private types: ReadonlySet<string> | undefined;
  /** Of a graph that came as JGF: the paths of its nodes. */
  private nodePaths: readonly string[] | undefined;

  constructor(private readonly source: GraphSource) {
    this.policy = policyOf(source.policy);
    this.skippedLevels = new SkippedLevels(() => this.vertices());
  }

  /** Nodes were added or removed. */
  changed(): void {
    this.types = undefined;
    this.skippedLevels.graphChanged();
  }

  /** Why the embedded matcher refuses such a request; undefined for all others. */
  refusalOf(jobspec: Jobspec): string | undefined {
    const { pruneFilters } = this.source;
    const isKnown = (type: string) => isAlwaysKnown(type, pruneFilters) || this.hasType(type);
    return refusalOf(jobspec, isKnown, this.policy) ?? this.skippedLevels.refusalOf(jobspec.resources);
  }

  /** The names of the nodes below a zone or rack, in the order of the graph. */
  nodesBelow(levelPath: string): readonly string[] {
    const { jgf, layout } = this.source;
    if (jgf === undefined) return layout.nodesBelow(levelPath);
    this.nodePaths ??= jgfVertices(jgf).flatMap(({ type, path }) => (type === 'node' ? [path] : []));
    const below = this.nodePaths.filter((path) => path.startsWith(`${levelPath}/`));
    return below.map((path) => path.slice(path.lastIndexOf('/') + 1));
  }

  private hasType(name: string): boolean {
    this.types ??= new Set([...this.vertices()].map(({ type }) => type));
    return this.types.has(name);
  }

  private vertices(): Iterable<PlacedVertex> {
    const { jgf, layout } = this.source;
    return jgf === undefined ? layout.vertices() : jgfVertices(jgf);
  }
}
