/** What a simulation holds and plans at one moment, counted without the pass. */
import type { WorkloadRow } from '../../../runtime/queue/workload';
import type { Allocation } from '../../../runtime/resources/types';
import { plannedAllocation, withGrace } from '../../../runtime/scheduler/pass/planned-end';
import type { Reservation } from '../../../runtime/scheduler/pass/reservations';
import type { Simulation } from '../pass/simulation';
import type { Scenario, Settings } from './eviction-traces';

export interface Held {
  readonly queue: string;
  readonly cores: number;
  readonly start: number;
  readonly end: number;
}

/** What runs, with its planned ends. */
export function runningIn(sim: Simulation): Held[] {
  return sim.running().map(({ uid }) => {
    const row = sim.row(uid);
    return heldBy(row, plannedAllocation(row, sim.now));
  });
}

export function heldBy(
  { queue, jobspec, pods }: WorkloadRow,
  { start, end }: Pick<Allocation, 'start' | 'end'>,
): Held {
  const [slot] = jobspec.resources;
  const cores = slot!.with!.find(({ type }) => type === 'core')!.count as number;
  return { queue, cores: cores * pods, start, end };
}

/** Whether the quotas have room for it from its start to its end. */
function hasQuota({ queues }: Pick<Scenario, 'queues'>, plan: readonly Held[], own: Held): boolean {
  const starts = plan.map(({ start }) => start).filter((at) => at > own.start && at < own.end);
  return [own.start, ...starts].every((at) => hasQuotaAt(queues, plan, own, at));
}

function hasQuotaAt(queues: Scenario['queues'], plan: readonly Held[], own: Held, at: number): boolean {
  const used = (name: string) =>
    coresOf(plan.filter(({ queue, start, end }) => queue === name && start <= at && end > at));
  const mine = queues[own.queue]!;
  const limit = mine.quota.cores! + (mine.cohort === null ? 0 : (mine.borrowing.cores ?? Infinity));
  if (used(own.queue) + own.cores > limit) return false;
  if (mine.cohort === null) return true;
  const members = Object.entries(queues).filter(([, { cohort }]) => cohort === mine.cohort);
  // What the others keep is as good as used.
  const taken = members.map(([name, other]) => Math.max(used(name), name === own.queue ? 0 : keptBy(other)));
  const total = members.reduce((sum, [, { quota }]) => sum + quota.cores!, 0);
  return taken.reduce((sum, amount) => sum + amount, own.cores) <= total;
}

function keptBy({ quota, lending }: Settings): number {
  return Math.max(0, quota.cores! - (lending.cores ?? Infinity));
}

/** Those that wait, as they are planned, in order. */
export function waiting(sim: Simulation): WorkloadRow[] {
  return [...sim.rows.values()]
    .filter(({ phase }) => phase === 'Waiting')
    .map(withGrace)
    .sort((a, b) => b.priority - a.priority || a.submittedAt - b.submittedAt || a.seq - b.seq);
}

/**
 * Whether the row could start now beside all that runs and is reserved for others.
 * @param yielding reservations that do not count. @default - none
 */
export async function couldStart(
  sim: Simulation,
  given: Pick<Scenario, 'queues'>,
  row: WorkloadRow,
  yielding: readonly Reservation[] = [],
): Promise<boolean> {
  const { fluxion, now } = sim;
  if (!hasQuotaNow(sim, given, row, yielding)) return false;
  const lifted = sim.reservations.filter((one) => one.uid === row.uid || yielding.includes(one));
  for (const { jobid } of lifted) await fluxion.cancel(jobid);
  const { jobspec } = row;
  const jobid = 2 ** 51;
  const answer = await fluxion.match({ jobid, jobspec, operation: 'allocate', now });
  if (answer.status === 'OK') await fluxion.cancel(jobid);
  await fluxion.replay(
    lifted.map(({ allocation }) => allocation),
    now,
  );
  return answer.status === 'OK';
}

/** Whether the quotas have room for it from now on beside all that runs and is reserved for others, but for those that yield. */
export function hasQuotaNow(
  sim: Simulation,
  given: Pick<Scenario, 'queues'>,
  row: WorkloadRow,
  yielding: readonly Reservation[] = [],
): boolean {
  const others = sim.reservations.filter((one) => one.uid !== row.uid && !yielding.includes(one));
  const plan = [...runningIn(sim), ...plannedIn(sim, others)];
  const own = heldBy(row, { start: sim.now, end: sim.now + row.walltime });
  return hasQuota(given, plan, own) && !isKept(sim, given, own, before(sim, row));
}

/** Workloads of its queue that wait before it. */
function before(sim: Simulation, row: WorkloadRow): readonly WorkloadRow[] {
  const line = waiting(sim).filter(({ queue }) => queue === row.queue);
  return line.slice(
    0,
    line.findIndex(({ uid }) => uid === row.uid),
  );
}

/**
 * Whether own quota that it would use may be kept for one that has a promise and comes before it. Where a queue of the cohort reclaims, the
 * promise may be one to borrow, so own quota is kept as well, at some time from then on.
 */
function isKept(
  sim: Simulation,
  { queues }: Pick<Scenario, 'queues'>,
  own: Held,
  line: readonly WorkloadRow[],
): boolean {
  const { cohort, quota } = queues[own.queue]!;
  const reclaims = Object.values(queues).some((other) => other.cohort === cohort && other.reclaim);
  if (cohort === null || !reclaims || own.cores > quota.cores!) return false;
  const ofQueue = ({ queue }: Held) => queue === own.queue;
  // Who borrows takes nothing of it.
  if (coresOf([own, ...runningIn(sim).filter(ofQueue)]) > quota.cores!) return false;
  const planned = plannedIn(sim, sim.reservations).filter(ofQueue);
  const firsts = sim.reservations.filter(({ uid }) => line.some((row) => row.uid === uid));
  return plannedIn(sim, firsts).some(({ cores, start }) => {
    if (cores > quota.cores! || own.end <= start) return false;
    const running = runningIn(sim).filter((held) => ofQueue(held) && held.end > start);
    return coresOf([own, ...planned, ...running]) > quota.cores!;
  });
}

export function plannedIn(sim: Simulation, reservations: readonly Reservation[]): Held[] {
  return reservations.map(({ uid, allocation }) => heldBy(sim.row(uid), allocation));
}

export function coresOf(held: readonly Held[]): number {
  return held.reduce((sum, { cores }) => sum + cores, 0);
}
