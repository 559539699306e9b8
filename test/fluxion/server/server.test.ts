import { once as firstEvent } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { Channel } from '../../../runtime/fluxion/client/channel';
import { connectFluxion } from '../../../runtime/fluxion/client/client';
import { FluxionServiceService, MatchRequest } from '../../../runtime/fluxion/generated/fluxion';
import {
  type HealthCheckResponse,
  HealthClient,
  HealthCheckResponse_ServingStatus as Serving,
} from '../../../runtime/fluxion/generated/health';
import { EmbeddedEngine } from '../../../runtime/fluxion/matcher/engine';
import { type FluxionServer, startFluxionServer } from '../../../runtime/fluxion/server/server';
import { loopbackCertificate } from '../certificates';
import { cores, nodes } from '../jobspecs';
import { START, TWO_NODES } from '../scenarios/scenario';
import { toJgf } from '../to-jgf';

const log = { info() {}, warn() {}, error() {} };
const INIT = { nodes: TWO_NODES, policy: 'lonode', now: START } as const;
const once = (jobid: number, count = 1) =>
  ({ jobid, jobspec: cores(count), operation: 'allocate_with_satisfiability', now: START }) as const;

let folder: string;
let server: FluxionServer;
const started: { stop(): Promise<void> }[] = [];

async function start(address = `unix:${folder}/s.sock`, more = {}): Promise<FluxionServer> {
  const one = await startFluxionServer({ address, engine: new EmbeddedEngine(), log, graceMs: 100, ...more });
  started.push(one);
  return one;
}

function connect(address = server.address, more: Partial<Parameters<typeof connectFluxion>[0]> = {}) {
  const fluxion = connectFluxion({ address, ...more });
  started.push({ stop: () => fluxion.close() });
  return fluxion;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fluxion-'));
  server = await start();
});

afterEach(async () => {
  for (const one of started.splice(0).reverse()) await one.stop();
  await rm(folder, { recursive: true });
});

