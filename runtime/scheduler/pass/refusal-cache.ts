/**
 * Requests that were refused. A request that is at least as large as a refused one is refused without asking Fluxion.
 * A refusal holds until units become free, also from pass to pass: ten thousand waiting workloads of a few shapes cost
 * a few match requests.
 */
import { askOf, canonical } from '../../jobspec/jobspec';
import { podSetsOf } from '../../jobspec/pod-sets';
import type { Jobspec } from '../../jobspec/types';
import type { UnitCounts } from '../../resources/types';

export interface Refusals {
  /** Whether this jobspec requests at least as much, for at least as long, as one that was refused. */
  covers(jobspec: Jobspec): boolean;
  add(jobspec: Jobspec): void;
  /** Units became free: every request may be tried again. */
  clear(): void;
}

export interface RefusalOptions {
  /** Whether a shorter walltime may help where a longer one was refused; not if the cluster is too small. */
  readonly compareWalltime: boolean;
}

/** What a jobspec requests, as numbers. A request is larger only if it is at least as large in each of them. */
interface Size {
  /** Only jobspecs with the same constraint and rules, all exclusive or all shared, can be compared. */
  readonly family: string;
  readonly pods: number;
  readonly walltime: number;
  readonly perPod: UnitCounts;
}

/** A jobspec never changes, and every pass compares those of all that wait. */
const sizes = new WeakMap<Jobspec, Size>();

function sizeOf(jobspec: Jobspec): Size {
  const known = sizes.get(jobspec);
  if (known !== undefined) return known;
  const size = podSetsOf(jobspec) === undefined ? sizeOfPods(jobspec) : sizeOfGang(jobspec);
  sizes.set(jobspec, size);
  return size;
}

/** Gangs of several pod sets are compared only with gangs of the same. */
function sizeOfGang({ resources, attributes: { system, user } }: Jobspec): Size {
  const { duration, constraints = {} } = system;
  const family = canonical({ resources, constraints, podSets: user?.podSets });
  return { family, pods: 1, walltime: duration, perPod: {} };
}

function sizeOfPods(jobspec: Jobspec): Size {
  const { pods, perPod, exclusive } = askOf(jobspec);
  const { user, system } = jobspec.attributes;
  const { duration, constraints = {} } = system;
  const family = `${exclusive} ${canonical(constraints)} ${canonical(user?.placement ?? {})}`;
  return { family, pods, walltime: duration, perPod };
}

export function refusals({ compareWalltime }: RefusalOptions): Refusals {
  const families = new Map<string, Size[]>();
  const isAtLeast = (size: Size, other: Size) =>
    size.pods >= other.pods &&
    (!compareWalltime || size.walltime >= other.walltime) &&
    hasAtLeast(size.perPod, other.perPod);

  return {
    covers(jobspec) {
      if (families.size === 0) return false;
      const size = sizeOf(jobspec);
      return families.get(size.family)?.some((refused) => isAtLeast(size, refused)) ?? false;
    },
    add(jobspec) {
      const size = sizeOf(jobspec);
      const others = families.get(size.family)?.filter((refused) => !isAtLeast(refused, size)) ?? [];
      families.set(size.family, [...others, size]);
    },
    clear() {
      families.clear();
    },
  };
}

function hasAtLeast(counts: UnitCounts, others: UnitCounts): boolean {
  for (const type in others) if ((counts[type] ?? 0) < (others[type] ?? 0)) return false;
  return true;
}
