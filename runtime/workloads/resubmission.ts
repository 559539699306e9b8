import type { WorkloadRow } from '../queue/workload';
import type { Resubmission } from '../shared/signals';

/** Whether the workload has to be compared with its row. */
export function concerns({ namespaces, labels }: Resubmission, row: WorkloadRow): boolean {
  return (
    row.phase === 'Waiting' &&
    (namespaces === undefined || namespaces.has(row.namespace)) &&
    (labels === undefined || looksAt(row, labels))
  );
}

/** Whether the jobspec was made from the values of one of these node labels. An earlier release did not note them. */
function looksAt({ jobspec }: WorkloadRow, labels: ReadonlySet<string>): boolean {
  const { user } = jobspec.attributes;
  const isNoted = user?.requests !== undefined || user?.podSets !== undefined;
  return !isNoted || user.labels?.some((key) => labels.has(key)) === true;
}
