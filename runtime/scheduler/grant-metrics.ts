/** What the metrics say of the grants of a pass. */
import type { ControllerMetrics } from '../observability/metrics';
import type { WorkloadRow } from '../queue/workload';
import type { PassResult } from './pass/types';

interface Granted {
  readonly granted: readonly WorkloadRow[];
  /** uid -> the start that was promised before. */
  readonly promised: ReadonlyMap<string, number | null | undefined>;
  /** The workloads that might have started, in their order. */
  readonly line: PassResult['line'];
  /** Unix seconds. */
  readonly now: number;
}

export function measureGrants(
  metrics: Pick<ControllerMetrics, 'grants' | 'estimateError' | 'backfilled'>,
  { granted, promised, line, now }: Granted,
): void {
  metrics.grants.inc(granted.length);
  for (const { uid } of granted) {
    const start = promised.get(uid);
    if (start != null) metrics.estimateError.observe(Math.abs(now - start));
  }
  metrics.backfilled.inc(backfilledOf(line, new Set(granted.map(({ uid }) => uid))));
}

/** The number of grants behind a workload that waits on. */
function backfilledOf(line: PassResult['line'], granted: ReadonlySet<string>): number {
  const firstToWait = line.findIndex(({ uid }) => !granted.has(uid));
  return firstToWait < 0 ? 0 : granted.size - firstToWait;
}
