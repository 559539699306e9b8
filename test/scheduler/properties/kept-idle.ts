/** A promise to borrow keeps no own quota of a queue that reclaims idle. */
import type { WorkloadRow } from '../../../runtime/queue/workload';
import { TERMINATION_SECONDS } from '../../../runtime/scheduler/pass/planned-end';
import type { Reservation } from '../../../runtime/scheduler/pass/reservations';
import type { Simulation } from '../pass/simulation';
import { coresOf, couldStart, hasQuotaNow, heldBy, plannedIn, runningIn, waiting } from './counted-plan';
import type { Scenario } from './eviction-traces';
import { beneficiaryOf } from './returned-quota';

type Queues = Pick<Scenario, 'queues'>;

/** Workloads within the own quota of their queue, which would have quota and nodes now but for what others plan to borrow. */
export async function keptIdle(sim: Simulation, given: Queues): Promise<string[]> {
  const found: string[] = [];
  // What was planned after an eviction of the same pass is judged when the victim has left.
  if (sim.evicted.some(({ at, gone }) => at === sim.now && gone === undefined)) return found;
  for (const row of waiting(sim)) {
    const { reclaim, policy, cohort } = given.queues[row.queue]!;
    if (!reclaim || cohort === null || policy === 'fcfs' || !isWithinOwn(sim, given, row)) continue;
    // A start that is near is worth nobody's promise.
    const promised = sim.reservations.find(({ uid }) => uid === row.uid)?.allocation.start ?? Infinity;
    if (promised <= sim.now + TERMINATION_SECONDS) continue;
    const planned = plannedToBorrow(sim, given, row);
    if (planned.length === 0 || hasQuotaNow(sim, given, row)) continue;
    if (await couldStart(sim, given, row, planned))
      found.push(`at ${sim.now}: own quota of ${row.uid} is kept for ${planned.map(({ uid }) => uid)}`);
  }
  return found;
}

/** Reservations of the other queues of its cohort that begin beyond the own quota of their queue, if nobody has to leave for them. */
function plannedToBorrow(
  sim: Simulation,
  { queues }: Queues,
  { queue }: Pick<WorkloadRow, 'queue'>,
): Reservation[] {
  const plan = [...runningIn(sim), ...plannedIn(sim, sim.reservations)];
  const owed = new Set(sim.evicted.filter(({ gone }) => gone === undefined).map(beneficiaryOf));
  const { cohort } = queues[queue]!;
  return sim.reservations.filter(({ uid, isClaim, allocation: { start } }) => {
    const other = sim.row(uid).queue;
    if (other === queue || queues[other]!.cohort !== cohort || owed.has(uid) || isClaim === true)
      return false;
    const held = plan.filter((one) => one.queue === other && one.start <= start && one.end > start);
    return coresOf(held) > queues[other]!.quota.cores!;
  });
}

/** Whether its queue has own quota for the row beside all that it runs, and has planned for whatever time. */
function isWithinOwn(sim: Simulation, { queues }: Queues, row: WorkloadRow): boolean {
  const others = sim.reservations.filter(({ uid }) => uid !== row.uid);
  const held = [...runningIn(sim), ...plannedIn(sim, others)].filter(({ queue }) => queue === row.queue);
  return coresOf([...held, heldBy(row, { start: 0, end: 0 })]) <= queues[row.queue]!.quota.cores!;
}
