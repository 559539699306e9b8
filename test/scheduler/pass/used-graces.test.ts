/** Short workloads whose pods use their grace period, in front of the reservation of an earlier workload. */
import { nodesOf, reserved, Simulation } from './simulation';

/** Seconds of Kubernetes' own grace period. */
const GRACE = 30;

/** Ends what has reached its walltime, or its grace period of a workload that uses it. */
async function end(sim: Simulation): Promise<void> {
  for (const { uid, allocation, phase } of sim.rows.values()) {
    const grace = uid.startsWith('slow') ? GRACE : 0;
    if (phase === 'Running' && allocation!.end + grace <= sim.now) await sim.finish(uid);
  }
}

test.each(['easy'] as const)(
  '%s: a stream of short workloads that use their grace period delays a promise once',
  async (policy) => {
    const sim = await Simulation.of(nodesOf(4, 2), { policy });
    sim.submit('first', { cpu: 2, walltime: 60 });
    await sim.pass();
    sim.submit('big', { pods: 4, cpu: 2, walltime: 600 });
    expect(reserved(await sim.pass())).toEqual(['big']);
    for (; sim.row('big').phase !== 'Running' && sim.now < 1_400; sim.now += 1) {
      await end(sim);
      sim.submit(`slow-${sim.now}`, { cpu: 2, walltime: 1, user: 'mallory' });
      await sim.pass();
    }
    // The last one that passed it was granted a second before the promise.
    expect(sim.row('big').allocation!.start).toBeLessThanOrEqual(1_060 + GRACE + 1);
    expect(sim.doubleGrants()).toEqual([]);
  },
);
