/**
 * Taints and labels of all nodes, kept up to date node by node. What did not change stays the same object, so that it can
 * be told which waiting workloads a node that joins concerns: most label values of a new node are known, or nobody asks.
 */
import type { NodeFacts, Taint } from './constraints';
import { taintProperty } from './constraints';
import { type ClusterNode, lastingTaints } from './graph-nodes';

/** Values and on how many nodes each is. */
type Counts<T> = Map<string, { readonly value: T; nodes: number }>;

export class ClusterFactsTracker {
  private readonly taints: Counts<Taint> = new Map();
  private readonly labels = new Map<string, Counts<string>>();
  private readonly changedLabels = new Set<string>();
  private haveTaintsChanged = false;
  private known: NodeFacts = { taints: [], labels: new Map() };

  /** @param before undefined for a new node. @param now undefined for a node that was deleted */
  replace(before: ClusterNode | undefined, now: ClusterNode | undefined): void {
    this.count(now, 1);
    this.count(before, -1);
  }

  /** The same object until something changes, and never changed. */
  facts(): NodeFacts {
    if (this.haveTaintsChanged || this.changedLabels.size > 0)
      this.known = { taints: this.currentTaints(), labels: this.currentLabels() };
    this.haveTaintsChanged = false;
    this.changedLabels.clear();
    return this.known;
  }

  private count(node: ClusterNode | undefined, sign: 1 | -1): void {
    if (node === undefined) return;
    for (const taint of lastingTaints(node))
      if (add(this.taints, taintProperty(taint), taint, sign)) this.haveTaintsChanged = true;
    for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
      const counts: Counts<string> = this.labels.get(key) ?? new Map();
      this.labels.set(key, counts);
      if (add(counts, value, value, sign)) this.changedLabels.add(key);
      if (counts.size === 0) this.labels.delete(key);
    }
  }

  private currentTaints(): readonly Taint[] {
    if (!this.haveTaintsChanged) return this.known.taints;
    return [...this.taints].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { value }]) => value);
  }

  private currentLabels(): NodeFacts['labels'] {
    if (this.changedLabels.size === 0) return this.known.labels;
    const labels = new Map(this.known.labels);
    for (const key of this.changedLabels) {
      const counts = this.labels.get(key);
      if (counts === undefined) labels.delete(key);
      else labels.set(key, new Set(counts.keys()));
    }
    return labels;
  }
}

/** @returns whether the value is new or gone */
function add<T>(counts: Counts<T>, key: string, value: T, sign: 1 | -1): boolean {
  const known = counts.get(key) ?? { value, nodes: 0 };
  known.nodes += sign;
  if (known.nodes === 0) counts.delete(key);
  else counts.set(key, known);
  return known.nodes === (sign === 1 ? 1 : 0);
}

/** What differs between two states of a tracker. */
export interface FactsChange {
  readonly taints: boolean;
  /** Keys of labels with other values. */
  readonly labels: ReadonlySet<string>;
}

/** @returns undefined if nothing differs */
export function changeOfFacts(before: NodeFacts, now: NodeFacts): FactsChange | undefined {
  if (before === now) return undefined;
  const keys = [...new Set([...before.labels.keys(), ...now.labels.keys()])];
  const labels = new Set(keys.filter((key) => before.labels.get(key) !== now.labels.get(key)));
  const taints = before.taints !== now.taints;
  return taints || labels.size > 0 ? { taints, labels } : undefined;
}
