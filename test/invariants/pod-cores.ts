import type { Pod } from '../../runtime/kubernetes/types';

/** The cores that the containers of a simulated pod request, which are whole numbers. */
export function coresOf({ spec }: Pod): number {
  return spec.containers.reduce((sum, { resources }) => sum + Number(resources?.requests?.cpu ?? 0), 0);
}
