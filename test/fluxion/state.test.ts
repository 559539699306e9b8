import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { EmbeddedEngine, embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { startFluxionServer } from '../../runtime/fluxion/server/server';
import type { GraphNode } from '../../runtime/resources/types';

const NODES: GraphNode[] = [
  {
    name: 'a',
    units: { core: 4, gpu: 1 },
    properties: ['disk=ssd', 'taint:x=y:NoSchedule'],
    zone: 'z1',
    rack: 'r1',
  },
  { name: 'b', units: { core: 2 }, up: false },
];

test('state returns the graph as it was initialised, also through gRPC', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fluxion-state-'));
  const log = { info() {}, warn() {}, error() {} };
  const address = `unix:${join(folder, 's.sock')}`;
  const server = await startFluxionServer({ address, engine: new EmbeddedEngine(), log });
  const remote = connectFluxion({ address });
  try {
    for (const fluxion of [embeddedFluxion(), remote]) {
      await fluxion.init({ nodes: NODES, policy: 'lonode', now: 0 });
      const { nodes, jobs } = await fluxion.state();
      expect(jobs).toEqual([]);
      expect(nodes).toEqual([
        {
          name: 'a',
          up: true,
          total: { core: 4, gpu: 1 },
          free: { core: 4, gpu: 1 },
          properties: ['disk=ssd', 'taint:x=y:NoSchedule'],
          zone: 'z1',
          rack: 'r1',
        },
        { name: 'b', up: false, total: { core: 2 }, free: { core: 2 }, properties: [] },
      ]);
    }
  } finally {
    await remote.close();
    await server.stop();
    await rm(folder, { recursive: true });
  }
});
