import type { Clock } from '../clock';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';

interface ReminderOptions {
  readonly workloadCache: Pick<WorkloadCache, 'active'>;
  readonly onPending: (row: WorkloadRow) => void;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

/** From one look at the rows to the next. */
const EVERY_MS = 10_000;

/**
 * Tells again of workloads that were granted and are not released, or have to leave their nodes: a listener that failed, or
 * a key that was dropped, must not keep nodes from others until the next audit.
 */
export class Reminders {
  private lookAt: number;

  constructor(private readonly options: ReminderOptions) {
    this.lookAt = options.clock.now() + EVERY_MS;
  }

  /** Does nothing most of the time. */
  tell(): void {
    const { workloadCache, onPending, clock, now } = this.options;
    if (clock.now() < this.lookAt) return;
    this.lookAt = clock.now() + EVERY_MS;
    const before = now() - EVERY_MS / 1000;
    for (const row of workloadCache.active())
      if (isPending(row) && (row.allocatedAt ?? 0) <= before) onPending(row);
  }
}

/** Whether only the leader can do what comes next. */
function isPending({ phase, releasedAt, evictionReason }: WorkloadRow): boolean {
  return phase !== 'Waiting' && (releasedAt === null || evictionReason !== null);
}
