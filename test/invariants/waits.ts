/** Checks that every workload that does not run says why, and that a grant whose pods do not run is taken back. */
import type { Pod } from '../../runtime/kubernetes/types';
import type { Observation, Violation } from './observation';

/** Waiting workloads without a reason and its text. */
export function unexplainedWaits({ rows }: Pick<Observation, 'rows'>): Violation[] {
  return rows
    .filter(({ phase, reason, message }) => phase === 'Waiting' && !(reason && message))
    .map(({ name, reason }) => ({
      invariant: 'reason',
      text: `${name} waits (${reason}) and says no reason`,
    }));
}

/** Seconds from the end of the limit until the eviction is complete: its commit, the suspension, and the end of its pods. */
const EVICTION_SECONDS = 20;

/** Finds grants that hold nodes for longer than their limit while none of their pods runs. */
export class IdleGrants {
  /** Job id -> seconds for which it has been idle. */
  private readonly idle = new Map<number, number>();
  private readonly reported = new Set<number>();
  private last: number | undefined;

  /** @param limitSeconds how long the pods of a grant may wait */
  constructor(private readonly limitSeconds: number) {}

  /**
   * Time passes only while no fault lasts: a fault may delay an eviction.
   * @param at seconds
   */
  observe(
    at: number,
    { rows, pods }: Pick<Observation, 'rows' | 'pods'>,
    isRecovering: boolean,
  ): Violation[] {
    const passed = isRecovering || this.last === undefined ? 0 : at - this.last;
    this.last = at;
    const running = new Set(pods.filter((pod) => isRunning(pod) || isKept(pod)).map(ownerOf));
    const found: Violation[] = [];
    for (const { uid, jobid, phase, name } of rows) {
      const isIdle = (phase === 'Ready' || phase === 'Running') && !running.has(uid);
      const seconds = isIdle ? (this.idle.get(jobid) ?? 0) + passed : undefined;
      if (seconds === undefined) this.idle.delete(jobid);
      else this.idle.set(jobid, seconds);
      if ((seconds ?? 0) <= this.limitSeconds + EVICTION_SECONDS || this.reported.has(jobid)) continue;
      this.reported.add(jobid);
      found.push({
        invariant: 'idle',
        text: `${name} is ${phase} and no pod of it runs for ${Math.round(seconds!)} s`,
      });
    }
    return found;
  }

  /** A new leader starts to count again. */
  reset(): void {
    this.idle.clear();
  }
}

/** Nobody makes a bare pod again: it keeps its grant for ten minutes while a fault of the cluster keeps it from its node. */
function isKept({ metadata, status }: Pod): boolean {
  return metadata.ownerReferences === undefined && status?.phase === 'Pending';
}

function isRunning({ status }: Pod): boolean {
  return status?.phase === 'Running';
}

function ownerOf({ metadata }: Pod): string {
  return metadata.ownerReferences?.[0]?.uid ?? metadata.uid;
}
