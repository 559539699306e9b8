/** What strangers and slow clients cost the others. */
import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:net';
import { startHttps } from '../../runtime/https/server';
import { waitFor } from '../cluster/wait';
import { ManualClock } from '../kubernetes/manual-clock';
import { API, type Certificates, makeCertificates, Reading } from './fixture';

const NOTES = `${API}/namespaces/a/notes`;

let certificates: Certificates;
beforeAll(async () => {
  certificates = await makeCertificates();
});

test('a connection that sends nothing is closed', async () => {
  const server = await startHttps({
    host: '127.0.0.1',
    port: 0,
    tls: certificates.serving,
    setting: 'reader',
    maxConnections: 10,
    deadline: 200,
    onRequest: async () => undefined,
  });
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'close');
  await server.stop();
});

describe('the reader', () => {
  let reading: Reading;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = new ManualClock();
    const limits = { requestsOfUser: 1 };
    reading = await new Reading(certificates).start({ deadline: 2_000, limits, clock });
  });
  afterEach(() => reading.server.stop());

  test('keeps no connection of a stranger', async () => {
    const kept = { connection: 'keep-alive' };
    for (const path of ['/healthz', '/apis', NOTES])
      expect((await reading.send(path, { headers: kept })).headers.connection).toBe('close');
    const forged = { ...kept, 'x-remote-user': 'ada' };
    expect((await reading.send(NOTES, { headers: forged })).headers.connection).toBe('close');
    const known = await reading.asUser('ada', NOTES, { headers: kept });
    expect([known.status, known.headers.connection]).toEqual([200, 'keep-alive']);
  });

  test('counts an answer that is not taken, and drops it after its deadline', async () => {
    reading.answer = async () => ({ text: 'x'.repeat(64 * 1024 * 1024) });
    const { cert, key } = certificates.proxy;
    const slow = request({
      host: '127.0.0.1',
      port: reading.server.port,
      path: NOTES,
      headers: { 'x-remote-user': 'ada' },
      agent: false,
      ca: certificates.serving.bundle,
      servername: 'fluxqueue-reader.fluxqueue-system.svc',
      cert,
      key,
    });
    slow.end();
    const [answer] = await once(slow, 'response');
    answer.on('error', () => undefined);
    reading.answer = async () => ({});
    await clock.advance(1_999);
    expect((await reading.asUser('ada', NOTES)).status).toBe(429);
    await clock.advance(1);
    await waitFor('the slot', async () => (await reading.asUser('ada', NOTES)).status === 200);
    const ended = new Promise((resolve) => answer.once('close', resolve));
    answer.resume();
    await ended;
    expect(answer.complete).toBe(false);
  });

  test('believes no certificate of a session from before another CA', async () => {
    const { cert, key } = certificates.proxy;
    const options = {
      host: '127.0.0.1',
      port: reading.server.port,
      path: NOTES,
      headers: { 'x-remote-user': 'ada' },
      agent: false as const,
      ca: certificates.serving.bundle,
      servername: 'fluxqueue-reader.fluxqueue-system.svc',
      cert,
      key,
    };
    const ask = async (session?: Buffer) => {
      const outgoing = request({ ...options, ...(session && { session }) });
      const kept: Buffer[] = [];
      outgoing.on('socket', (socket) => socket.on('session', (data: Buffer) => kept.push(data)));
      outgoing.end();
      const [answer] = await once(outgoing, 'response');
      answer.resume();
      await once(answer, 'end');
      return { status: answer.statusCode as number, session: kept.at(-1) };
    };
    const { status, session } = await ask();
    expect([status, session]).toEqual([200, expect.any(Buffer)]);
    reading.server.setFrontProxy(undefined);
    expect((await ask(session)).status).toBe(401);
    const other = await makeCertificates();
    reading.server.setFrontProxy({ ...FRONT_PROXY, clientCas: other.proxy.bundle });
    expect((await ask(session)).status).toBe(401);
  });
});

const FRONT_PROXY = {
  names: [],
  usernameHeaders: ['x-remote-user'],
  uidHeaders: [],
  groupHeaders: [],
  extraPrefixes: [],
};
