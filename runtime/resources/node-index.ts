/**
 * Sets of nodes as bits, one for each row, and the index from which they are made. A constraint of hundreds of properties
 * costs as many operations on sets instead of as many look-ups on every node.
 */
import { parseHostlist } from './hostlist';

export type NodeSet = Uint32Array;

export interface IndexedNode {
  readonly name: string;
  readonly properties?: Iterable<string> | undefined;
}

export class NodeIndex {
  private readonly byProperty = new Map<string, Set<number>>();
  private readonly byName = new Map<string, Set<number>>();
  private readonly rows = new Set<number>();
  private words = 0;
  /** The sets of properties, until a node is added or removed. */
  private sets = new Map<string, NodeSet>();

  /** @param row a small number that no other node has */
  add(row: number, { name, properties = [] }: IndexedNode): void {
    this.rows.add(row);
    file(this.byName, name, row);
    for (const property of properties) file(this.byProperty, property, row);
    this.words = Math.max(this.words, (row >>> 5) + 1);
    this.sets.clear();
  }

  remove(row: number, { name, properties = [] }: IndexedNode): void {
    this.rows.delete(row);
    unfile(this.byName, name, row);
    for (const property of properties) unfile(this.byProperty, property, row);
    this.sets.clear();
  }

  /**
   * The nodes that match a constraint of RFC 31, as flux-sched reads it: `{or: []}` matches none.
   * @returns undefined for a constraint with another operator
   */
  matching(constraint: unknown): NodeSet | undefined {
    const [[operator, values] = []] = Object.entries(
      constraint as Readonly<Record<string, readonly unknown[]>>,
    );
    switch (operator) {
      case undefined:
        return this.all();
      case 'properties':
        return this.conjunction((values as readonly string[]).map((name) => this.withProperty(name)));
      case 'hostlist':
        return this.named(values as readonly string[]);
      case 'and':
        return this.conjunction(values!.map((part) => this.matching(part)));
      case 'or':
        return this.disjunction(values!.map((part) => this.matching(part)));
      case 'not':
        return this.inverted(this.conjunction(values!.map((part) => this.matching(part))));
      default:
        return undefined;
    }
  }

  private all(): NodeSet {
    return this.setOf('', this.rows);
  }

  private withProperty(name: string): NodeSet | undefined {
    if (name.startsWith('^')) return this.inverted(this.withProperty(name.slice(1)));
    return this.setOf(`=${name}`, this.byProperty.get(name) ?? NO_ROWS);
  }

  private setOf(key: string, rows: ReadonlySet<number>): NodeSet {
    const known = this.sets.get(key);
    if (known !== undefined) return known;
    const set = bits(this.words, rows);
    // A property that no node has says nothing that is worth keeping.
    if (rows.size > 0) this.sets.set(key, set);
    return set;
  }

  private named(hostlists: readonly string[]): NodeSet {
    const names = hostlists.flatMap((hostlist) => parseHostlist(hostlist) ?? []);
    return bits(
      this.words,
      names.flatMap((name) => [...(this.byName.get(name) ?? NO_ROWS)]),
    );
  }

  private conjunction(parts: readonly (NodeSet | undefined)[]): NodeSet | undefined {
    const result = this.all().slice();
    for (const part of parts) {
      if (part === undefined) return undefined;
      for (let i = 0; i < result.length; i++) result[i]! &= part[i]!;
    }
    return result;
  }

  private disjunction(parts: readonly (NodeSet | undefined)[]): NodeSet | undefined {
    const result = new Uint32Array(this.words);
    for (const part of parts) {
      if (part === undefined) return undefined;
      for (let i = 0; i < result.length; i++) result[i]! |= part[i]!;
    }
    return result;
  }

  private inverted(set: NodeSet | undefined): NodeSet | undefined {
    return set && this.all().map((word, i) => word & ~set[i]!);
  }
}

const NO_ROWS: ReadonlySet<number> = new Set();

/** The index of a list, in which a row is the place of the node. */
export function indexOf(nodes: readonly IndexedNode[]): NodeIndex {
  const index = new NodeIndex();
  for (const [row, node] of nodes.entries()) index.add(row, node);
  return index;
}

export function has(set: NodeSet, row: number): boolean {
  return ((set[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
}

/** The properties and names that a constraint mentions: as many look-ups as one node costs. */
export function literalsOf(constraint: unknown): number {
  const [[operator, values] = []] = Object.entries(
    constraint as Readonly<Record<string, readonly unknown[]>>,
  );
  if (operator === undefined || !Array.isArray(values)) return 1;
  if (operator !== 'and' && operator !== 'or' && operator !== 'not') return values.length;
  return values.reduce((sum: number, part) => sum + literalsOf(part), 0);
}

/** Constraints with fewer are compared node by node: that costs less than an index. */
export const FEW_LITERALS = 24;

function bits(words: number, rows: Iterable<number>): NodeSet {
  const set = new Uint32Array(words);
  for (const row of rows) set[row >>> 5]! |= 1 << (row & 31);
  return set;
}

function file(rows: Map<string, Set<number>>, key: string, row: number): void {
  const known = rows.get(key);
  if (known === undefined) rows.set(key, new Set([row]));
  else known.add(row);
}

function unfile(rows: Map<string, Set<number>>, key: string, row: number): void {
  const known = rows.get(key);
  known?.delete(row);
  if (known?.size === 0) rows.delete(key);
}
