/** Which nodes the pods of a jobspec may run on, if these are empty: to compare what different workloads wait for. */
import type { GraphNode, UnitCounts } from '../resources/types';
import { podsOn } from './capacity';
import { EVERY } from './constraints';
import { askOf, canonical } from './jobspec';
import { matcherOf } from './matching-nodes';
import { setsOf } from './pod-sets';
import type { Constraint, Jobspec } from './types';

/** The nodes that match a constraint. */
interface Matched {
  readonly flags: Uint8Array;
  /** The sizes of these nodes. */
  readonly sizes: readonly number[];
}

interface Need {
  readonly matched: Matched;
  /** One flag for each size: whether a pod has room on an empty node of it. */
  readonly fits: readonly boolean[];
}

export class UsableNodes {
  private readonly sizeOf: Int32Array;
  private readonly sizes: readonly UnitCounts[];
  private readonly byJobspec = new WeakMap<Jobspec, Need>();
  private readonly byConstraint = new Map<string, Matched>();
  private readonly onlyIn = new WeakMap<Matched, WeakMap<Matched, ReadonlySet<number>>>();

  constructor(private readonly nodes: readonly GraphNode[]) {
    const numbers = new Map<string, number>();
    const sizes: UnitCounts[] = [];
    this.sizes = sizes;
    this.sizeOf = new Int32Array(nodes.length);
    nodes.forEach(({ units }, place) => {
      const key = canonical(units);
      const number = numbers.get(key) ?? sizes.push(units) - 1;
      numbers.set(key, number);
      this.sizeOf[place] = number;
    });
  }

  /** Whether pods of the first jobspec may run wherever pods of the other may: of several pod sets, those of one of them. */
  covers(jobspec: Jobspec, other: Jobspec): boolean {
    const all = setsOf(jobspec).map((set) => this.needOf(set));
    return setsOf(other).every((set) => all.some((need) => this.isWithin(this.needOf(set), need)));
  }

  private isWithin(some: Need, all: Need): boolean {
    const onlySome = this.sizesOnlyIn(some.matched, all.matched);
    return some.matched.sizes.every((size) => !some.fits[size] || (all.fits[size]! && !onlySome.has(size)));
  }

  /** Sizes of nodes that match the first and not the second. */
  private sizesOnlyIn(some: Matched, all: Matched): ReadonlySet<number> {
    if (some === all) return NONE;
    const known = this.onlyIn.get(some) ?? new WeakMap<Matched, ReadonlySet<number>>();
    this.onlyIn.set(some, known);
    const found = known.get(all) ?? this.differ(some, all);
    known.set(all, found);
    return found;
  }

  private differ({ flags }: Matched, all: Matched): ReadonlySet<number> {
    const sizes = new Set<number>();
    for (let place = 0; place < flags.length; place++)
      if (flags[place]! > all.flags[place]!) sizes.add(this.sizeOf[place]!);
    return sizes;
  }

  private needOf(jobspec: Jobspec): Need {
    const known = this.byJobspec.get(jobspec);
    if (known !== undefined) return known;
    const ask = askOf(jobspec);
    const matched = this.matchedBy(jobspec.attributes.system.constraints ?? EVERY);
    const need = { matched, fits: this.sizes.map((units) => podsOn(units, ask) > 0) };
    this.byJobspec.set(jobspec, need);
    return need;
  }

  private matchedBy(constraint: Constraint): Matched {
    const key = canonical(constraint);
    const known = this.byConstraint.get(key) ?? this.match(constraint);
    this.byConstraint.set(key, known);
    return known;
  }

  private match(constraint: Constraint): Matched {
    const isMatch = matcherOf(constraint, this.nodes);
    const flags = new Uint8Array(this.nodes.length);
    const sizes = new Set<number>();
    for (let place = 0; place < flags.length; place++) {
      if (!isMatch(place)) continue;
      flags[place] = 1;
      sizes.add(this.sizeOf[place]!);
    }
    return { flags, sizes: [...sizes] };
  }
}

const NONE: ReadonlySet<number> = new Set();
