/** Whoever is evicted by fair share, of a queue that had the larger share of its cohort even before its last victim. */
import type { WorkloadRow } from '../../../runtime/queue/workload';
import { plannedAllocation, TERMINATION_SECONDS } from '../../../runtime/scheduler/pass/planned-end';
import type { Eviction } from '../pass/simulated-runs';
import type { Simulation } from '../pass/simulation';
import { heldBy } from './counted-plan';
import type { Scenario } from './eviction-traces';

type Queues = Scenario['queues'];

export const isShared = (message: string) =>
  message.endsWith('of cohort lab') || message.endsWith('of cohort campus');

const BENEFICIARY = /science\/(j[0-9]+)/;

/** Evictions of now that left the queue of the newcomer with as large a share as the victim had. */
export function unfair(sim: Simulation, { queues }: Pick<Scenario, 'queues'>): string[] {
  const now = sim.evicted.filter(({ at }) => at === sim.now);
  const shared = now.filter(({ message }) => isShared(message));
  return shared.flatMap((one) => {
    const uid = BENEFICIARY.exec(one.message)![1]!;
    const victims = now.filter(({ message }) => BENEFICIARY.exec(message)?.[1] === uid);
    // Those that leave for others were still there when a pass chose these.
    const later = now.slice(now.lastIndexOf(victims.at(-1)!) + 1).map((other) => other.uid);
    return isFair(sim, queues, { uid, victim: one, victims, later: new Set(later) })
      ? []
      : [`at ${sim.now}: ${one.uid} is evicted for ${uid}`];
  });
}

interface Group {
  readonly uid: string;
  readonly victim: Eviction;
  readonly victims: readonly Eviction[];
  readonly later: ReadonlySet<string>;
}

function isFair(sim: Simulation, queues: Queues, { uid, victim, victims, later }: Group): boolean {
  const { queue } = sim.row(uid);
  const other = sim.row(victim.uid).queue;
  const own = coresOf(sim, uid);
  const lost = victims.filter((one) => isShared(one.message) && sim.row(one.uid).queue === other);
  const left = usedBy(sim, other, { uid, later });
  const last = Math.max(...lost.map((one) => coresOf(sim, one.uid)));
  const share = shareOf(queues, queue, usedBy(sim, queue, { uid, later }) + own);
  const isStrict = queues[queue]!.fairSharing === 'LessThanOrEqualToFinalShare';
  return (
    share < shareOf(queues, other, left + last) - ROUNDING &&
    (!isStrict || share <= shareOf(queues, other, left) + ROUNDING)
  );
}

const ROUNDING = 1e-9;

/** All queues of a cohort borrow of the same quota. */
function shareOf(queues: Queues, queue: string, cores: number): number {
  const { quota, weight = 1 } = queues[queue]!;
  return Math.max(0, cores - quota.cores!) / weight;
}

/** What it ran when the newcomer chose its victims, and will run when they have left: without those that have to leave. */
function usedBy(sim: Simulation, queue: string, { uid, later }: Pick<Group, 'uid' | 'later'>): number {
  const at = sim.now + TERMINATION_SECONDS;
  return sim
    .running()
    .map((run) => sim.row(run.uid))
    .filter((row) => row.queue === queue && (row.evictionReason === null || later.has(row.uid)))
    .filter((row) => later.has(row.uid) || plannedAllocation(row, sim.now).end > at)
    .filter((row) => !startedAfter(sim, row, sim.row(uid)))
    .reduce((sum, row) => sum + coresOf(sim, row.uid), 0);
}

/** Whether this pass started the row behind the newcomer, or the row is the newcomer, which may have started already. */
function startedAfter(sim: Simulation, row: WorkloadRow, newcomer: WorkloadRow): boolean {
  const isNotBefore =
    row.priority < newcomer.priority || (row.priority === newcomer.priority && row.seq >= newcomer.seq);
  return isNotBefore && row.allocation!.start === sim.now;
}

function coresOf(sim: Simulation, uid: string): number {
  return heldBy(sim.row(uid), { start: 0, end: 0 }).cores;
}
