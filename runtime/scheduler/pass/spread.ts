import { matchingNodes } from '../../jobspec/matching-nodes';
import { isAbout } from '../../jobspec/placement-rules';
import type { SpreadRule } from '../../jobspec/types';
import type { GangNode, Groups } from './groups';
import type { PlacedPods } from './placed-pods';

/** One spread constraint: the pods in each group of nodes that counts. */
export class Spread {
  readonly key: string;
  /** Whether the pods of the gang count. */
  readonly isOfItself: boolean;
  private readonly counts = new Map<string, number>();
  /** Pods in the smallest groups, and how many groups have no more; undefined: to be counted again. */
  private smallest: { readonly pods: number; groups: number } | undefined;

  constructor(
    private readonly rule: SpreadRule,
    nodes: readonly GangNode[],
    others: readonly PlacedPods[],
    private readonly groups: Groups,
    all: readonly SpreadRule[],
  ) {
    this.key = rule.topologyKey;
    this.isOfItself = rule.self;
    // Only nodes that have the labels of all spreads count.
    const counted = new Set(
      matchingNodes(rule.among ?? {}, nodes)
        .filter(({ name }) => all.every(({ topologyKey }) => groups.of(name, topologyKey) !== undefined))
        .map(({ name }) => name),
    );
    for (const name of counted) this.counts.set(groups.of(name, this.key)!, 0);
    for (const { node, traits, count } of others)
      if (counted.has(node) && isAbout(rule, traits)) this.count(node, count);
  }

  /** Undefined groups are those of nodes that do not count: kube-scheduler refuses such nodes. */
  allows(node: string): boolean {
    const count = this.counts.get(this.groups.of(node, this.key) ?? '');
    if (count === undefined) return false;
    return count + (this.rule.self ? 1 : 0) - this.least() <= this.rule.maxSkew;
  }

  usedBy(node: string): number {
    return this.counts.get(this.groups.of(node, this.key) ?? '') ?? 0;
  }

  place(node: string): void {
    if (this.rule.self) this.count(node, 1);
  }

  private count(node: string, pods: number): void {
    const value = this.groups.of(node, this.key)!;
    const before = this.counts.get(value) ?? 0;
    this.counts.set(value, before + pods);
    const { smallest } = this;
    // To count all groups again after each pod would cost as many steps as pods times groups.
    if (smallest !== undefined && before === smallest.pods && --smallest.groups === 0)
      this.smallest = undefined;
  }

  /** Pods in the smallest group. */
  least(): number {
    if (this.counts.size < (this.rule.minDomains ?? 1)) return 0;
    this.smallest ??= this.countSmallest();
    return this.smallest.pods;
  }

  private countSmallest(): { pods: number; groups: number } {
    const smallest = { pods: Infinity, groups: 0 };
    for (const pods of this.counts.values()) {
      if (pods < smallest.pods) Object.assign(smallest, { pods, groups: 0 });
      if (pods === smallest.pods) smallest.groups += 1;
    }
    return smallest;
  }
}
