/** What kube-scheduler checks on a node: one row per way in which a plan could be wrong. */
import { apart, type Case, HOST, labels, nodes, other, place, port, two, web, ZONE, zones } from './rules';
import { granted, reserved, Simulation } from './simulation';

describe('anti-affinity and host ports', () => {
  test.each<[string, Case, Record<string, number> | string]>([
    ['without rules pods share a node', { nodes, job: two }, { a0: 2 }],
    [
      'pods that avoid each other get a node each',
      { nodes, job: { ...two, pod: apart() } },
      { a0: 1, a1: 1 },
    ],
    ['three of them do not fit two nodes', { nodes, job: { pods: 3, pod: apart() } }, 'Unsatisfiable'],
    [
      'a rule about other pods only does not divide the gang',
      { nodes, job: { ...two, pod: apart(), labels: {} } },
      { a0: 2 },
    ],
    [
      'a pod avoids the node of a matching pod',
      { nodes, job: { pod: apart(), labels: {} }, others: [other('a0')] },
      { a1: 1 },
    ],
    [
      'not one of another namespace',
      { nodes, job: { pod: apart() }, others: [other('a0', { namespace: 'x' })] },
      { a0: 1 },
    ],
    [
      'but if the term names that namespace',
      { nodes, job: { pod: apart(HOST, { namespaces: ['x'] }) }, others: [other('a0', { namespace: 'x' })] },
      { a1: 1 },
    ],
    [
      'or all namespaces',
      {
        nodes,
        job: { pod: apart(HOST, { namespaceSelector: {} }) },
        others: [other('a0', { namespace: 'x' })],
      },
      { a1: 1 },
    ],
    [
      'a term without selector is about no pod',
      {
        nodes,
        job: {
          pod: {
            affinity: {
              podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST }] },
            },
          },
        },
        others: [other('a0')],
      },
      { a0: 1 },
    ],
    [
      'matching pods everywhere: it waits',
      { nodes, job: { pod: apart() }, others: [other('a0'), other('a1')] },
      'Busy',
    ],
    ['a zone per pod', { nodes: zones({ a: 2, b: 2 }), job: { ...two, pod: apart(ZONE) } }, { a0: 1, b0: 1 }],
    [
      'nodes without the label close nothing',
      { nodes: [{ name: 'x', units: { core: 4 } }], job: { ...two, pod: apart(ZONE) } },
      { x: 2 },
    ],
    [
      'pods that are there refuse others',
      {
        nodes,
        job: {},
        others: [
          other('a0', {
            labels: {},
            rules: { apart: [{ topologyKey: HOST, namespaces: ['science'], selector: web, self: false }] },
          }),
        ],
      },
      { a1: 1 },
    ],
    [
      'and not those that they do not mean',
      {
        nodes,
        job: { labels: {} },
        others: [
          other('a0', {
            labels: {},
            rules: { apart: [{ topologyKey: HOST, namespaces: ['science'], selector: web, self: false }] },
          }),
        ],
      },
      { a0: 1 },
    ],
    ['a host port is taken once per node', { nodes, job: { ...two, pod: port(80) } }, { a0: 1, a1: 1 }],
    ['three of them do not fit either', { nodes, job: { pods: 3, pod: port(80) } }, 'Unsatisfiable'],
    [
      'a port that others hold',
      {
        nodes,
        job: { pod: port(80) },
        others: [other('a0', { labels: {}, rules: { hostPorts: ['TCP/0.0.0.0/80'] } })],
      },
      { a1: 1 },
    ],
    [
      'another port',
      { nodes, job: { pod: port(81) }, others: [other('a0', { rules: { hostPorts: ['TCP/0.0.0.0/80'] } })] },
      { a0: 1 },
    ],
    [
      'another protocol',
      {
        nodes,
        job: { pod: port(80, { protocol: 'UDP' }) },
        others: [other('a0', { rules: { hostPorts: ['TCP/0.0.0.0/80'] } })],
      },
      { a0: 1 },
    ],
    [
      'another address',
      {
        nodes,
        job: { pod: port(80, { hostIP: '10.0.0.1' }) },
        others: [other('a0', { rules: { hostPorts: ['TCP/10.0.0.2/80'] } })],
      },
      { a0: 1 },
    ],
    [
      'an address and all addresses',
      {
        nodes,
        job: { pod: port(80, { hostIP: '10.0.0.1' }) },
        others: [other('a0', { rules: { hostPorts: ['TCP/0.0.0.0/80'] } })],
      },
      { a1: 1 },
    ],
    [
      'whole nodes',
      { nodes: zones({ a: 3 }), job: { ...two, exclusive: true, pod: apart() }, others: [other('a0')] },
      { a1: 1, a2: 1 },
    ],
    [
      'constraints hold as well',
      { nodes: zones({ a: 2, b: 1 }), job: { pod: { ...apart(), nodeSelector: { zone: 'b' } } } },
      { b0: 1 },
    ],
  ])('%s', async (_, given, expected) => {
    expect(await place(given)).toEqual(expected);
  });

  test('replicas that are queued one by one avoid each other, granted in one pass or in several', async () => {
    const sim = await Simulation.of(zones({ a: 3 }));
    const replica = { kind: 'Pod', labels, pod: apart() } as const;
    for (const uid of ['r0', 'r1']) sim.submit(uid, replica);
    expect(granted(await sim.pass())).toEqual(['r0', 'r1']);
    for (const uid of ['r2', 'r3']) sim.submit(uid, replica);
    expect(granted(await sim.pass())).toEqual(['r2']);
    const nodesOf = ['r0', 'r1', 'r2'].map((uid) => sim.row(uid).allocation!.nodes[0]!.name);
    expect(new Set(nodesOf).size).toBe(3);
    expect(sim.row('r3')).toMatchObject({ reason: 'Reserved', estimatedStart: 1100 });
    sim.submit('r4', replica);
    await sim.pass();
    expect(sim.row('r4').message).toBe(
      `needs 1 pod with 1 core, one pod per ${HOST} (podAntiAffinity); not free now for its walltime`,
    );
  });

  test('a workload that others refuse does not keep an equal one from starting', async () => {
    const sim = await Simulation.of(zones({ a: 1 }));
    const rules = { apart: [{ topologyKey: HOST, namespaces: ['science'], selector: web, self: false }] };
    sim.others.push(other('a0', { labels: {}, rules }));
    sim.submit('refused', { labels });
    sim.submit('welcome');
    expect(granted(await sim.pass())).toEqual(['welcome']);
    expect(sim.row('refused').reason).toBe('Busy');
  });

  test('waits for a pod that leaves although no unit becomes free', async () => {
    const sim = await Simulation.of(zones({ a: 1 }));
    sim.others.push(other('a0'));
    sim.submit('job', { labels, pod: apart() });
    expect(granted(await sim.pass())).toEqual([]);
    sim.others.pop();
    expect(granted(await sim.pass({ freed: false }))).toEqual(['job']);
  });

  test('reserves the first start at which the other pods have ended', async () => {
    const sim = await Simulation.of(zones({ a: 2 }, 2));
    sim.submit('first', { pods: 2, labels, pod: apart(), walltime: 100 });
    await sim.pass();
    sim.submit('second', { pods: 2, cpu: 2, labels, pod: apart(), walltime: 50 });
    const result = await sim.pass();
    expect(reserved(result)).toEqual(['second']);
    expect(sim.row('second')).toMatchObject({ reason: 'Reserved', estimatedStart: 1100 });
    sim.submit('long', { pods: 2, walltime: 101 });
    sim.submit('fits', { pods: 2, walltime: 100 });
    expect(granted(await sim.pass())).toEqual(['fits']);
    await sim.run();
    expect(sim.startOf('second')).toBe(1100);
    expect(sim.doubleGrants()).toEqual([]);
  });

  test('says what cannot fit, and how many would', async () => {
    const sim = await Simulation.of(zones({ a: 2 }));
    sim.submit('job', { pods: 3, labels, pod: apart() });
    await sim.pass();
    expect(sim.row('job')).toMatchObject({
      reason: 'Unsatisfiable',
      message: `needs 3 pods with 1 core each, one pod per ${HOST} (podAntiAffinity); the cluster has room for 2`,
    });
  });
});
