/** Whether a pod asks for no more than its pod set was granted for. Whoever makes a pod may write any owner and any label into it. */
import { excessText } from '../jobspec/explain';
import { podSetsOf } from '../jobspec/pod-sets';
import { podRequests } from '../jobspec/requests';
import type { Jobspec } from '../jobspec/types';
import { DEFAULT_UNITS, unitsOf } from '../jobspec/units';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { placementOf } from './assignment';

/** What was granted for the pods of each pod set, by name. @param sole the name of the pod set of a jobspec that has one */
export function grantedSets(jobspec: Jobspec, sole: string): ReadonlyMap<string, Jobspec> {
  const sets = podSetsOf(jobspec) ?? [{ name: sole, jobspec }];
  return new Map(sets.map(({ name, jobspec: own }) => [name, own]));
}

/** What a pod asks for beyond a place of its pod set, in words; undefined if it fits there. */
export function excessOf({ spec }: Pod, set: Jobspec): string | undefined {
  return excessText(set, unitsOf(podRequests(spec), set.attributes.user?.units ?? DEFAULT_UNITS));
}

/** The places of a grant, or of one pod set of it. */
export function grantedPods(row: WorkloadRow, set?: string): number {
  return placementOf(row, set).reduce((sum, { pods: count }) => sum + count, 0);
}
