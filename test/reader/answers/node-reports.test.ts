/** What nodereports and resourcegraphs say on a simulated cluster, whose two nodes have four cores each, in units of a tenth. */
import type { NodeReport, NodeReportList, ResourceGraph } from '../../../runtime/reader/kinds';
import { SimulatedReader } from './simulated-reader';

describe('reports about nodes', () => {
  let world: SimulatedReader;
  beforeEach(async () => {
    world = new SimulatedReader();
    await world.controller.start();
  });
  afterEach(() => world.close());

  const report = async () => {
    const { items, withoutFluxion } = await world.ask<NodeReportList>('nodereports');
    const nodes: Record<string, NodeReport> = Object.fromEntries(
      items.map((item) => [item.metadata.name!, item]),
    );
    return { withoutFluxion, nodes };
  };

  test('say what is used, reserved, taken by others and free, by the rows and by Fluxion', async () => {
    const { controller } = world;
    controller.unmanagedPod('other', { node: 'node-1', cores: 1, runs: 900 });
    controller.submit('running', { cores: 2 });
    await controller.seconds(5);
    controller.submit('promised', { pods: 2, cores: 3 });
    await controller.seconds(3);
    controller.submit('late', { cores: 1 });
    await controller.seconds(3);
    const { nodes, withoutFluxion } = await report();
    expect(withoutFluxion).toBeUndefined();
    expect(Object.keys(nodes)).toEqual(['node-0', 'node-1']);
    for (const node of Object.values(nodes)) {
      expect(node.fluxion).toMatchObject({ up: true });
      expect(node.drift).toEqual([]);
      expect(node.free.core).toBe(node.units.core! - (node.used.core ?? 0) - (node.unmanaged.core ?? 0));
      expect(node.fluxion!.free.core).toBe(node.free.core);
    }
    expect(nodes['node-1']!.unmanaged.core).toBeGreaterThan(0);
    expect(Object.values(nodes).map(({ reserved }) => reserved.core)).toEqual([30, 30]);
    expect(nodes['node-0']!.used.core! + (nodes['node-1']!.used.core ?? 0)).toBeGreaterThan(0);
  });

  test('say why a node is down', async () => {
    const { controller } = world;
    controller.changeNode('node-0', (node) => ({ ...node, spec: { ...node.spec, unschedulable: true } }));
    controller.changeNode('node-1', (node) => ({
      ...node,
      status: { ...node.status, conditions: [{ type: 'Ready', status: 'Unknown' }] },
    }));
    await controller.seconds(10);
    const { nodes } = await report();
    expect(nodes['node-0']!.down).toBe('the node is cordoned');
    expect(nodes['node-1']!.down).toBe('the node is not ready (Ready is Unknown)');
    expect(nodes['node-0']!.fluxion).toMatchObject({ up: false });
    expect(nodes['node-0']!.drift).toEqual([]);
  });

  test('name what Fluxion holds and the rows do not, and nothing else', async () => {
    const { controller } = world;
    controller.submit('running', { cores: 2 });
    await controller.seconds(5);
    const { jobid, allocation } = controller.row('running')!;
    await controller.fluxion.cancel(jobid);
    const { nodes } = await report();
    const { name } = allocation!.nodes[0]!;
    expect(nodes[name]!.drift).toEqual([
      expect.stringMatching(new RegExp(`^job ${jobid} should hold ${name} .* but holds nothing$`)),
    ]);
    const other = name === 'node-0' ? 'node-1' : 'node-0';
    expect(nodes[other]!.drift).toEqual([]);
    await controller.fluxion.setStatus([other], false);
    await controller.seconds(15);
    expect((await report()).nodes[other]!.drift).toEqual(['the node is up, and down in Fluxion']);
    await controller.fluxion.removeNodes([other]);
    await controller.seconds(15);
    const without = (await report()).nodes[other]!;
    expect(without.drift).toEqual(['Fluxion does not have the node']);
    expect(without.fluxion).toBeUndefined();
  });

  test('find no drift while workloads come and go', async () => {
    const { controller } = world;
    for (let i = 0; i < 40; i++) {
      controller.submit(`j${i}`, { cores: 1 + (i % 4), pods: 1 + (i % 2), runs: 3 + (i % 7) });
      await controller.seconds(2);
      const { nodes } = await report();
      expect(Object.values(nodes).flatMap(({ drift }) => drift)).toEqual([]);
    }
  });

  test('say what Fluxion answered the leader instead', async () => {
    const { controller } = world;
    controller.fluxion.state = () => Promise.reject(new Error('the socket is gone'));
    const { nodes, withoutFluxion } = await report();
    expect(withoutFluxion).toContain('does not schedule with Fluxion at this moment (the socket is gone)');
    expect(Object.keys(nodes)).toEqual(['node-0', 'node-1']);
    const refused = world.ask('resourcegraphs', { name: 'fluxion' });
    await expect(refused).rejects.toMatchObject({ code: 'FLUXQ_LEADER_SILENT', retryable: true });
  });

  test('without a leader come from the rows alone, after at most eight seconds', async () => {
    const { controller } = world;
    controller.submit('running', { cores: 2 });
    await controller.seconds(5);
    await controller.stop();
    const before = controller.now();
    const { nodes, withoutFluxion } = await report();
    expect(controller.now() - before).toBeLessThan(10);
    expect(withoutFluxion).toContain('no leader answered in time');
    expect(Object.values(nodes).map(({ used }) => used.core ?? 0)).toEqual([20, 0]);
    expect(nodes['node-0']!.fluxion).toBeUndefined();
    await expect(world.ask('resourcegraphs', { name: 'fluxion' })).rejects.toMatchObject({ retryable: true });
  });

  test('cost the leader one look in ten seconds however many ask, and none while nobody asks', async () => {
    const { controller } = world;
    const { state } = controller.fluxion;
    let looks = 0;
    await controller.seconds(120);
    controller.fluxion.state = () => {
      looks += 1;
      return state.call(controller.fluxion);
    };
    await controller.seconds(30);
    expect(looks).toBe(0);
    for (let i = 0; i < 20; i++) {
      await controller.clock.until(Promise.all([world.begin('nodereports'), world.begin('plans')]));
      await controller.seconds(1);
    }
    expect(looks).toBeGreaterThanOrEqual(2);
    expect(looks).toBeLessThanOrEqual(3);
  });

  test('a graph has the nodes of Fluxion, and one name', async () => {
    const graph = await world.ask<ResourceGraph>('resourcegraphs', { name: 'fluxion' });
    expect(graph).toMatchObject({
      kind: 'ResourceGraph',
      metadata: { name: 'fluxion' },
      bootId: expect.any(String),
    });
    expect(graph.nodes.map(({ name, up, total }) => [name, up, total.core])).toEqual([
      ['node-0', true, 40],
      ['node-1', true, 40],
    ]);
    await expect(world.ask('resourcegraphs', { name: 'other' })).rejects.toMatchObject({ retryable: false });
  });
});
