/** Services in a quota for which a workload waits: they end at no known time, so it has no start, and its user should know why. */
import type { WorkloadRow } from '../../queue/workload';
import { isService } from './endless-usage';
import { shownNames } from './shown-names';
import type { Pass } from './state';

/** A message that named all services would be long, and would change whenever one of them does. */
const NAMES = 3;

/** The clause of a message that names them; empty if there are none. */
export function servicesText({ holders, quotas }: Pass, row: WorkloadRow): string {
  const services = holders.filter((other) => isService(other) && quotas.areRivals(row, other));
  if (services.length === 0) return '';
  services.sort((a, b) => (a.allocatedAt ?? Infinity) - (b.allocatedAt ?? Infinity) || a.seq - b.seq);
  const more = services.length > NAMES ? ' and others' : '';
  return `; services hold part of it and have no end (${shownNames(row, services.slice(0, NAMES)).join(', ')}${more})`;
}
