import type { Logger } from '../observability/log';
import type { WorkloadRow } from '../queue/workload';
import type { PassResult } from './pass/types';

/**
 * Logs each decision of a pass once, at debug level. A workload that keeps waiting for the same reason is not logged
 * again: the pass returns only changes.
 * @param rowOf the row as the pass saw it; undefined: it has left the queue
 */
export function logDecisions(
  logger: Logger,
  pass: number,
  { grants, waits, evictions }: PassResult,
  rowOf: (uid: string) => WorkloadRow | undefined,
): void {
  // Ten thousand decisions must cost nothing while nobody reads them.
  if (!logger.isLevelEnabled('debug')) return;
  const fieldsOf = (uid: string) => ({ pass, ...identityOf(uid, rowOf(uid)) });
  for (const { uid, allocation } of grants) {
    const nodes = allocation.nodes.map(({ name }) => name);
    logger.debug({ ...fieldsOf(uid), nodes, end: allocation.end }, 'decided to start the workload');
  }
  for (const { uid, message } of evictions)
    logger.debug({ ...fieldsOf(uid), why: message }, 'decided to evict the workload');
  for (const { uid, reason, message: why, estimatedStart } of waits)
    logger.debug({ ...fieldsOf(uid), reason, why, estimatedStart }, 'decided that the workload waits');
}

function identityOf(uid: string, row: WorkloadRow | undefined) {
  if (row === undefined) return { uid };
  const { kind, namespace, name, queue, jobid } = row;
  return { workload: `${kind}/${namespace}/${name}`, queue, jobid };
}
