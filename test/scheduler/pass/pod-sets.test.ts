/** Gangs of several pod sets: all pods at one start on nodes that fit together, or none. */
import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import type { AllocatedNode } from '../../../runtime/resources/types';
import fc from '../../fast-check';
import type { JobOptions, SetOptions } from './job-options';
import { apart, HOST, zones } from './rules';
import { granted, nodesOf, reserved, Simulation } from './simulation';

const set = (name: string, pods: number, cpu: number, over: Partial<SetOptions> = {}): SetOptions => ({
  name,
  pods,
  cpu,
  ...over,
});
const driverAndWorkers = (workers: number, cpu: number) => [set('driver', 1, 1), set('worker', workers, cpu)];
const placedOn = (nodes: readonly AllocatedNode[]) =>
  Object.fromEntries(nodes.map(({ name, podSets }) => [name, podSets]));

async function place(sim: Simulation, options: JobOptions) {
  sim.submit('gang', options);
  await sim.pass();
  const { allocation, reason, message } = sim.row('gang');
  return allocation === null ? `${reason}: ${message}` : placedOn(allocation.nodes);
}

describe('a gang of a driver and workers', () => {
  test('gets units for every pod, and each node says for how many of which', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    expect(await place(sim, { sets: driverAndWorkers(2, 3) })).toEqual({
      n0: { driver: 1, worker: 1 },
      n1: { worker: 1 },
    });
    const [first, second] = sim.row('gang').allocation!.nodes;
    expect([first!.units, second!.units]).toEqual([{ core: '0-3' }, { core: '0-2' }]);
  });

  test('gets nothing if one of its pods has no room, and waits for all of them', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.submit('other', { cpu: 2, walltime: 50 });
    await sim.pass();
    sim.submit('gang', { sets: driverAndWorkers(2, 3) });
    const result = await sim.pass();
    expect([granted(result), reserved(result)]).toEqual([[], ['gang']]);
    expect(sim.row('gang').estimatedStart).toBe(1_050);
    expect((await sim.fluxion.state()).nodes.map(({ free }) => free.core)).toEqual([2, 4]);
    await sim.run();
    expect(sim.startOf('gang')).toBe(1_050);
    expect(sim.doubleGrants()).toEqual([]);
  });

  test('is unsatisfiable with the numbers of the pod set that never fits', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    expect(await place(sim, { sets: driverAndWorkers(3, 3) })).toBe(
      'Unsatisfiable: pod set worker asks for 3 nodes with 3 cores, the cluster has 2',
    );
  });

  test('that fits alone in each pod set but not together is unsatisfiable too', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    expect(await place(sim, { sets: [set('driver', 2, 2), set('worker', 2, 3)] })).toBe(
      'Unsatisfiable: needs at once driver: 2 pods with 2 cores each; worker: 2 pods with 3 cores each; the cluster has room for 3',
    );
  });

  test('places the large pods first where the small ones would take their nodes', async () => {
    const sim = await Simulation.of([
      { name: 'large', units: { core: 8 } },
      { name: 'small', units: { core: 2 } },
    ]);
    expect(await place(sim, { sets: [set('driver', 2, 1), set('worker', 1, 8)] })).toEqual({
      large: { worker: 1 },
      small: { driver: 2 },
    });
  });

  test('places each pod set on nodes that its own selector allows', async () => {
    const sim = await Simulation.of(zones({ a: 1, b: 1 }));
    const sets = [
      set('driver', 1, 1, { pod: { nodeSelector: { zone: 'b' } } }),
      set('worker', 1, 1, { pod: { nodeSelector: { zone: 'a' } } }),
    ];
    expect(await place(sim, { sets })).toEqual({ a0: { worker: 1 }, b0: { driver: 1 } });
  });

  test('keeps pods apart from those of its other pod sets, and from those of running gangs', async () => {
    const sim = await Simulation.of(zones({ a: 3 }));
    const labels = { app: 'web' };
    const sets = [set('driver', 1, 1, { labels, pod: apart(HOST) }), set('worker', 1, 1, { labels })];
    const nodes = Object.entries((await place(sim, { sets })) as Record<string, object>);
    expect(nodes.map(([, pods]) => pods)).toEqual([{ driver: 1 }, { worker: 1 }]);
    sim.submit('next', { sets: [set('driver', 1, 1, { labels, pod: apart(HOST) }), set('other', 1, 1)] });
    await sim.pass();
    expect(sim.row('next').allocation!.nodes.find(({ podSets }) => podSets?.driver)?.name).toBe('a2');
  });

  test('follows pods of another of its pod sets to their group of nodes', async () => {
    const sim = await Simulation.of(zones({ a: 2, b: 1 }, 2));
    const near = {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'zone', labelSelector: { matchLabels: { role: 'driver' } } },
          ],
        },
      },
    };
    const sets = [
      set('worker', 1, 2, { pod: near, labels: { role: 'worker' } }),
      set('driver', 1, 2, { labels: { role: 'driver' } }),
    ];
    const placed = (await place(sim, { sets })) as Record<string, Record<string, number>>;
    expect(Object.keys(placed).map((name) => name[0])).toEqual(['a', 'a']);
  });

  test('has whole nodes for each pod if it asks for them', async () => {
    const sim = await Simulation.of(nodesOf(3, 4));
    expect(await place(sim, { sets: driverAndWorkers(2, 1), exclusive: true })).toEqual({
      n0: { driver: 1 },
      n1: { worker: 1 },
      n2: { worker: 1 },
    });
  });

  test('counts once in the quota of its queue, with all its pods and cores', async () => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('default', { quota: { jobs: 5, pods: 6, cores: 14 } });
    sim.submit('first', { sets: driverAndWorkers(2, 3) });
    sim.submit('second', { sets: driverAndWorkers(2, 3) });
    sim.submit('third', { cpu: 1 });
    const result = await sim.pass();
    expect(granted(result)).toEqual(['first', 'second']);
    expect(sim.row('third')).toMatchObject({ reason: 'QuotaExceeded' });
  });

  test('evicts lower priority only if all its pods start then', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.queue('default', { preempts: true, preemption: { minRuntimeSeconds: 0, limit: 1 } });
    sim.submit('low', { pods: 2, cpu: 3, preemptible: true, leaves: 1, walltime: 10_000 });
    await sim.pass();
    sim.now += 100;
    sim.submit('wide', { sets: driverAndWorkers(3, 3), priority: 5 });
    await sim.pass();
    expect(sim.evicted).toEqual([]);
    sim.submit('gang', { sets: driverAndWorkers(1, 3), priority: 5 });
    await sim.pass();
    expect(sim.evicted.map(({ uid }) => uid)).toEqual(['low']);
  });
});

