import type { GraphNode, UnitCounts } from '../resources/types';
import { type Ask, askOf, canonical } from './jobspec';
import { matchingNodes } from './matching-nodes';
import { setsOf } from './pod-sets';
import type { Constraint, Jobspec } from './types';

/** What these nodes could hold if they were empty. */
export interface Capacity {
  /** Exact for jobspecs of `jobspecOf`: their slots may be on any nodes, in any zones and racks. Of several pod sets each is counted alone. */
  fits(jobspec: Jobspec): boolean;
  /** The nodes that match the constraints of the jobspec. */
  classesFor(jobspec: Jobspec): readonly NodeClass[];
}

/** Nodes with equal units. */
export interface NodeClass {
  readonly units: UnitCounts;
  readonly count: number;
}

export function capacityOf(nodes: readonly GraphNode[]): Capacity {
  const byConstraint = new Map<string, readonly NodeClass[]>();

  function classesOf(constraint: Constraint): readonly NodeClass[] {
    const key = canonical(constraint);
    const known = byConstraint.get(key) ?? classify(matchingNodes(constraint, nodes));
    byConstraint.set(key, known);
    return known;
  }

  /** Every pass asks for all that wait. */
  const verdicts = new WeakMap<Jobspec, boolean>();
  const classesFor = (jobspec: Jobspec) => classesOf(jobspec.attributes.system.constraints ?? {});

  function fitsAlone(jobspec: Jobspec): boolean {
    const ask = askOf(jobspec);
    const classes = classesFor(jobspec);
    const pods = classes.reduce((total, { units, count }) => total + count * podsOn(units, ask), 0);
    return pods >= ask.pods;
  }

  return {
    classesFor,
    fits(jobspec) {
      const known = verdicts.get(jobspec) ?? setsOf(jobspec).every(fitsAlone);
      verdicts.set(jobspec, known);
      return known;
    },
  };
}

function classify(nodes: readonly GraphNode[]): NodeClass[] {
  const classes = new Map<string, { units: UnitCounts; count: number }>();
  for (const { units } of nodes) {
    const key = canonical(units);
    const known = classes.get(key);
    if (known === undefined) {
      classes.set(key, { units, count: 1 });
    } else {
      known.count += 1;
    }
  }
  return [...classes.values()];
}

/** How many of the pods fit an empty node with these units. */
export function podsOn(units: UnitCounts, { perPod, exclusive }: Pick<Ask, 'perPod' | 'exclusive'>): number {
  const pods = Math.min(
    ...Object.entries(perPod).map(([type, count]) => Math.floor((units[type] ?? 0) / count)),
  );
  return exclusive ? Math.min(1, pods) : pods;
}
