/** What a pass costs where many queues wait: counted, because a time depends on the machine. */
import { Occupancy } from '../../../runtime/scheduler/pass/occupancy';
import { Quotas } from '../../../runtime/scheduler/pass/quota';
import { nodesOf, Simulation } from './simulation';

const QUEUES = 40;

test('asks of each waiting workload only a few times whether it borrows, however many queues wait', async () => {
  const sim = await Simulation.of(nodesOf(QUEUES, 4));
  for (let i = 0; i < QUEUES; i++) {
    const queue = `q${i}`;
    sim.queue(queue, { cohort: 'lab', quota: { cores: 4 }, reclaim: true });
    if (i > 0) sim.submit(`runs${i}`, { queue, cpu: 4, walltime: 1000 });
  }
  await sim.pass();
  const waiting = 10 * QUEUES;
  for (let i = 0; i < waiting; i++) sim.submit(`waits${i}`, { queue: `q${1 + (i % (QUEUES - 1))}`, cpu: 4 });
  // All of these let one go first that comes last.
  sim.submit('own', { queue: 'q0', cpu: 4, priority: -1 });
  const borrows = jest.spyOn(Quotas.prototype, 'borrows');
  await sim.pass();
  expect(sim.startOf('own')).toBe(sim.now);
  expect(borrows.mock.calls.length).toBeLessThan(6 * waiting);
  borrows.mockRestore();
});

test('after an end plans only the first few of many reservations again that would start earlier, but not now', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  for (let i = 0; i < 4; i++) sim.submit(`runs${i}`, { cpu: 4, walltime: 1000 + 100 * i });
  await sim.pass();
  for (let i = 0; i < QUEUES; i++) {
    sim.queue(`q${i}`, { policy: 'fcfs' });
    sim.submit(`waits${i}`, { queue: `q${i}`, cpu: 4, walltime: 1000 });
  }
  await sim.pass();
  expect(sim.reservations).toHaveLength(QUEUES);
  await sim.finish('runs0');
  const { matches } = await sim.pass();
  expect(sim.running().map(({ uid }) => uid)).toContain('waits0');
  expect(matches).toBeLessThan(QUEUES);
});

test('after a reservation has moved asks only those again that were reached before it', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  for (let i = 0; i < 4; i++) sim.submit(`runs${i}`, { cpu: 4, walltime: 1000 + 100 * i });
  await sim.pass();
  sim.submit('head', { cpu: 4, walltime: 1000 });
  const waiting = 200;
  for (let i = 0; i < waiting; i++) sim.submit(`waits${i}`, { cpu: 4, walltime: 1000 + i });
  await sim.pass();
  await sim.finish('runs0');
  const shortageOf = jest.spyOn(Quotas.prototype, 'shortageOf');
  await sim.pass();
  expect(sim.running().map(({ uid }) => uid)).toContain('head');
  expect(shortageOf.mock.calls.length).toBeLessThan(1.5 * waiting);
  shortageOf.mockRestore();
});

/** Each queue owns a node, the first runs small workloads everywhere, and all others wait for their own quota. */
async function waitingOwners(): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(QUEUES, 4));
  for (let i = 0; i < QUEUES; i++) sim.queue(`q${i}`, { cohort: 'lab', quota: { cores: 4 }, reclaim: true });
  for (let i = 0; i < QUEUES; i++)
    for (const cpu of [2, 2])
      sim.submit(`runs${i}-${sim.rows.size}`, { queue: 'q0', cpu, walltime: 1000 + i });
  await sim.pass();
  for (let i = 1; i < QUEUES; i++)
    for (let k = 0; k < 5; k++) sim.submit(`waits${i}-${k}`, { queue: `q${i}`, cpu: 4, walltime: 900 });
  return sim;
}

test('counts the room of a node for a start only when something has ended there, however many owners plan', async () => {
  const sim = await waitingOwners();
  const room = jest.spyOn(Occupancy.prototype, 'room');
  await sim.pass();
  const plans = sim.reservations.length;
  expect(plans).toBeGreaterThanOrEqual(QUEUES - 1);
  // To look at all nodes for every start took 4,680.
  expect(room.mock.calls.length).toBeLessThan(20 * plans);
  room.mockRestore();
});
