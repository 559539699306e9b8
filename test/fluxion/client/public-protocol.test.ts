import { connectFluxion } from '../../../runtime/fluxion/client/client';
import { conformance } from '../conformance';
import { cores } from '../jobspecs';
import { type PublicServer, startPublicServer } from '../public-server';
import { START, TWO_NODES } from '../scenarios/scenario';

describe('a public server with three RPCs', () => {
  conformance(
    async () => {
      const server = await startPublicServer();
      const fluxion = connectFluxion({ address: server.address });
      const stop = async () => {
        await fluxion.close();
        await server.stop();
      };
      return { fluxion, stop };
    },
    { level: 'public' },
  );
});

describe('requests to the public server', () => {
  let server: PublicServer;
  afterEach(() => server.stop());

  test('sets the graph format through the policy for a server that reads GraphML, with a warning', async () => {
    server = await startPublicServer({ readsGraphml: true });
    const warnings: string[] = [];
    const log = { info() {}, warn: (_: object, message: string) => warnings.push(message), error() {} };
    const fluxion = connectFluxion({ address: server.address, log });
    await fluxion.init({ nodes: TWO_NODES, policy: 'low', now: START });
    const result = await fluxion.match({ jobid: 1, jobspec: cores(1), operation: 'allocate', now: START });
    expect(result).toMatchObject({ status: 'OK', allocation: { jobid: 1, start: START, end: START + 100 } });
    expect(warnings).toEqual([expect.stringContaining('degraded'), expect.stringContaining('graph format')]);
    await fluxion.close();
  });

  test('adds the seconds since init to the duration and excludes nodes that are down', async () => {
    server = await startPublicServer();
    const fluxion = connectFluxion({ address: server.address });
    await fluxion.init({ nodes: TWO_NODES, policy: 'lonode', now: START });
    await fluxion.setStatus(['a'], false);
    await fluxion.match({ jobid: 900, jobspec: cores(1), operation: 'allocate', now: START + 30 });
    await fluxion.cancel(900);
    const [, match, cancel] = server.requests as [unknown, { jobspec: string }, { jobID: number }];
    expect(JSON.parse(match.jobspec).attributes.system).toEqual({
      duration: 130,
      constraints: { not: [{ hostlist: ['a'] }] },
    });
    expect(cancel.jobID).toBe(1);
    await fluxion.close();
  });

  test('matches the part of each node again on that node in a replay', async () => {
    server = await startPublicServer();
    const fluxion = connectFluxion({ address: server.address });
    await fluxion.init({ nodes: TWO_NODES, policy: 'lonode', now: START });
    const parts = [
      { name: 'b', units: { core: '1-3' } },
      { name: 'a', units: { core: '0-3' } },
    ];
    await fluxion.replay([{ jobid: 5, start: START - 10, end: START + 50, nodes: parts }], START);
    expect((await fluxion.state()).nodes.map(({ free }) => free)).toEqual([{ core: 0 }, { core: 1 }]);
    const full = await fluxion.match({ jobid: 6, jobspec: cores(2), operation: 'allocate', now: START });
    expect(full).toMatchObject({ status: 'BUSY' });
    await expect(
      fluxion.replay([{ jobid: 7, start: START, end: START + 5, nodes: parts }], START),
    ).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_REPLAY', value: 7 });
    await fluxion.cancel(5);
    const freed = await fluxion.match({ jobid: 8, jobspec: cores(4), operation: 'allocate', now: START });
    expect(freed).toMatchObject({ status: 'OK' });
    await fluxion.close();
  });
});
