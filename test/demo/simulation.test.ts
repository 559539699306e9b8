import { CORES, graphOf, Simulation } from '../../examples/demo/simulation';
import { type Snapshot, Snapshots } from '../../examples/demo/snapshot';
import { demoWorkloads, inSubmissionOrder } from '../../examples/demo/workloads';
import { parseIdset } from '../../runtime/resources/idset';
import { T } from './rows';

/** The demo of `npm start` in its size, with a snapshot at each event. */
async function demo(nodes = 20, jobs = 80) {
  const manifests = inSubmissionOrder(demoWorkloads('demo', { nodes, coresPerNode: CORES }, jobs));
  const simulation = new Simulation({ nodes, manifests, start: T });
  const snapshots = new Snapshots(graphOf(nodes).map(({ name }) => ({ name, cores: CORES })));
  const seen: Snapshot[] = [];
  const rows = await simulation.run(async () => {
    seen.push(snapshots.of(simulation.rows, simulation.now));
    return false;
  });
  return { rows, seen };
}

function* unitsOf({ jobs }: Snapshot): Iterable<string> {
  for (const { nodes } of jobs)
    for (const { name, units } of nodes) for (const id of parseIdset(units.core ?? '')) yield `${name}/${id}`;
}

test('no picture has a position, a core or a letter twice', async () => {
  const { seen } = await demo();
  expect(seen.length).toBeGreaterThan(100);
  for (const snapshot of seen) {
    const positions = snapshot.jobs.flatMap(({ position }) => position ?? []);
    expect(positions).toEqual(positions.map((_, i) => i + 1));
    const letters = snapshot.jobs.flatMap(({ letter }) => letter ?? []);
    expect(new Set(letters).size).toBe(letters.length);
    const units = [...unitsOf(snapshot)];
    expect(new Set(units).size).toBe(units.length);
  }
});

test('the impossible job never says that it could start', async () => {
  const { seen } = await demo();
  const said = new Set(
    seen.flatMap(({ jobs }) => jobs.flatMap(({ name, why }) => (name === 'impossible' ? [why] : []))),
  );
  expect([...said]).toEqual([
    'asks for 1 node with 999 cores and 1 GiB of memory, the cluster has none; the largest has 16 cores',
  ]);
});

test('the wide job gets a promise that is kept, and others are backfilled behind it', async () => {
  const { rows, seen } = await demo();
  const wide = rows.find(({ name }) => name === 'wide')!;
  const promise = seen
    .flatMap(({ jobs }) => jobs)
    .find(({ name, start }) => name === 'wide' && start !== undefined)!;
  expect(promise.start!.kind).toBe('promised');
  expect(wide.allocatedAt).toBeLessThanOrEqual(promise.start!.at);
  const backfilled = rows.filter(
    ({ seq, allocatedAt }) => seq > wide.seq && (allocatedAt ?? Infinity) < wide.allocatedAt!,
  );
  expect(backfilled.length).toBeGreaterThan(5);
});

test('ends between two events when it is told to', async () => {
  const manifests = inSubmissionOrder(demoWorkloads('demo', { nodes: 2, coresPerNode: CORES }, 5));
  const simulation = new Simulation({ nodes: 2, manifests, start: T });
  const times: number[] = [];
  const rows = await simulation.run(async (time) => times.push(time) === 3);
  expect(times).toHaveLength(3);
  expect(rows.map(({ phase }) => phase)).not.toContain('Finished');
});

test('what waits while cores are free says that they are not free for as long as it may run', async () => {
  const { seen } = await demo();
  // The first picture is older than the first pass.
  const reasons = seen
    .slice(1)
    .filter((snapshot) => new Set(unitsOf(snapshot)).size < 20 * CORES)
    .flatMap(({ jobs }) => jobs.filter(({ phase, start }) => phase === 'Waiting' && start === undefined))
    .flatMap(({ name, why }) => (name.startsWith('small') ? [why] : []));
  expect(reasons.length).toBeGreaterThan(0);
  for (const why of reasons) expect(why).toMatch(/; not free now for its walltime$/);
});
