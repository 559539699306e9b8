/** Whether a pod asks for no more than its pod set was granted for. Whoever makes a pod may write any owner and any label into it. */
import { askOf } from '../jobspec/jobspec';
import { podSetsOf } from '../jobspec/pod-sets';
import { podRequests } from '../jobspec/requests';
import type { Jobspec } from '../jobspec/types';
import { DEFAULT_UNITS, unitsOf } from '../jobspec/units';
import type { Pod } from '../kubernetes/types';

/** What was granted for the pods of each pod set, by name. @param sole the name of the pod set of a jobspec that has one */
export function grantedSets(jobspec: Jobspec, sole: string): ReadonlyMap<string, Jobspec> {
  const sets = podSetsOf(jobspec) ?? [{ name: sole, jobspec }];
  return new Map(sets.map(({ name, jobspec: own }) => [name, own]));
}

/** Units are compared, as they were granted: each was rounded up. */
export function fitsIn({ spec }: Pod, set: Jobspec): boolean {
  const { exclusive, perPod } = askOf(set);
  if (exclusive) return true;
  const units = unitsOf(podRequests(spec), set.attributes.user?.units ?? DEFAULT_UNITS);
  return Object.entries(units).every(([type, count]) => count <= (perPod[type] ?? 0));
}
