import { once } from 'node:events';
import { Agent, type RequestOptions, request } from 'node:https';
import { connect } from 'node:tls';
import { makeCertificate, type ServingCertificate } from '../../runtime/admission/certificates';
import {
  type Outcome,
  startWebhook,
  type WebhookOptions,
  type WebhookServer,
} from '../../runtime/admission/server';
import { ManualClock } from '../kubernetes/manual-clock';
import { pod } from './corpus-objects';

const LOOPBACK = '127.0.0.1';

interface Reply {
  readonly status: number;
  readonly review: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly response: {
      readonly uid: string;
      readonly allowed: boolean;
      readonly patch?: string;
      readonly patchType?: string;
      readonly status?: { readonly code: number; readonly message: string };
    };
  };
  /** Serial number of the server's certificate. */
  readonly serial: string;
}

let first: ServingCertificate;
let server: WebhookServer;
let seen: [string, Outcome][];
let errors: string[];
let agent: Agent;

beforeAll(async () => {
  first = await makeCertificate({ names: [LOOPBACK], now: new Date() });
});

async function start(options: Partial<WebhookOptions> = {}): Promise<void> {
  seen = [];
  errors = [];
  server = await startWebhook({
    host: LOOPBACK,
    port: 0,
    tls: first,
    onRequest: (kind, outcome, seconds) => {
      expect(seconds).toBeGreaterThan(0);
      seen.push([kind, outcome]);
    },
    onError: (error) => errors.push(error.message),
    ...options,
  });
  agent = new Agent({ ca: first.bundle, keepAlive: true, maxSockets: 1 });
}

afterEach(async () => {
  agent.destroy();
  await server.stop();
});

function post(body: string | object, path = '/mutate', options: RequestOptions = {}): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: LOOPBACK, port: server.port, method: 'POST', path, agent, ...options },
      (incoming) => {
        const chunks: Buffer[] = [];
        const { serialNumber } = (incoming.socket as import('node:tls').TLSSocket).getPeerCertificate();
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            review: JSON.parse(Buffer.concat(chunks).toString('utf8')),
            serial: serialNumber,
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}

const review = (object: object | undefined, more: object = {}) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u-1',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    operation: 'CREATE',
    object,
    ...more,
  },
});
const badPod = pod({}, { labels: { 'fluxqueue/priority': 'high' } });

