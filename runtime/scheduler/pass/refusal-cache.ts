/**
 * What was refused in this pass, so that it is not asked again, and nothing
 * larger either. A refusal holds until something is given back, also from pass
 * to pass. Ten thousand waiting workloads of a few shapes cost a few questions.
 */
import { askOf, canonical } from '../../jobspec/jobspec';
import type { Jobspec } from '../../jobspec/types';

export interface Refusals {
  /** Whether this jobspec asks for at least as much, for at least as long, as one that was refused. */
  covers(jobspec: Jobspec): boolean;
  add(jobspec: Jobspec): void;
  /** Something was given back: all may be asked again. */
  clear(): void;
}

/** What is asked for as numbers: more in none of them means not larger. */
type Size = Readonly<Record<string, number>>;

/** @param walltimes whether a shorter walltime may help where a longer was refused (not if the cluster is too small) */
export function refusals(walltimes: boolean): Refusals {
  /** Only jobspecs with the same constraint, of the same make, can be compared. */
  const families = new Map<string, Size[]>();
  const known = new WeakMap<Jobspec, { family: string; size: Size }>();

  function measure(jobspec: Jobspec): { family: string; size: Size } {
    const before = known.get(jobspec);
    if (before !== undefined) {
      return before;
    }
    const { pods, perPod, exclusive } = askOf(jobspec);
    const { duration, constraints = {} } = jobspec.attributes.system;
    const measured = {
      family: `${exclusive} ${canonical(constraints)}`,
      size: { ...perPod, ' pods': pods, ...(walltimes ? { ' walltime': duration } : {}) },
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
  for (const type in other) {
    if ((size[type] ?? 0) < (other[type] ?? 0)) {
      return false;
    }
  }
  return true;
}