describe('a pass', () => {
  test('asks once for gangs that ask for the same', async () => {
    const sim = await Simulation.of(nodesOf(2, 4), { policy: 'easy' });
    sim.submit('other', { cpu: 4, walltime: 50 });
    await sim.pass();
    for (const uid of ['first', 'second', 'third']) sim.submit(uid, { sets: driverAndWorkers(2, 3) });
    // The first one is reserved, which refuses for the others.
    expect((await sim.pass()).matches).toBe(1);
    expect(sim.row('third')).toMatchObject({ reason: 'Busy' });
  });

  test('asks again for a gang that differs from a refused one in one pod set only', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.submit('other', { cpu: 2, walltime: 500 });
    sim.submit('first', { sets: driverAndWorkers(2, 3) });
    sim.submit('second', { sets: driverAndWorkers(2, 3) });
    sim.submit('smaller', { sets: driverAndWorkers(1, 3) });
    expect(granted(await sim.pass())).toEqual(['other', 'smaller']);
  });

  test('plans no gang behind a service that has no end', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.submit('service', { kind: 'Pod', cpu: 2, walltime: ENDLESS_SECONDS });
    await sim.pass();
    const result = await place(sim, { sets: driverAndWorkers(2, 3) });
    expect([result, sim.reservations]).toEqual([
      'Busy: needs at once driver: 1 pod with 1 core; worker: 2 pods with 3 cores each; it can start only when services leave their nodes (science/service)',
      [],
    ]);
  });

  test('says which nodes that are down a gang needs', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.submit('gang', { sets: driverAndWorkers(2, 3) });
    await sim.fluxion.setStatus(['n1'], false);
    await sim.pass({ nodes: nodesOf(2, 4).map((node) => ({ ...node, up: node.name !== 'n1' })) });
    expect(sim.row('gang')).toMatchObject({
      reason: 'Busy',
      message:
        'needs at once driver: 1 pod with 1 core; worker: 2 pods with 3 cores each; that needs nodes that are down or cordoned (n1)',
    });
  });

  test('keeps GPU nodes free for others only if no pod set needs GPUs', async () => {
    const gpus = (gpu: number) => ({ core: 4, ...(gpu > 0 && { gpu }) });
    const resource = 'resource:nvidia.com/gpu';
    const nodes = [
      { name: 'gpu', units: gpus(1), properties: [resource] },
      { name: 'plain', units: gpus(0) },
    ];
    const sim = await Simulation.of(nodes);
    expect(await place(sim, { sets: driverAndWorkers(1, 1) })).toEqual({ plain: { driver: 1, worker: 1 } });
  });
});

