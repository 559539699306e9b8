/** Compares the chosen victims with the best of all subsets. */
import { jobspecOf } from '../../../runtime/jobspec/jobspec';
import type { Allocation } from '../../../runtime/resources/types';
import { FreeCapacity } from '../../../runtime/scheduler/pass/free-capacity';
import { type EvictionCandidate, type Room, victims } from '../../../runtime/scheduler/pass/victims';
import fc from '../../fast-check';
import { holds, type Property } from './property';

interface Candidate extends EvictionCandidate {
  readonly allocation: Allocation;
}

interface Case {
  readonly nodes: readonly number[];
  readonly holders: readonly Candidate[];
  readonly pods: number;
  readonly cpu: number;
  readonly exclusive: boolean;
}

const NODES = 3;
const CORES = 4;

const holder = fc.record({
  priority: fc.integer({ min: 0, max: 3 }),
  since: fc.integer({ min: 0, max: 4 }),
  loss: fc.integer({ min: 1, max: 6 }),
  cores: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: NODES, maxLength: NODES }),
});

const casesUpTo = (maxLength: number) =>
  fc
    .record({
      holders: fc.array(holder, { maxLength, size: 'max' }),
      pods: fc.integer({ min: 1, max: 6 }),
      cpu: fc.integer({ min: 1, max: 3 }),
      exclusive: fc.boolean(),
    })
    .map(({ holders: wanted, ...ask }): Case => {
      const free = Array.from({ length: NODES }, () => CORES);
      const taken = wanted.map(({ cores, priority, since, loss }, i) => {
        const units = cores.map((count, n) => {
          const given = Math.min(count, free[n]!);
          free[n]! -= given;
          return given;
        });
        return { uid: `h${i}`, priority, since, loss, allocation: allocationOf(units) };
      });
      return { ...ask, nodes: free, holders: taken };
    });

/** The numbers of the units do not matter here, only how many there are. */
function allocationOf(cores: readonly number[]): Allocation {
  const nodes = cores
    .map((count, n) => ({ name: `n${n}`, exclusive: false, units: { core: `0-${count - 1}` }, count }))
    .filter(({ count }) => count > 0)
    .map(({ count: _, ...node }) => node);
  return { jobid: 1, start: 0, end: 1000, nodes };
}

function capacityOf({ nodes, pods, cpu, exclusive }: Case): FreeCapacity {
  const pod = { containers: [{ resources: { requests: { cpu } } }] };
  const self = { namespace: 'science', labels: {} };
  const jobspec = jobspecOf({ pod, pods, walltime: 100, exclusive, self });
  const state = nodes.map((core, n) => ({
    name: `n${n}`,
    up: true,
    total: { core: CORES },
    free: { core },
    properties: [],
  }));
  return new FreeCapacity(jobspec, { nodes: state });
}

function roomOf(free: FreeCapacity): Room<Candidate> {
  return {
    get missing() {
      return free.missing;
    },
    release: ({ allocation }) => free.release(allocation),
    take: ({ allocation }) => free.take(allocation),
  };
}

function suffices(given: Case, evicted: readonly Candidate[]): boolean {
  const free = [...given.nodes];
  for (const { allocation } of evicted)
    for (const { name, units } of allocation.nodes) {
      const [, last = '0'] = units.core!.split('-');
      free[Number(name.slice(1))]! += Number(last) + 1;
    }
  const fit = free.map((cores) => {
    if (!given.exclusive) return Math.floor(cores / given.cpu);
    return cores === CORES && given.cpu <= CORES ? 1 : 0;
  });
  return fit.reduce((sum, count) => sum + count, 0) >= given.pods;
}

function subsets<T>(all: readonly T[]): T[][] {
  return Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((__, i) => (bits >> i) & 1));
}

/**
 * How bad a set of victims is, as numbers of which the first that differs decides: how much work is lost of each priority,
 * the highest first, how many there are, and then for each candidate, the dearest first, whether it is evicted.
 */
function badness(all: readonly Candidate[], evicted: readonly Candidate[]): number[] {
  const losses = [3, 2, 1, 0].map((level) =>
    evicted.filter(({ priority }) => priority === level).reduce((sum, { loss }) => sum + loss, 0),
  );
  const dearest = all.toSorted(
    (a, b) => b.priority - a.priority || a.since - b.since || a.uid.localeCompare(b.uid),
  );
  return [...losses, evicted.length, ...dearest.map((each) => Number(evicted.includes(each)))];
}

function compare(a: readonly number[], b: readonly number[]): number {
  const first = a.findIndex((value, i) => value !== b[i]);
  return first < 0 ? 0 : a[first]! - b[first]!;
}

const counts = { impossible: 0, none: 0, some: 0 };

function checkBest(given: Case): void {
  const chosen = victims(roomOf(capacityOf(given)), given.holders);
  const possible = subsets(given.holders).filter((set) => suffices(given, set));
  counts[chosen === undefined ? 'impossible' : chosen.length === 0 ? 'none' : 'some'] += 1;
  if (possible.length === 0) {
    holds(chosen === undefined, () => 'victims that do not suffice');
    return;
  }
  const best = possible
    .map((set) => badness(given.holders, set))
    .reduce((a, b) => (compare(b, a) < 0 ? b : a));
  holds(chosen !== undefined, () => 'no victims where some suffice');
  holds(compare(badness(given.holders, chosen!), best) === 0, () => `worse victims than the best: ${best}`);
}

/** Three of each: too many for the exact search. */
const many = casesUpTo(8).map((given) => {
  const copies = [...'abc'].flatMap((copy) =>
    given.holders.map((each) => ({ ...each, uid: each.uid + copy })),
  );
  return { ...given, pods: given.pods * 2, holders: copies };
});

let spared = 0;

function checkSpared(given: Case): void {
  const chosen = victims(roomOf(capacityOf(given)), given.holders);
  if (chosen === undefined || chosen.length === 0) return;
  spared += 1;
  for (const victim of chosen) {
    const others = chosen.filter((each) => each !== victim);
    holds(!suffices(given, others), () => `${victim.uid} is superfluous`);
  }
  const highest = Math.max(...chosen.map(({ priority }) => priority));
  const below = given.holders.filter(({ priority }) => priority < highest);
  holds(!suffices(given, below), () => `those below priority ${highest} suffice`);
}

function checkUnchanged(given: Case): void {
  const room = roomOf(capacityOf(given));
  const before = room.missing;
  victims(room, given.holders);
  holds(room.missing === before, () => `missing ${before} before and ${room.missing} after`);
}

const over = (given: fc.Arbitrary<Case>, check: (given: Case) => void) => ({
  property: fc.property(given, check) as fc.IRawProperty<unknown>,
});

export const VICTIM_PROPERTIES: readonly Property[] = [
  {
    name: 'victims: the best of all sets that suffice, by brute force',
    runs: 8_000,
    check: over(casesUpTo(5), checkBest),
    met: () => counts,
  },
  {
    name: 'victims: the best of all sets that suffice, of up to eight holders',
    runs: 1_000,
    check: over(casesUpTo(8), checkBest),
    met: () => counts,
  },
  {
    name: 'victims: beyond the exact search none is superfluous, and none has a priority that can be spared',
    runs: 1_000,
    check: over(many, checkSpared),
    met: () => ({ spared }),
  },
  {
    name: 'victims: the search leaves the room as it was',
    runs: 500,
    check: over(casesUpTo(8), checkUnchanged),
    met: () => ({}),
  },
];
