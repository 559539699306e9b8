/**
 * Labels of all nodes, kept up to date node by node. What did not change stays the same object, so that it can
 * be told which waiting workloads a node that joins concerns: most label values of a new node are known, or nobody asks.
 */
import type { NodeFacts } from './constraints';
import type { ClusterNode } from './graph-nodes';

/** On how many nodes each value is. */
type Counts = Map<string, number>;

export class ClusterFactsTracker {
  private readonly labels = new Map<string, Counts>();
  private readonly changedLabels = new Set<string>();
  private known: NodeFacts = { labels: new Map() };

  /** @param before undefined for a new node. @param now undefined for a node that was deleted */
  replace(before: ClusterNode | undefined, now: ClusterNode | undefined): void {
    this.count(now, 1);
    this.count(before, -1);
  }

  /** The same object until something changes, and never changed. */
  facts(): NodeFacts {
    if (this.changedLabels.size > 0) this.known = { labels: this.currentLabels() };
    this.changedLabels.clear();
    return this.known;
  }

  private count(node: ClusterNode | undefined, sign: 1 | -1): void {
    if (node === undefined) return;
    for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
      const counts: Counts = this.labels.get(key) ?? new Map();
      this.labels.set(key, counts);
      if (add(counts, value, sign)) this.changedLabels.add(key);
      if (counts.size === 0) this.labels.delete(key);
    }
  }

  private currentLabels(): NodeFacts['labels'] {
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
function add(counts: Counts, value: string, sign: 1 | -1): boolean {
  const nodes = (counts.get(value) ?? 0) + sign;
  if (nodes === 0) counts.delete(value);
  else counts.set(value, nodes);
  return nodes === (sign === 1 ? 1 : 0);
}

/** The keys of labels with other values in one of two states of a tracker. */
export function changedLabels(before: NodeFacts, now: NodeFacts): ReadonlySet<string> {
  if (before === now) return NO_KEYS;
  const keys = [...new Set([...before.labels.keys(), ...now.labels.keys()])];
  return new Set(keys.filter((key) => before.labels.get(key) !== now.labels.get(key)));
}

const NO_KEYS: ReadonlySet<string> = new Set();
