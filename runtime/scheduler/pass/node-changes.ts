import { isDeepStrictEqual } from 'node:util';
import { podsOn } from '../../jobspec/capacity';
import { soleHost } from '../../jobspec/constraints';
import { areExcludedAlike } from '../../jobspec/exclusions';
import { largestUnits } from '../../jobspec/explain';
import { askOf } from '../../jobspec/jobspec';
import { setsOf } from '../../jobspec/pod-sets';
import type { Jobspec } from '../../jobspec/types';
import type { WorkloadRow } from '../../queue/workload';
import type { GraphNode } from '../../resources/types';

/** A node that joined, left or changed. */
interface Change {
  readonly name: string;
  readonly before: GraphNode | undefined;
  readonly after: GraphNode | undefined;
}

/** With more changes to compare, everything is counted again. */
const MOST_CHANGES = 64;

/** The nodes that changed from one pass to the next: most of them mean nothing to most workloads. */
export class NodeChanges {
  private readonly byShape = new Map<string, boolean>();

  /**
   * @param changes undefined: too many, or not known
   * @param isLargestNew whether the largest nodes have more or less than before
   */
  private constructor(
    private readonly changes: readonly Change[] | undefined,
    private readonly isLargestNew = false,
  ) {}

  /** @param before undefined: not known */
  static between(before: readonly GraphNode[] | undefined, after: readonly GraphNode[]): NodeChanges {
    if (before === undefined || before.length === 0) return new NodeChanges(undefined);
    const former = new Map(before.map((node) => [node.name, node]));
    const changes: Change[] = [];
    for (const node of after) {
      const known = former.get(node.name);
      if (known !== node) changes.push({ name: node.name, before: known, after: node });
      former.delete(node.name);
    }
    for (const [name, node] of former) changes.push({ name, before: node, after: undefined });
    if (changes.length === 0 || changes.length > MOST_CHANGES)
      return new NodeChanges(changes.length === 0 ? changes : undefined);
    const isLargestNew = !isDeepStrictEqual(largestUnits(before), largestUnits(after));
    return new NodeChanges(changes, isLargestNew);
  }

  /** Whether what is counted to say why the row can never start may have changed. */
  concern({ shape, jobspec }: Pick<WorkloadRow, 'shape' | 'jobspec'>): boolean {
    const known =
      this.byShape.get(shape) ??
      (this.isLargestNew ||
        (this.changes?.some((change) => setsOf(jobspec).some((set) => concerns(change, set))) ?? true));
    this.byShape.set(shape, known);
    return known;
  }
}

function concerns({ name, before, after }: Change, jobspec: Jobspec): boolean {
  const constraint = jobspec.attributes.system.constraints ?? {};
  if (soleHost(constraint) === name) return true;
  const ask = askOf(jobspec);
  const types = Object.keys(ask.perPod).filter((type) => type !== 'core' && type !== 'memory');
  if (types.some((type) => unitsOf(before, type) !== unitsOf(after, type))) return true;
  const roomOn = (node: GraphNode | undefined) => (node === undefined ? 0 : podsOn(node.units, ask));
  if (roomOn(before) !== roomOn(after)) return true;
  // Labels and taints of a node that takes no pod of it mean nothing.
  return roomOn(after) > 0 && !areExcludedAlike(constraint, before!, after!);
}

function unitsOf(node: GraphNode | undefined, type: string): number {
  return node?.units[type] ?? 0;
}