const pods = fc.integer({ min: 1, max: 4 });
const cpu = fc.integer({ min: 1, max: 4 });
const walltime = fc.integer({ min: 1, max: 60 });
const at = fc.integer({ min: 0, max: 80 });
const gang = fc.record({
  sets: fc.array(fc.record({ pods, cpu }), { minLength: 1, maxLength: 4 }),
  walltime,
  at,
  exclusive: fc.boolean(),
  queue: fc.constantFrom('default', 'other'),
});

test('two gangs that cannot run together never hold parts of each other, whatever comes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(gang, { minLength: 2, maxLength: 8 }), async (gangs) => {
      const sim = await Simulation.of(nodesOf(3, 4));
      const arrivals = gangs.map(({ at: after, sets, ...options }, i) => ({
        at: 1_000 + after,
        submit: () =>
          void sim.submit(`gang-${i}`, {
            ...options,
            sets: sets.map((one, k) => ({ name: `set-${k}`, ...one })),
          }),
      }));
      await sim.run(arrivals, async () => {
        for (const { allocation, jobspec, pods: all, uid } of sim.rows.values()) {
          if (allocation === null) continue;
          const counts = allocation.nodes.map(({ podSets }) => podSets);
          const isOfSets = jobspec.attributes.user?.podSets !== undefined;
          const wanted = gangs[Number(uid.slice(5))]!.sets;
          const held = wanted.map((_, k) => counts.reduce((sum, each) => sum + (each?.[`set-${k}`] ?? 0), 0));
          if (isOfSets) expect(held).toEqual(wanted.map((one) => one.pods));
          expect(wanted.reduce((sum, one) => sum + one.pods, 0)).toBe(all);
        }
      });
      expect(sim.doubleGrants()).toEqual([]);
      // What never fits the empty nodes says so; everything else has run to its end.
      const stuck = [...sim.rows.values()].filter(
        ({ phase, reason }) => phase !== 'Finished' && reason !== 'Unsatisfiable',
      );
      expect(stuck.map(({ uid, reason }) => [uid, reason])).toEqual([]);
    }),
  );
});

test('units of a gang are exactly those of its pods, on nodes of which no unit is granted twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(gang, { minLength: 1, maxLength: 6 }), async (gangs) => {
      const sim = await Simulation.of(nodesOf(4, 6));
      gangs.forEach(({ sets, walltime: seconds }, i) => {
        const named = sets.map((one, k) => ({ name: `set-${k}`, ...one }));
        sim.submit(`gang-${i}`, { sets: named, walltime: seconds });
      });
      await sim.pass();
      for (const { allocation, uid } of sim.rows.values())
        for (const { podSets, units } of allocation?.nodes ?? []) {
          if (podSets === undefined) continue;
          const { sets } = gangs[Number(uid.slice(5))]!;
          const cores = sets.reduce((sum, one, k) => sum + one.cpu * (podSets[`set-${k}`] ?? 0), 0);
          expect(coresIn(units.core!)).toBe(cores);
        }
      expect(sim.doubleGrants()).toEqual([]);
    }),
  );
});

function coresIn(idset: string): number {
  return idset.split(',').reduce((sum, range) => {
    const [from = '0', to = from] = range.split('-');
    return sum + Number(to) - Number(from) + 1;
  }, 0);
}
