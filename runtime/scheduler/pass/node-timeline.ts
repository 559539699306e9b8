/** How many different nodes are held over time: a node that several workloads hold at once counts once. */
import { type Need, Planner } from '../../resources/planner';
import type { Span } from './placed-pods';

const ONE = Float64Array.of(1);
const ONE_MORE: Need = { dimensions: Int32Array.of(0), amounts: ONE };
const NO_MORE: Need = { dimensions: Int32Array.of(0), amounts: Float64Array.of(0) };

/** One node: the spans in which workloads hold it, and when it is held at all. */
interface HeldNode {
  readonly spans: Span[];
  /** The union of the spans in order, as the planner has it. */
  union: readonly Span[];
}

export class NodeTimeline {
  private readonly planner = new Planner(1);
  private readonly nodes = new Map<string, HeldNode>();

  constructor(
    private readonly most: number,
    private readonly now: number,
  ) {}

  add(names: readonly string[], { start, end }: Span): void {
    const span = { start, end: Math.max(end, this.now + 1) };
    for (const name of names) {
      const node = this.nodes.get(name) ?? { spans: [], union: [] };
      this.nodes.set(name, node);
      node.spans.push(span);
      if (!covers(node.union, span)) this.replace(node);
    }
  }

  remove(names: readonly string[], { start, end }: Span): void {
    const until = Math.max(end, this.now + 1);
    for (const name of names) {
      const node = this.nodes.get(name)!;
      node.spans.splice(
        node.spans.findIndex((span) => span.start === start && span.end === until),
        1,
      );
      this.replace(node);
      if (node.spans.length === 0) this.nodes.delete(name);
    }
  }

  /** Whether these nodes may be held as well in this span. */
  fits(names: readonly string[], span: Span): boolean {
    this.add(names, span);
    const fits = this.planner.fits(NO_MORE, Float64Array.of(this.most), span.start, span.end, this.now);
    this.remove(names, span);
    return fits;
  }

  /** How many nodes may be held as well all through the span if nothing holds them yet. */
  freeIn({ start, end }: Span): number {
    return this.planner.countFree(ONE_MORE, Float64Array.of(this.most), start, end, this.now);
  }

  /** Whether the node is held all through the span already. */
  holds(name: string, span: Span): boolean {
    return covers(this.nodes.get(name)?.union ?? [], span);
  }

  /** The planner removes only spans that were added: so all of the node are replaced. */
  private replace(node: HeldNode): void {
    for (const { start, end } of node.union) this.planner.remove(start, end, ONE);
    node.union = unionOf(node.spans);
    for (const { start, end } of node.union) this.planner.add(start, end, ONE);
  }
}

function covers(union: readonly Span[], { start, end }: Span): boolean {
  return union.some((span) => span.start <= start && span.end >= end);
}

function unionOf(spans: readonly Span[]): readonly Span[] {
  const union: { start: number; end: number }[] = [];
  for (const { start, end } of spans.toSorted((a, b) => (a.start === b.start ? 0 : a.start - b.start))) {
    const last = union.at(-1);
    if (last === undefined || start > last.end) union.push({ start, end });
    else last.end = Math.max(last.end, end);
  }
  return union;
}