describe('the webhook', () => {
  it('patches on /mutate and returns only the verdict on /validate', async () => {
    await start();
    const { status, review: mutated } = await post(review(pod()), '/mutate?timeout=5s');
    expect(status).toBe(200);
    expect(mutated).toMatchObject({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' });
    expect(mutated.response).toMatchObject({ uid: 'u-1', allowed: true, patchType: 'JSONPatch' });
    const patch = JSON.parse(Buffer.from(mutated.response.patch ?? '', 'base64').toString());
    expect(patch).toContainEqual({
      op: 'add',
      path: '/spec/schedulingGates',
      value: [{ name: 'fluxqueue' }],
    });

    const { review: judged } = await post(review(pod()), '/validate');
    expect(judged.response).toEqual({ uid: 'u-1', allowed: true });
    const { review: refused } = await post(review(badPod), '/validate');
    expect(refused.response).toMatchObject({ allowed: false, status: { code: 403 } });
    expect(seen).toEqual([
      ['Pod', 'patched'],
      ['Pod', 'unchanged'],
      ['Pod', 'denied'],
    ]);
    expect(errors).toEqual([]);
  });

  it('returns no patch for an object that does not change', async () => {
    await start();
    const { review: untouched } = await post(review(pod({ nodeName: 'n1' })));
    expect(untouched.response).toEqual({ uid: 'u-1', allowed: true });
  });
});

describe('an invalid request gets a review that denies it', () => {
  it.each([
    ['invalid JSON', '{', 400],
    ['null', 'null', 400],
    ['no request', '{}', 400],
    ['no uid', { request: { kind: { kind: 'Pod' } } }, 400],
    ['no kind', { request: { uid: 'x' } }, 400],
    ['no object', review(undefined), 400],
  ])('%s', async (_title, body, status) => {
    await start();
    const reply = await post(body);
    expect(reply.status).toBe(status);
    expect(reply.review.response).toMatchObject({ allowed: false, status: { code: status } });
    expect(reply.review.response.status?.message).toMatch(/^FLUXQ_REVIEW_INVALID: AdmissionReview: /);
    expect(errors).toHaveLength(1);
  });

  it('a wrong path or a wrong method', async () => {
    await start();
    expect((await post(review(pod()), '/')).status).toBe(404);
    expect((await post('', '/mutate', { method: 'GET' })).status).toBe(405);
  });

  it('an object with an invalid structure', async () => {
    await start();
    const { status, review: answered } = await post(review({ spec: { schedulingGates: 7 } }));
    expect(status).toBe(200);
    expect(answered.response).toMatchObject({ uid: 'u-1', allowed: false, status: { code: 500 } });
    expect(answered.response.status?.message).toMatch(/^FLUXQ_ADMISSION_FAILED: /);
    expect(seen).toEqual([['Pod', 'error']]);
  });
});

describe('limits', () => {
  it('accept a body of 3 MB and reject one above 4 MiB, with or without a content length', async () => {
    await start();
    const of = (bytes: number) => JSON.stringify(review(pod({}, { annotations: { a: 'x'.repeat(bytes) } })));
    expect((await post(of(3_000_000))).status).toBe(200);
    const announced = { headers: { 'content-length': Buffer.byteLength(of(4_200_000)) } };
    expect((await post(of(4_200_000), '/mutate', announced)).status).toBe(413);
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    expect((await post(of(4_200_000), '/mutate', chunked)).status).toBe(413);
    expect((await post(review(pod()))).status).toBe(200);
  });

  it('abort a request that stays incomplete', async () => {
    await start({ deadline: 200 });
    const answer = await new Promise<string>((resolve) => {
      const socket = connect({ host: LOOPBACK, port: server.port, ca: first.bundle }, () => {
        socket.write('POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{');
      });
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      // Node.js resets a connection right after its answer, which can be lost with it.
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^(HTTP\/1.1 408 |$)/);
  });
});

describe('the certificate', () => {
  it('changes for new connections only', async () => {
    await start();
    const before = await post(review(pod()));
    const second = await makeCertificate({ names: [LOOPBACK], now: new Date(), trusted: first.bundle });
    server.setCertificate(second);
    expect((await post(review(pod()))).serial).toBe(before.serial);

    agent.destroy();
    agent = new Agent({ ca: second.bundle, keepAlive: true });
    const after = await post(review(pod()));
    expect(after.status).toBe(200);
    expect(after.serial).not.toBe(before.serial);
  });

  it('stays if the new one is invalid or has another key', async () => {
    await start();
    const other = await makeCertificate({ names: [LOOPBACK], now: new Date() });
    const invalid = expect.objectContaining({ code: 'FLUXQ_CERTIFICATE_INVALID' });
    expect(() => server.setCertificate({ cert: 'none', key: first.key })).toThrow(invalid);
    expect(() => server.setCertificate({ cert: first.cert, key: other.key })).toThrow(invalid);
    agent.destroy();
    agent = new Agent({ ca: first.bundle });
    expect((await post(review(pod()))).status).toBe(200);
  });
});

describe('start and stop', () => {
  it('reports that the port is in use', async () => {
    await start();
    const second = startWebhook({ host: LOOPBACK, port: server.port, tls: first });
    await expect(second).rejects.toMatchObject({ code: 'FLUXQ_PORT_IN_USE', field: 'webhook.port' });
  });

  it('answers a request that has begun, and then closes its connection although the client would keep it', async () => {
    await start();
    const body = JSON.stringify(review(pod()));
    let stopped: Promise<void> | undefined;
    const answered = new Promise<number>((resolve, reject) => {
      const outgoing = request(
        {
          host: LOOPBACK,
          port: server.port,
          method: 'POST',
          path: '/mutate',
          // As the apiserver: it asks for a connection that is kept.
          agent,
        },
        (incoming) => {
          incoming.resume();
          incoming.on('end', () => resolve(incoming.statusCode ?? 0));
        },
      );
      outgoing.on('error', reject);
      outgoing.write(body.slice(0, 10));
      outgoing.once('socket', (socket) =>
        socket.once('secureConnect', () => {
          setImmediate(() => {
            stopped = server.stop();
            outgoing.end(body.slice(10));
          });
        }),
      );
    });
    expect(await answered).toBe(200);
    expect(stopped).toBeDefined();
    await stopped;
  });

  it('takes new connections until it is drained, and keeps none', async () => {
    const clock = new ManualClock();
    await start({ clock });
    let ended = false;
    const stopped = server.stop(300).then(() => {
      ended = true;
    });
    for (let i = 0; i < 3; i++) {
      expect((await post(review(pod()))).status).toBe(200);
      expect(Object.values(agent.freeSockets).flat()).toEqual([]);
    }
    await clock.advance(299);
    expect(ended).toBe(false);
    await clock.advance(1);
    await stopped;
    await expect(post(review(pod()))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('closes connections that never send a request', async () => {
    await start({ deadline: 200 });
    const socket = connect({ host: LOOPBACK, port: server.port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const closed = once(socket, 'close');
    await server.stop();
    await closed;
  });

  it('closes idle connections', async () => {
    await start();
    await post(review(pod()));
    await server.stop();
  });
});
