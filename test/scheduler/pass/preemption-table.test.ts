import { IN_A_COHORT, LENT_QUOTA, WHILE_BORROWING } from './cohort-cases';
import { BY_FAIR_SHARE } from './fair-sharing-cases';
import { type PreemptionCase, WITHIN_A_QUEUE } from './preemption-cases';
import { PREEMPTS } from './settings';
import { nodesOf, Simulation } from './simulation';

/** Kueue has no minimum run time. */
const { preemption } = PREEMPTS;

/** All that run are there before the last one comes, each a second after the one before it. */
async function situation({ queues, running, nodes }: PreemptionCase): Promise<Simulation> {
  const sim = await Simulation.of(nodes ?? [{ ...nodesOf(1, 100)[0]!, units: { core: 100, memory: 100 } }]);
  for (const [name, settings] of Object.entries(queues)) sim.queue(name, { preemption, ...settings });
  for (const [uid, options] of Object.entries(running)) {
    sim.submit(uid, options);
    await sim.pass();
    sim.now += 1;
  }
  expect(sim.running()).toHaveLength(Object.keys(running).length);
  return sim;
}

const TABLES = { WITHIN_A_QUEUE, IN_A_COHORT, WHILE_BORROWING, LENT_QUOTA, BY_FAIR_SHARE };

describe.each(Object.entries(TABLES))('%s', (_, table) => {
  test.each(Object.entries(table))('%s', async (_name, one) => {
    const sim = await situation(one);
    sim.submit('incoming', one.incoming);
    const { evictions } = await sim.pass();
    expect(evictions.map(({ uid }) => uid).sort()).toEqual(one.evicted);
    if (evictions.length === 0) return;
    for (const { uid } of evictions) await sim.requeue(uid);
    await sim.pass();
    expect(sim.startOf('incoming')).toBe(sim.now);
  });
});
