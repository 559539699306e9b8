/** Who is believed to be whom. */
import { Agent } from 'node:https';
import { makeCertificate } from '../../runtime/admission/certificates';
import type { ReadRequest } from '../../runtime/reader/resource';
import { waitFor } from '../cluster/wait';
import { API, type Certificates, frontProxy, makeCertificates, PROXY, Reading } from './fixture';
import type { Client } from './requests';

const NOTES = `${API}/namespaces/a/notes`;

/** A header as the apiserver sends it. */
const bytes = (text: string) => Buffer.from(text).toString('latin1');

let certificates: Certificates;
let reading: Reading;
beforeAll(async () => {
  certificates = await makeCertificates();
});
beforeEach(async () => {
  reading = await new Reading(certificates).start();
});
afterEach(() => reading.server.stop());

describe('who asks', () => {
  test('is the user in the headers of the proxy, with groups, uid and extra fields', async () => {
    const headers = {
      'x-remote-group': ['science', 'system:authenticated'],
      'x-remote-uid': 'u-1',
      'x-remote-extra-example.com%2Froles': ['a', 'b'],
    };
    expect((await reading.asUser('ada', `${NOTES}/x?from=1`, { headers })).status).toBe(200);
    const [{ reader, namespace, name, query }] = reading.asked as [ReadRequest];
    expect({ reader, namespace, name, from: query.get('from') }).toEqual({
      reader: {
        username: 'ada',
        uid: 'u-1',
        groups: ['science', 'system:authenticated'],
        extra: { 'example.com/roles': ['a', 'b'] },
      },
      namespace: 'a',
      name: 'x',
      from: '1',
    });
    expect(reading.reviews).toMatchObject([
      {
        kind: 'SubjectAccessReview',
        spec: {
          user: 'ada',
          uid: 'u-1',
          groups: ['science', 'system:authenticated'],
          extra: { 'example.com/roles': ['a', 'b'] },
          resourceAttributes: {
            group: 'queue.converged-computing.org',
            version: 'v1alpha1',
            verb: 'get',
            resource: 'notes',
            namespace: 'a',
            name: 'x',
          },
        },
      },
    ]);
  });

  test.each<[string, Client['headers'], object]>([
    ['a comma', { 'x-remote-user': 'ada,bob' }, { username: 'ada,bob' }],
    ['letters beyond ASCII', { 'x-remote-user': bytes('jürgen') }, { username: 'jürgen' }],
    ['the case of a header', { 'X-REMOTE-GROUP': ['a,b', 'c'] }, { groups: ['a,b', 'c'] }],
    ['two users', { 'x-remote-user': ['ada', 'admin'] }, { username: 'ada' }],
    ['a key of objects', { 'x-remote-extra-__proto__': 'admin' }, { extra: { ['__proto__']: ['admin'] } }],
    ['letters in a group', { 'x-remote-group': bytes('büro') }, { groups: ['büro'] }],
  ])('is named by the proxy also with %s', async (_, headers, reader) => {
    const { 'x-remote-user': user = 'ada', ...rest } = headers ?? {};
    const username = 'username' in reader ? String(reader.username) : 'ada';
    reading.rights = { [username]: ['a list notes'] };
    expect((await reading.asUser('', NOTES, { headers: { ...rest, 'x-remote-user': user } })).status).toBe(
      200,
    );
    expect(reading.asked[0]?.reader).toMatchObject(reader);
  });

  test('is nobody if the first user is empty, or not text', async () => {
    const statusOf = async (user: string | string[]) =>
      (await reading.asUser('', NOTES, { headers: { 'x-remote-user': user } })).status;
    expect([await statusOf(''), await statusOf(['', 'ada']), await statusOf('\xff\xfe')]).toEqual([
      401, 401, 400,
    ]);
    expect(reading.reviews).toEqual([]);
  });

  const ada = { headers: { 'x-remote-user': 'ada' } };
  const certificate = async () => {
    const { cert, key } = await makeCertificate({ names: [PROXY], now: new Date(), end: 'client' });
    return { cert, key };
  };
  test.each<[string, () => Promise<Partial<Client>>]>([
    ['without a certificate', async () => ada],
    ['with a certificate of another CA', async () => ({ ...ada, ...(await certificate()) })],
    ["with the proxy's certificate, but no user", async () => certificates.proxy],
  ])('is nobody %s', async (_, client) => {
    const { cert, key, headers } = await client();
    const reply = await reading.send(NOTES, {
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(headers !== undefined && { headers }),
    });
    expect([reply.status, JSON.parse(reply.text)]).toMatchObject([
      401,
      { kind: 'Status', reason: 'Unauthorized' },
    ]);
    expect(reading.reviews).toEqual([]);
  });

  test('is nobody with a certificate of the CA for another name', async () => {
    reading.server.setFrontProxy({ ...proxySettings(), names: ['another'] });
    expect((await reading.asUser('ada', NOTES)).status).toBe(401);
    reading.server.setFrontProxy({ ...proxySettings(), names: [] });
    expect((await reading.asUser('ada', NOTES)).status).toBe(200);
  });

  test('is nobody with the certificate of a server, though the CA has signed it', async () => {
    const { cert, key, bundle } = certificates.serving;
    reading.server.setFrontProxy({ ...proxySettings(), clientCas: bundle, names: [] });
    expect((await reading.asUser('ada', NOTES, { cert, key })).status).toBe(401);
  });

  test('is nobody once the proxy has another CA, or the cluster has none', async () => {
    const other = await makeCertificate({ names: [PROXY], now: new Date(), end: 'client' });
    reading.server.setFrontProxy({ ...proxySettings(), clientCas: other.bundle });
    expect((await reading.asUser('ada', NOTES)).status).toBe(401);
    const { cert, key } = other;
    expect((await reading.asUser('ada', NOTES, { cert, key })).status).toBe(200);
    reading.server.setFrontProxy(undefined);
    expect((await reading.asUser('ada', NOTES, { cert, key })).status).toBe(401);
  });

  test('is nobody with a certificate that has expired, though its CA and its name are right', async () => {
    const { cert, key, bundle } = await makeCertificate({
      names: [PROXY],
      now: new Date('2020-01-01'),
      end: 'client',
    });
    reading.server.setFrontProxy({ ...proxySettings(), clientCas: bundle });
    expect((await reading.asUser('ada', NOTES, { cert, key })).status).toBe(401);
  });

  test('is nobody on a connection from before another CA, once its request is answered', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { cert, key } = certificates.proxy;
    const kept = (path: string) => reading.asUser('ada', path, { agent, cert, key });
    let answer: () => void = () => undefined;
    reading.answer = () => new Promise((resolve) => (answer = () => resolve({})));
    const inProgress = kept(NOTES);
    await waitFor('the question', async () => reading.asked.length === 1);
    reading.server.setFrontProxy(undefined);
    answer();
    expect(await inProgress).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect((await kept(NOTES)).status).toBe(401);
    agent.destroy();
  });

  test('is nobody with a certificate that has expired since the connection was made', async () => {
    reading.now += 366 * 24 * 3600;
    expect((await reading.asUser('ada', NOTES)).status).toBe(401);
  });

  test('is the user of a bearer token, which is asked for again after ten seconds', async () => {
    const ask = async () => (await reading.withToken('token-of-ada', NOTES)).status;
    expect([await ask(), await ask()]).toEqual([200, 200]);
    expect(reading.reviews.map(({ kind }) => kind)).toEqual(['TokenReview', 'SubjectAccessReview']);
    reading.tokens = {};
    expect(await ask()).toBe(200);
    reading.now += 10;
    expect(await ask()).toBe(401);
    expect((await reading.withToken('another', NOTES)).status).toBe(401);
  });
});

test('keeps its certificate until another one is valid', async () => {
  const other = await makeCertificate({
    names: ['fluxqueue-reader.fluxqueue-system.svc'],
    now: new Date(),
  });
  expect(() => reading.server.setCertificate({ cert: 'none', key: 'none' })).toThrow('FLUXQ_CERTIFICATE');
  expect((await reading.asUser('ada', NOTES)).status).toBe(200);
  reading.server.setCertificate(other);
  expect((await reading.asUser('ada', NOTES, { ca: other.bundle })).status).toBe(200);
  // What was set first is still there.
  expect((await reading.send(NOTES, { ca: other.bundle, headers: { 'x-remote-user': 'ada' } })).status).toBe(
    401,
  );
});

const proxySettings = () => frontProxy(certificates);
