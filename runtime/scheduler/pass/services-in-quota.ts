/** Services in a quota for which a workload waits: they end at no known time, so it has no start, and its user should know why. */
import { namedServices } from '../../jobspec/explain';
import type { WorkloadRow } from '../../queue/workload';
import { isService, oldestOf } from './endless-usage';
import { shownNames } from './shown-names';
import type { Pass } from './state';

/** The clause of a message that names them; empty if there are none. */
export function servicesText({ holders, quotas }: Pass, row: WorkloadRow): string {
  const all = holders.filter((other) => isService(other) && quotas.areRivals(row, other));
  if (all.length === 0) return '';
  const { services, more } = oldestOf(all);
  return `; services hold part of it and have no end (${namedServices(shownNames(row, services), more)})`;
}
