/** Rows as they are kept in memory: what many of them have in common exists once. Nobody may change it. */
import type { InternPool } from '../intern';
import type { Jobspec } from '../jobspec/types';
import type { WorkloadRow } from './workload';

/** An equal row. */
export function internedRow(row: WorkloadRow, pool: InternPool): WorkloadRow {
  return {
    ...row,
    uid: pool.text(row.uid),
    kind: pool.text(row.kind),
    namespace: pool.text(row.namespace),
    name: pool.text(row.name),
    queue: pool.text(row.queue),
    user: pool.text(row.user),
    shape: pool.text(row.shape),
    phase: pool.text(row.phase),
    message: row.message === null ? null : pool.text(row.message),
    after: pool.object(row.after),
    avoid: pool.object(row.avoid),
    jobspec: pool.object(row.jobspec, () => withSharedParts(row.jobspec, pool)),
  };
}

/** Jobspecs that differ in their walltime alone share the rest. */
function withSharedParts({ version, resources, tasks, attributes }: Jobspec, pool: InternPool): Jobspec {
  const { system, user } = attributes;
  return {
    version,
    resources: pool.object(resources),
    tasks: pool.object(tasks),
    attributes: { system, ...(user === undefined ? {} : { user: pool.object(user) }) },
  };
}
