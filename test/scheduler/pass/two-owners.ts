/** Two owners of one cohort want their quota back, of which a third queue has borrowed all. */
import type { QueuePolicy } from '../../../constructs/api/policies';
import type { Random } from '../../fuzz/random';
import type { JobOptions } from './job-options';
import { nodesOf, Simulation } from './simulation';

/** Seconds, of the borrowers in turn. */
const GRACES = [20, 60];
/** What the owners submit, in order: cores and pods. */
const SIZES = {
  x: [
    [1, 1],
    [1, 1],
    [1, 4],
    [1, 1],
    [1, 1],
    [3, 1],
  ],
  y: [
    [2, 1],
    [1, 3],
    [1, 1],
    [1, 2],
    [1, 1],
  ],
} as const;
const WALLTIMES = { x: 90, y: 75 };

/** Seconds after which a borrower has left. */
export function leavesAfter(guest: string): number {
  return GRACES[Number(guest.replace('guest', '')) % GRACES.length]! - 3;
}

/** The borrowers wait for their first pass. */
export async function twoOwners(policy: QueuePolicy): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(2, 16));
  for (const name of ['x', 'y'])
    sim.queue(name, { policy, cohort: 'lab', quota: { cores: 6 }, reclaim: true });
  sim.queue('guest', { policy, cohort: 'lab', quota: { cores: 0 } });
  for (let i = 0; i < 11; i++) {
    const uid = `guest${i}`;
    const pod = { terminationGracePeriodSeconds: GRACES[i % GRACES.length]! };
    const cpu = i % 3 === 0 ? 2 : 1;
    sim.submit(uid, { queue: 'guest', cpu, walltime: 1_200, pod, leaves: leavesAfter(uid) });
  }
  return sim;
}

export interface Arrival {
  readonly at: number;
  readonly uid: string;
  readonly job: JobOptions;
}

/** From 25 seconds after that time on, the second owner up to eight seconds after the first. */
export function arrivalsAfter(now: number, random: Random): readonly Arrival[] {
  let at = now + 25;
  return Object.entries(SIZES).flatMap(([queue, all]) =>
    all.map(([cpu, pods], i) => {
      at += Math.floor(random.next() * (i === 0 ? 9 : 2));
      const walltime = WALLTIMES[queue as keyof typeof WALLTIMES];
      return { at, uid: `${queue}${i}`, job: { queue, cpu, pods, walltime } };
    }),
  );
}
