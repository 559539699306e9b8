/** Which nodes the pods of a jobspec may run on, if these are empty: to compare what different workloads wait for. */
import type { GraphNode } from '../resources/types';
import { podsOn } from './capacity';
import { askOf, canonical } from './jobspec';
import { matcherOf } from './matching-nodes';
import type { Jobspec } from './types';

const ANY_NODE = {};

/** One flag for each node. */
type Flags = Uint8Array;

export class UsableNodes {
  private readonly byJobspec = new WeakMap<Jobspec, Flags>();
  private readonly byNeed = new Map<string, Flags>();
  private readonly byFlags = new Map<string, Flags>();
  private readonly comparisons = new WeakMap<Flags, WeakMap<Flags, boolean>>();

  constructor(private readonly nodes: readonly GraphNode[]) {}

  /** Whether pods of the first jobspec may run wherever pods of the other may. */
  covers(jobspec: Jobspec, other: Jobspec): boolean {
    const all = this.usableBy(jobspec);
    const some = this.usableBy(other);
    if (all === some) return true;
    const known = this.comparisons.get(all) ?? new WeakMap<Flags, boolean>();
    this.comparisons.set(all, known);
    const answer = known.get(some) ?? some.every((flag, place) => flag <= all[place]!);
    known.set(some, answer);
    return answer;
  }

  /** Equal sets are one array: of ten thousand jobspecs nearly all may use the same nodes. */
  private usableBy(jobspec: Jobspec): Flags {
    const known = this.byJobspec.get(jobspec);
    if (known !== undefined) return known;
    const { perPod, exclusive } = askOf(jobspec);
    const constraint = jobspec.attributes.system.constraints ?? ANY_NODE;
    const amounts = Object.entries(perPod).join(' ');
    const need = `${exclusive} ${amounts} ${constraint === ANY_NODE ? '' : canonical(constraint)}`;
    const flags = this.byNeed.get(need) ?? this.intern(this.flagsOf(constraint, { perPod, exclusive }));
    this.byNeed.set(need, flags);
    this.byJobspec.set(jobspec, flags);
    return flags;
  }

  private flagsOf(constraint: Parameters<typeof matcherOf>[0], need: Parameters<typeof podsOn>[1]): Flags {
    const isMatch = matcherOf(constraint, this.nodes);
    return Uint8Array.from(this.nodes, ({ units }, place) =>
      podsOn(units, need) > 0 && isMatch(place) ? 1 : 0,
    );
  }

  private intern(flags: Flags): Flags {
    const text = flags.join('');
    const known = this.byFlags.get(text) ?? flags;
    this.byFlags.set(text, known);
    return known;
  }
}
