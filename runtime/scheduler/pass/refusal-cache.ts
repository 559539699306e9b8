/**
 * Requests that were refused. A request that is at least as large as a refused one is refused without asking Fluxion.
 * A refusal holds until units become free, also from pass to pass: ten thousand waiting workloads of a few shapes cost
 * a few match requests.
 */
import { askOf, canonical } from '../../jobspec/jobspec';
import type { Jobspec } from '../../jobspec/types';

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
type Size = Readonly<Record<string, number>>;

export function refusals({ compareWalltime }: RefusalOptions): Refusals {
  /** Only jobspecs with the same constraint and rules, all exclusive or all shared, can be compared. */
  const families = new Map<string, Size[]>();
  const known = new WeakMap<Jobspec, { family: string; size: Size }>();

  function measure(jobspec: Jobspec): { family: string; size: Size } {
    const before = known.get(jobspec);
    if (before !== undefined) return before;
    const { pods, perPod, exclusive } = askOf(jobspec);
    const { user } = jobspec.attributes;
    const { duration, constraints = {} } = jobspec.attributes.system;
    const measured = {
      family: `${exclusive} ${canonical(constraints)} ${canonical(user?.placement ?? {})}`,
      size: { ...perPod, ' pods': pods, ...(compareWalltime ? { ' walltime': duration } : {}) },
    };
    known.set(jobspec, measured);
    return measured;
  }

  return {
    covers(jobspec) {
      const { family, size } = measure(jobspec);
      return families.get(family)?.some((refused) => atLeast(size, refused)) ?? false;
    },
    add(jobspec) {
      const { family, size } = measure(jobspec);
      const others = families.get(family)?.filter((refused) => !atLeast(refused, size)) ?? [];
      families.set(family, [...others, size]);
    },
    clear() {
      families.clear();
    },
  };
}

function atLeast(size: Size, other: Size): boolean {
  for (const type in other) if ((size[type] ?? 0) < (other[type] ?? 0)) return false;
  return true;
}