describe('fencing', () => {
  test('refuses a caller with a lower fencing number than the highest one seen', async () => {
    const old = connect();
    await old.init({ ...INIT, fence: 3 });
    const leader = connect();
    await leader.init({ ...INIT, fence: 4 });
    await leader.match(once(1));
    await expect(old.match(once(2))).rejects.toMatchObject({
      code: 'FLUXQ_FLUXION_FENCED',
      retryable: false,
    });
    await expect(old.cancel(1)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_FENCED' });
    await expect(old.init({ ...INIT, fence: 3 })).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_FENCED' });
    expect((await leader.state()).jobs).toHaveLength(1);
  });

  test('refuses a caller of the public service, which has no fencing number, after a leader', async () => {
    await connect().init({ ...INIT, fence: 1 });
    const channel = new Channel(server.address, undefined);
    const request = { jobID: 1, caller: undefined };
    await expect(channel.call(FluxionServiceService.cancel, request, 1000)).rejects.toMatchObject({
      code: status.ABORTED,
    });
    channel.close();
  });
});

describe('lost state', () => {
  test('answers NOT_READY or IN_DOUBT to the caller of a replaced graph until its init', async () => {
    const first = connect();
    const boot = await first.init(INIT);
    const second = connect();
    expect(await second.init(INIT)).not.toBe(boot);
    expect(await first.match(once(1))).toMatchObject({ status: 'NOT_READY' });
    await expect(first.cancel(1)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT', retryable: true });
    await expect(first.match(once(1))).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
    await first.init(INIT);
    expect(await first.match(once(1))).toMatchObject({ status: 'OK' });
    await expect(second.state()).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
  });

  test('returns the state to a caller without graph and fencing number', async () => {
    const leader = connect();
    await leader.init({ ...INIT, fence: 9 });
    await leader.match(once(1));
    expect((await connect().state()).jobs).toEqual((await leader.state()).jobs);
  });

  test('reports IN_DOUBT after a restart of the server', async () => {
    const fluxion = connect();
    await fluxion.init(INIT);
    await server.stop();
    server = await start();
    await expect(fluxion.cancel(1)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
    await fluxion.init(INIT);
    expect(await fluxion.match(once(1))).toMatchObject({ status: 'OK' });
  });

  test('reports IN_DOUBT without a server within the connect deadline', async () => {
    const fluxion = connect(`unix:${folder}/nobody.sock`, { timeouts: { connect: 50 } });
    await expect(fluxion.init(INIT)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
  });

  test('reports IN_DOUBT without an answer within the deadline', async () => {
    const silent = new Server();
    const { describe: describeCall, init } = FluxionServiceService;
    silent.addService(
      { describe: describeCall, init },
      { describe: (_: unknown, answer: (e: null, r: object) => void) => answer(null, {}), init() {} },
    );
    const address = `unix:${folder}/silent.sock`;
    await new Promise<void>((resolve) =>
      silent.bindAsync(address, ServerCredentials.createInsecure(), () => resolve()),
    );
    started.push({ stop: async () => silent.forceShutdown() });
    const fluxion = connect(address, { timeouts: { init: 50 } });
    await expect(fluxion.init(INIT)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
  });

  test('refuses calls of a closed client', async () => {
    const fluxion = connect();
    await fluxion.close();
    await expect(fluxion.state()).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_CLOSED' });
  });
});

describe('before init', () => {
  test('answers NOT_READY to a match and IN_DOUBT to other calls', async () => {
    const fluxion = connect();
    expect(await fluxion.match(once(1))).toMatchObject({ status: 'NOT_READY' });
    await expect(fluxion.cancel(1)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
  });

  test.each([
    [{ name: '', units: {} }, 'name'],
    [{ name: 'a/b', units: {} }, 'name'],
    [{ name: 'a', units: { core: 1.5 } }, 'core'],
    [{ name: 'a', units: { node: 1 } }, 'node'],
  ])('refuses a graph with %j and names the field', async (node, where) => {
    const engine = new EmbeddedEngine();
    await expect(engine.init({ ...INIT, nodes: [node] })).rejects.toMatchObject({
      code: 'FLUXQ_FLUXION_GRAPH',
      message: expect.stringContaining(where),
    });
    expect(await engine.match(once(1))).toMatchObject({ status: 'NOT_READY' });
  });

  test('refuses a duplicate node through gRPC with the same error', async () => {
    const nodes = [TWO_NODES[0]!, TWO_NODES[0]!];
    await expect(connect().init({ ...INIT, nodes })).rejects.toMatchObject({
      code: 'FLUXQ_FLUXION_GRAPH',
      message: expect.stringContaining('"a"'),
    });
  });
});

describe('sockets', () => {
  test('replaces a stale socket file, but not that of a running server', async () => {
    await expect(start()).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_ADDRESS' });
    const path = join(folder, 'stale.sock');
    await abandonSocket(path);
    expect(existsSync(path)).toBe(true);
    const taken = await start(`unix:${path}`);
    await connect(taken.address).init(INIT);
    expect((await stat(path)).mode & 0o777).toBe(0o660);
    await taken.stop();
    expect(existsSync(path)).toBe(false);
  });

  test('keeps a file that is not a socket', async () => {
    await writeFile(join(folder, 'file'), 'mine');
    await expect(start(`unix:${folder}/file`)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_ADDRESS' });
  });

  test.each(['', 'host', 'host:port', 'host:99999', 'unix:relative', 'http://host:1'])(
    'refuses the address %p',
    (address) => {
      expect(() => connectFluxion({ address })).toThrow(
        expect.objectContaining({ code: 'FLUXQ_FLUXION_ADDRESS' }),
      );
    },
  );

  test('refuses plain text beyond this machine without insecure', async () => {
    await expect(start('0.0.0.0:0')).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_INSECURE' });
  });

  test('fails for a client that does not trust the certificate', async () => {
    const secure = await start('127.0.0.1:0', { tls: await loopbackCertificate() });
    const stranger = await loopbackCertificate();
    const fluxion = connect(secure.address, { tls: { ca: stranger.bundle }, timeouts: { connect: 500 } });
    await expect(fluxion.init(INIT)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
  });

  test('fails for a client without a required certificate', async () => {
    const tls = await loopbackCertificate();
    const client = await loopbackCertificate('client');
    const secure = await start('127.0.0.1:0', { tls: { ...tls, clientCa: client.bundle } });
    const bare = connect(secure.address, { tls: { ca: tls.bundle }, timeouts: { connect: 500 } });
    await expect(bare.init(INIT)).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_IN_DOUBT' });
    const known = connect(secure.address, { tls: { ca: tls.bundle, cert: client.cert, key: client.key } });
    await known.init(INIT);
  });
});

test('reports health until the server stops', async () => {
  const client = new HealthClient(server.address, credentials.createInsecure());
  const ask = (service: string) =>
    new Promise((resolve, reject) => {
      client.check({ service }, (error, response) => (error === null ? resolve(response) : reject(error)));
    });
  const seen: HealthCheckResponse[] = [];
  const watch = client.watch({ service: '' }).on('data', (state: HealthCheckResponse) => seen.push(state));
  const ended = firstEvent(watch, 'end');
  expect(await ask('fluxion.FluxionService')).toEqual({ status: Serving.SERVING });
  await expect(ask('another.Service')).rejects.toMatchObject({ code: status.NOT_FOUND });
  await server.stop();
  await ended;
  expect(seen).toEqual([{ status: Serving.SERVING }, { status: Serving.NOT_SERVING }]);
  await expect(ask('')).rejects.toMatchObject({ code: status.UNAVAILABLE });
  client.close();
});

test('answers concurrent calls in their order', async () => {
  const fluxion = connect();
  const init = fluxion.init(INIT);
  const matches = [1, 2, 3, 4].map((jobid) => fluxion.match(once(jobid, 2)));
  const cancelled = fluxion.cancel(1);
  const last = fluxion.match(once(5, 2));
  await init;
  const results = await Promise.all([...matches, last]);
  await cancelled;
  const seen = results.map((result) =>
    result.status === 'OK'
      ? result.allocation.nodes.map(({ name, units }) => `${name}:${units.core}`).join()
      : result.status,
  );
  expect(seen).toEqual(['a:0-1', 'a:2-3', 'b:0-1', 'b:2-3', 'a:0-1']);
});

test('initialises ten thousand nodes in one call', async () => {
  const fluxion = connect();
  const many = Array.from({ length: 10_000 }, (_, i) => ({
    name: `ip-10-${i >> 8}-${i & 255}-1.internal`,
    units: { core: 8, memory: 4 },
    properties: [`zone=${i % 3}`, 'arch=amd64', 'instance=c7i.2xlarge'],
  }));
  await fluxion.init({ ...INIT, nodes: many });
  const { nodes: seen } = await fluxion.state();
  expect(seen).toHaveLength(10_000);
  const result = await fluxion.match({ ...once(1), jobspec: nodes(500, 8) });
  expect(result.status === 'OK' && result.allocation.nodes).toHaveLength(500);
});

describe('a client of the public service', () => {
  let channel: Channel;
  beforeEach(() => {
    channel = new Channel(server.address, undefined);
  });
  afterEach(() => channel.close());
  const { init, match, cancel } = FluxionServiceService;
  const request = (jobspec: object, reservation = false) =>
    MatchRequest.create({ jobspec: JSON.stringify(jobspec), reservation });
  const publicInit = () =>
    channel.call(
      init,
      {
        policy: 'lonode',
        jgf: JSON.stringify(toJgf(TWO_NODES)),
        graph: undefined,
        now: 0,
        caller: undefined,
        pruneFilters: '',
        warm: false,
      },
      60_000,
    );

  test('gets public answers: JGF, job ids from 1, time from 0, UNKNOWN for a refusal', async () => {
    expect(await publicInit()).toMatchObject({ status: 0 });
    const first = await channel.call(match, request(nodes(2, 4)), 60_000);
    expect(first).toMatchObject({ jobid: 1, reserved: false, at: 0, status: 0, granted: undefined });
    const names = JSON.parse(first.allocation).graph.nodes.map(
      ({ metadata }: { metadata: { paths: { containment: string } } }) => metadata.paths.containment,
    );
    expect(names).toContain('/cluster0/a/core3');
    expect(names.at(-1)).toBe('/cluster0');
    await expect(channel.call(match, request(cores(1)), 60_000)).rejects.toMatchObject({
      code: status.UNKNOWN,
    });
    await expect(channel.call(match, request({}), 60_000)).rejects.toMatchObject({ code: status.UNKNOWN });
    expect(await channel.call(match, request(cores(1), true), 60_000)).toMatchObject({
      reserved: true,
      at: 100,
    });
    expect(await channel.call(cancel, { jobID: 1, caller: undefined }, 60_000)).toMatchObject({ status: 0 });
    expect(await channel.call(cancel, { jobID: 99, caller: undefined }, 60_000)).toMatchObject({ status: 0 });
  });

  test('can send a jobspec in YAML', async () => {
    await publicInit();
    const yaml = [
      'version: 1',
      'resources: [{type: slot, count: 1, label: task, with: [{type: core, count: 2}]}]',
      'tasks: [{command: [app], slot: task, count: {per_slot: 1}}]',
      'attributes: {system: {duration: 60}}',
    ].join('\n');
    expect(await channel.call(match, MatchRequest.create({ jobspec: yaml }), 60_000)).toMatchObject({
      jobid: 1,
    });
  });

  test('can not change the graph of a native caller', async () => {
    await connect().init(INIT);
    await expect(channel.call(match, request(cores(1)), 60_000)).rejects.toMatchObject({
      code: status.UNKNOWN,
    });
    await expect(channel.call(cancel, { jobID: 1, caller: undefined }, 60_000)).rejects.toMatchObject({
      code: status.UNKNOWN,
    });
  });
});

/** Leaves a socket file without a listener, as a killed server does. */
async function abandonSocket(path: string): Promise<void> {
  const { link, unlink } = await import('node:fs/promises');
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(`${path}.tmp`, () => resolve()));
  await link(`${path}.tmp`, path);
  await new Promise<void>((resolve) => other.close(() => resolve()));
  await unlink(`${path}.tmp`).catch(() => undefined);
}
