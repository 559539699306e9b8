/**
 * Which workloads to evict. Of all sets that make enough room, the best is the one that loses least work of the highest
 * priority, then least of the next lower priority, and so on; among sets equal in this, the one that evicts fewest, and then
 * the one that spares the workload of highest priority that runs longest. So many workloads of a low priority go before one of
 * a higher priority, and none is in the set whose eviction does not help. The search is exact for up to 12 candidates;
 * beyond, it takes the better of two greedy sets, and neither of these has a superfluous victim.
 */

/** A workload that may be evicted. */
export interface EvictionCandidate {
  readonly uid: string;
  readonly priority: number;
  /** Since when it runs; the youngest has the highest. */
  readonly since: number;
  /** The work that is lost with it: core-seconds, above 0. */
  readonly loss: number;
}

/** What is missing for a start. Candidates can be released and taken back to see what their eviction would free. */
export interface Room<C> {
  /** 0: nothing is missing. It never rises when a candidate is released. */
  readonly missing: number;
  release(candidate: C): void;
  take(candidate: C): void;
}

/** Both together. */
export function togetherIn<C>(first: Room<C>, second: Room<C>): Room<C> {
  return {
    get missing() {
      return first.missing + second.missing;
    },
    release(candidate) {
      first.release(candidate);
      second.release(candidate);
    },
    take(candidate) {
      first.take(candidate);
      second.take(candidate);
    },
  };
}

/** More candidates would take the exact search more than some milliseconds. */
const EXACT_CANDIDATES = 12;

/** @returns the youngest of the lowest priority first; none if nothing is missing; undefined if too little is free without all candidates either */
export function victims<C extends EvictionCandidate>(
  room: Room<C>,
  candidates: readonly C[],
): readonly C[] | undefined {
  if (room.missing === 0) return [];
  for (const candidate of candidates) room.release(candidate);
  const isPossible = room.missing === 0;
  const chosen = isPossible ? bestOf(room, candidates.toSorted(dearestFirst)) : undefined;
  for (const candidate of candidates) room.take(candidate);
  return chosen?.toReversed();
}

/** The one to spare first comes first: of the highest priority, and of these the one that runs longest. */
function dearestFirst(a: EvictionCandidate, b: EvictionCandidate): number {
  return b.priority - a.priority || a.since - b.since || (a.uid < b.uid ? -1 : 1);
}

/** The one to evict first comes first. */
export function cheapestFirst(a: EvictionCandidate, b: EvictionCandidate): number {
  return dearestFirst(b, a);
}

/** @param dearest all candidates, which are released before and after */
function bestOf<C extends EvictionCandidate>(room: Room<C>, dearest: readonly C[]): readonly C[] {
  const few = withoutSuperfluous(room, fewest(room, dearest), dearest);
  const young = withoutSuperfluous(room, dearest, dearest);
  const best = isBetter(few, young) ? few : young;
  if (dearest.length > EXACT_CANDIDATES) return best;
  const search = { room, dearest, best };
  descend(search, 0, []);
  return search.best;
}

/** Whether evicting `a` is better than evicting `b`, both in the order of `dearestFirst`. */
function isBetter(a: readonly EvictionCandidate[], b: readonly EvictionCandidate[]): boolean {
  const [mine, others] = [lossesOf(a), lossesOf(b)];
  for (const priority of [...new Set([...mine.keys(), ...others.keys()])].sort((x, y) => y - x)) {
    const difference = (mine.get(priority) ?? 0) - (others.get(priority) ?? 0);
    if (difference !== 0) return difference < 0;
  }
  if (a.length !== b.length) return a.length < b.length;
  const first = a.findIndex((victim, i) => victim.uid !== b[i]!.uid);
  return first >= 0 && dearestFirst(b[first]!, a[first]!) < 0;
}

/** By priority. */
function lossesOf(evicted: readonly EvictionCandidate[]): Map<number, number> {
  const losses = new Map<number, number>();
  for (const { priority, loss } of evicted) losses.set(priority, (losses.get(priority) ?? 0) + loss);
  return losses;
}

/** Spares one after the other, the dearest first, as long as the rest suffices. */
function withoutSuperfluous<C>(room: Room<C>, chosen: readonly C[], all: readonly C[]): readonly C[] {
  const kept = new Set(chosen);
  for (const candidate of all) if (!kept.has(candidate)) room.take(candidate);
  const needed = chosen.filter((candidate) => {
    room.take(candidate);
    if (room.missing > 0) {
      room.release(candidate);
      return true;
    }
    return false;
  });
  const still = new Set(needed);
  for (const candidate of all) if (!still.has(candidate)) room.release(candidate);
  return needed;
}

/**
 * From the highest priority down, while all lower ones are released: of each priority those that lose least work for what they
 * free, of equal ones the youngest.
 */
function fewest<C extends EvictionCandidate>(room: Room<C>, dearest: readonly C[]): readonly C[] {
  const chosen: C[] = [];
  for (const level of Map.groupBy(dearest, ({ priority }) => priority).values()) {
    for (const candidate of level) room.take(candidate);
    chosen.push(...gather(room, level.toReversed()));
  }
  const taken = new Set(chosen);
  for (const candidate of dearest) if (!taken.has(candidate)) room.release(candidate);
  return chosen.sort(dearestFirst);
}

/** Of one priority so many candidates are compared for each of the first victims; beyond, the youngest go first. */
const COMPARED = { candidates: 256, victims: 64 };

function gather<C extends EvictionCandidate>(room: Room<C>, youngest: readonly C[]): C[] {
  const left = [...youngest];
  const taken: C[] = [];
  while (room.missing > 0) {
    const compared = taken.length < COMPARED.victims ? COMPARED.candidates : 1;
    const before = room.missing;
    const prices = left.slice(0, compared).map((candidate) => {
      const freed = before - missingWithout(room, candidate);
      return freed > 0 ? candidate.loss / freed : Infinity;
    });
    const [victim] = left.splice(prices.indexOf(Math.min(...prices)), 1);
    room.release(victim!);
    taken.push(victim!);
  }
  return taken;
}

function missingWithout<C>(room: Room<C>, candidate: C): number {
  room.release(candidate);
  const { missing } = room;
  room.take(candidate);
  return missing;
}

interface Search<C> {
  readonly room: Room<C>;
  readonly dearest: readonly C[];
  best: readonly C[];
}

/** Tries to spare and to evict each candidate from `index` on; those in `evicted` and from `index` on are released. */
function descend<C extends EvictionCandidate>(search: Search<C>, index: number, evicted: C[]): void {
  const { room, dearest } = search;
  if (cannotBeat(evicted, search.best)) return;
  const candidate = dearest[index];
  if (candidate === undefined) {
    if (isBetter(evicted, search.best)) search.best = [...evicted];
    return;
  }
  room.take(candidate);
  if (room.missing === 0) descend(search, index + 1, evicted);
  room.release(candidate);
  evicted.push(candidate);
  descend(search, index + 1, evicted);
  evicted.pop();
}

/** Whether every set that begins with these victims loses more of the highest priority than the best set. */
function cannotBeat(evicted: readonly EvictionCandidate[], best: readonly EvictionCandidate[]): boolean {
  const highest = evicted[0]?.priority ?? -Infinity;
  const bound = best[0]?.priority ?? -Infinity;
  if (highest !== bound) return highest > bound;
  const lossAt = (all: readonly EvictionCandidate[]) => lossesOf(all).get(highest) ?? 0;
  return lossAt(evicted) > lossAt(best);
}
