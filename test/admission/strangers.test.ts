/** What a pod that talks to the webhook costs the apiserver: any pod of the cluster reaches it. */
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { makeCertificate, type ServingCertificate } from '../../runtime/admission/certificates';
import { startWebhook, type WebhookServer } from '../../runtime/admission/server';
import { waitFor } from '../cluster/wait';
import { ManualClock } from '../kubernetes/manual-clock';
import { pod } from './corpus-objects';

const APISERVER = '127.0.0.1';
const STRANGER = '127.0.0.2';
const MEBIBYTE = 1024 * 1024;
const REVIEW = JSON.stringify({
  request: { uid: '1', kind: { kind: 'Pod' }, operation: 'CREATE', namespace: 'a', object: pod() },
});
/** As large as a review may be. */
const BOMB = Buffer.from(
  `{"request":{"uid":"1","kind":{"kind":"Pod"},"operation":"CREATE","object":{"a":[${'{},'.repeat(1_300_000)}{}]}}}`,
);

describe('a stranger', () => {
  let certificate: ServingCertificate;
  let server: WebhookServer;
  let clock: ManualClock;
  /** Of strangers, with an answer or without one. */
  let ended: number;
  const agents: Agent[] = [];
  beforeAll(async () => {
    certificate = await makeCertificate({ names: [APISERVER], now: new Date() });
  });
  beforeEach(async () => {
    ended = 0;
    clock = new ManualClock();
    server = await startWebhook({
      host: '0.0.0.0',
      port: 0,
      tls: certificate,
      deadline: 60_000,
      maxConnections: 64,
      clock,
    });
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) agent.destroy();
    await server.stop();
  });

  function agentOf(address: string): Agent {
    const agent = new Agent({ ca: certificate.bundle, keepAlive: true, localAddress: address });
    agents.push(agent);
    return agent;
  }

  function post(agent: Agent, body: string | Buffer, length = Buffer.byteLength(body)) {
    const outgoing = request({
      host: APISERVER,
      port: server.port,
      method: 'POST',
      path: '/mutate',
      agent,
      headers: { 'content-length': length },
    });
    if (length === Buffer.byteLength(body)) outgoing.end(body);
    else outgoing.write(body);
    return outgoing;
  }

  async function asApiserver(agent: Agent): Promise<number> {
    const [response] = await once(post(agent, REVIEW), 'response');
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  }

  /** Sends one after the other for ever. */
  function bombard(agent: Agent): void {
    const outgoing = post(agent, BOMB);
    const again = () => {
      ended += 1;
      if (agents.includes(agent)) bombard(agent);
    };
    outgoing.on('response', (response) => response.resume().on('end', again));
    outgoing.on('error', () => undefined);
  }

  test('that sends the largest reviews from twenty connections delays one of the apiserver by a few of them', async () => {
    const [stranger, apiserver] = [agentOf(STRANGER), agentOf(APISERVER)];
    await asApiserver(apiserver);
    for (let i = 0; i < 20; i++) bombard(stranger);
    await waitFor('answers', async () => ended > 8 || undefined);
    const answeredBetween: number[] = [];
    for (let i = 0; i < 5; i++) {
      const before = ended;
      expect(await asApiserver(apiserver)).toBe(200);
      answeredBetween.push(ended - before);
    }
    expect(Math.max(...answeredBetween)).toBeLessThan(5);
  });

  test('that sends bodies without their ends has three of them in memory', async () => {
    const stranger = agentOf(STRANGER);
    const before = process.memoryUsage().arrayBuffers;
    const part = BOMB.subarray(0, 3 * MEBIBYTE);
    for (let i = 0; i < 50; i++) post(stranger, part, BOMB.length).on('error', () => undefined);
    const apiserver = agentOf(APISERVER);
    for (let i = 0; i < 50; i++) expect(await asApiserver(apiserver)).toBe(200);
    expect((process.memoryUsage().arrayBuffers - before) / MEBIBYTE).toBeLessThan(60);
  });

  test('that sends slowly from many addresses loses its turns to others', async () => {
    for (let i = 2; i < 12; i++)
      for (let j = 0; j < 4; j++)
        post(agentOf(`127.0.0.${i}`), '{', BOMB.length).on('error', () => (ended += 1));
    const apiserver = agentOf(APISERVER);
    let status: number | undefined;
    void asApiserver(apiserver).then((answered) => {
      status = answered;
    });
    await waitFor('an answer', async () => clock.advance(1_000).then(() => status));
    expect(status).toBe(200);
  });

  test('that opens connections and sends nothing closes those of nobody else', async () => {
    const apiserver = agentOf(APISERVER);
    await asApiserver(apiserver);
    const sockets = Array.from({ length: 200 }, () =>
      connect({ host: APISERVER, port: server.port, localAddress: STRANGER }).on('error', () => undefined),
    );
    await waitFor(
      'closed connections',
      async () => sockets.filter(({ closed }) => closed).length > 130 || undefined,
    );
    expect(await asApiserver(apiserver)).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test('with endless bodies ends no slow body of the apiserver while there are places', async () => {
    for (let i = 0; i < 8; i++) post(agentOf(STRANGER), '{', BOMB.length).on('error', () => undefined);
    const slow = post(agentOf(APISERVER), REVIEW.slice(0, 9), REVIEW.length);
    const answered = once(slow, 'response');
    for (let i = 0; i < 5; i++) await clock.advance(1_000).then(() => new Promise(setImmediate));
    slow.end(REVIEW.slice(9));
    const [response] = await answered;
    expect(response.statusCode).toBe(200);
  });

  test('answers all reviews of the apiserver that come while the webhook could not run', async () => {
    const apiserver = agentOf(APISERVER);
    await Promise.all(Array.from({ length: 12 }, () => asApiserver(apiserver)));
    const answers = Array.from({ length: 12 }, () => asApiserver(apiserver));
    const until = performance.now() + 300;
    while (performance.now() < until);
    await clock.advance(2_000);
    expect(await Promise.all(answers)).toEqual(Array(12).fill(200));
  });
});
