/** What is refused and how, and what one reader can cost the others. */
import { FluxqError } from '../../runtime/errors';
import { waitFor } from '../cluster/wait';
import { ManualClock } from '../kubernetes/manual-clock';
import { API, type Certificates, makeCertificates, Reading } from './fixture';
import type { Client, Reply } from './requests';

const NOTES = `${API}/namespaces/a/notes`;

let certificates: Certificates;
let reading: Reading;
beforeAll(async () => {
  certificates = await makeCertificates();
});
beforeEach(async () => {
  reading = await new Reading(certificates).start();
});
afterEach(() => reading.server.stop());

const statusOf = ({ text }: Reply) =>
  JSON.parse(text) as { kind: string; code: number; reason: string; message: string };

describe('what a reader may ask', () => {
  test('is what the apiserver says, for ten seconds', async () => {
    const refused = await reading.asUser('ada', `${API}/namespaces/b/notes`);
    expect(refused.status).toBe(403);
    expect(statusOf(refused)).toMatchObject({
      reason: 'Forbidden',
      message:
        'notes.queue.converged-computing.org is forbidden: User "ada" cannot list resource "notes" ' +
        'in API group "queue.converged-computing.org" in the namespace "b"',
    });
    expect(statusOf(await reading.asUser('ada', `${API}/notes`)).message).toMatch(/at the cluster scope$/);
    expect((await reading.asUser('ada', NOTES)).status).toBe(200);
    reading.rights = {};
    expect((await reading.asUser('ada', NOTES)).status).toBe(200);
    reading.now += 10;
    expect((await reading.asUser('ada', NOTES)).status).toBe(403);
    expect(reading.asked.length).toBe(2);
  });

  test('is unknown while the apiserver is down, and asked again at once', async () => {
    reading.isDown = true;
    for (const reply of [await reading.asUser('ada', NOTES), await reading.withToken('t', NOTES)])
      expect([reply.status, statusOf(reply).message]).toEqual([
        503,
        expect.stringContaining('FLUXQ_KUBERNETES_UNREACHABLE'),
      ]);
    reading.isDown = false;
    expect((await reading.asUser('ada', NOTES)).status).toBe(200);
  });

  test.each<[string, number, Partial<Client>]>([
    [`${API}/namespaces/a/other`, 404, {}],
    [`${API}/namespaces/a/hosts`, 404, {}],
    [`${API}/namespaces/a`, 404, {}],
    [`${NOTES}/x/status`, 404, {}],
    [`${NOTES}/`, 404, {}],
    [`${NOTES}/x/proxy/`, 404, {}],
    ['/apis/apps/v1/deployments', 404, {}],
    ['/metrics', 404, {}],
    [`${NOTES}?watch=true`, 405, {}],
    [`${NOTES}/x`, 405, { method: 'DELETE' }],
    [`${API}/hosts/x`, 405, {}],
    [`${API}/notes`, 405, { method: 'POST', body: '{}' }],
    [`${API}/namespaces/%2e%2e%2fb/notes`, 400, {}],
    [`${NOTES}/%zz`, 400, {}],
    [`${NOTES}/x%00`, 400, {}],
    [`${NOTES}/%2e%2e`, 400, {}],
    [`${NOTES}/..`, 400, {}],
    [`${API}/namespaces/../notes`, 400, {}],
    [`${API}/namespaces//notes`, 400, {}],
    [`${API}/namespaces/a%2fnotes`, 400, {}],
    [`${API}/namespaces/a/__proto__`, 404, {}],
    [`${API}/namespaces/a/constructor/queue/proxy`, 404, {}],
    [`/${NOTES}`, 404, {}],
    [`/api/v1${NOTES}`, 404, {}],
    [`${NOTES}?watch=`, 405, {}],
    [`${NOTES}?watch=true&watch=false`, 405, {}],
    [`${NOTES}?watch=true`, 405, { method: 'HEAD' }],
    [`${NOTES}/x`, 405, { method: 'PATCH', body: '{}' }],
    [`${NOTES}/x`, 405, { method: 'POST', body: '{}' }],
    [NOTES, 405, { method: 'OPTIONS' }],
    [`${API}/namespaces/b/notes?fieldSelector=metadata.name%3Dx`, 403, {}],
    [`${API}/namespaces/%62/notes`, 403, {}],
    [`${API}/namespaces/A/notes`, 403, {}],
  ])('%s is refused with %d %j', async (path, status, client) => {
    const reply = await reading.asUser('ada', path, client);
    expect(reply.status).toBe(status);
    if (client.method !== 'HEAD') expect(statusOf(reply)).toMatchObject({ kind: 'Status', code: status });
    expect(reading.asked).toEqual([]);
  });
});

describe('an answer', () => {
  const fails = (error: unknown) => {
    reading.answer = () => Promise.reject(error);
    return reading.asUser('ada', `${NOTES}/x`);
  };
  test.each<[`FLUXQ_${string}`, boolean, number, string]>([
    [`FLUXQ_${'PERIOD_INVALID'}`, false, 400, 'BadRequest'],
    [`FLUXQ_${'NOTE_NOT_FOUND'}`, false, 404, 'NotFound'],
    [`FLUXQ_${'NOTE_FORBIDDEN'}`, false, 403, 'Forbidden'],
    [`FLUXQ_${'DATABASE_DOWN'}`, true, 503, 'ServiceUnavailable'],
    [`FLUXQ_${'DATABASE_REFUSED'}`, false, 500, 'InternalError'],
  ])('that fails with %s is a Status with its sentence', async (code, retryable, status, reason) => {
    const reply = await fails(new FluxqError(code, 'is wrong', { field: 'from', retryable }));
    expect([reply.status, statusOf(reply)]).toMatchObject([
      status,
      { reason, message: `${code}: from: is wrong` },
    ]);
    expect(reading.errors.length).toBe(status >= 500 ? 1 : 0);
  });

  test('that fails with another error tells nothing of it to the reader, and all to the log', async () => {
    const reply = await fails(new Error('password=1234'));
    expect([reply.status, statusOf(reply).message]).toEqual([500, 'the reader failed; its log says why']);
    expect(reading.errors.map(({ message }) => message)).toEqual(['password=1234']);
  });

  test('to a creation has the object that was sent', async () => {
    const create = (body: string) => reading.asUser('ada', NOTES, { method: 'POST', body });
    expect((await create('{"spec":{}}')).status).toBe(201);
    expect(reading.asked[0]?.body).toEqual({ spec: {} });
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    for (const body of ['', '[]', 'null', '{', deep]) expect((await create(body)).status).toBe(400);
    expect((await create(JSON.stringify({ text: 'x'.repeat(1024 * 1024) }))).status).toBe(413);
    expect(reading.asked.length).toBe(1);
    expect(reading.seen).toContainEqual(['notes', 413]);
  });

  test('is given up after its deadline, and keeps its slot until it ends', async () => {
    await reading.server.stop();
    const limits = { requestsOfUser: 1 };
    const clock = new ManualClock();
    await reading.start({ deadline: 50, limits, clock });
    let end: () => void = () => undefined;
    reading.answer = ({ signal }) =>
      new Promise((resolve) => {
        end = () => resolve({ aborted: signal.aborted });
      });
    const answer = reading.asUser('ada', NOTES);
    await waitFor('the question', () => reading.asked.length === 1);
    await clock.advance(50);
    const late = await answer;
    expect([late.status, statusOf(late).reason]).toEqual([504, 'Timeout']);
    const busy = await reading.asUser('ada', NOTES);
    expect([busy.status, busy.headers['retry-after'], statusOf(busy).reason]).toEqual([
      429,
      '1',
      'TooManyRequests',
    ]);
    end();
    reading.answer = async () => ({});
    expect((await reading.asUser('ada', NOTES)).status).toBe(200);
  });

  test('is aborted when its reader leaves', async () => {
    let aborted: AbortSignal | undefined;
    reading.answer = ({ signal }) => {
      aborted = signal;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({})));
    };
    const leaves = new AbortController();
    const left = reading.asUser('ada', NOTES, { signal: leaves.signal });
    await waitFor('the question', async () => aborted !== undefined);
    leaves.abort();
    await expect(left).rejects.toThrow('aborted');
    await waitFor('the end of the answer', async () => aborted?.aborted);
    await waitFor('its slot', async () => reading.seen.length === 1);
    expect(reading.errors).toEqual([]);
  });
});

test('one user cannot take the slots of all, and all have a limit', async () => {
  await reading.server.stop();
  reading.rights = { ada: ['a list notes'], bob: ['a list notes'], eve: ['a list notes'] };
  await reading.start({ limits: { requests: 3, requestsOfUser: 2 } });
  const open: (() => void)[] = [];
  reading.answer = () => new Promise((resolve) => open.push(() => resolve({})));
  const first = ['ada', 'ada', 'bob'].map((user) => reading.asUser(user, NOTES));
  await waitFor('the questions', async () => open.length === 3);
  expect(statusOf(await reading.asUser('ada', NOTES)).message).toMatch(/^2 requests of ada/);
  expect(statusOf(await reading.asUser('eve', NOTES)).message).toMatch(/^3 requests are in progress/);
  for (const end of open) end();
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('the ServiceAccounts of a namespace, of which its users make any number, count as one user', async () => {
  await reading.server.stop();
  const users = ['a:one', 'a:two', 'a:three', 'b:one'].map((account) => `system:serviceaccount:${account}`);
  reading.rights = Object.fromEntries(users.map((user) => [user, ['a list notes']]));
  await reading.start({ limits: { requests: 9, requestsOfUser: 2 } });
  const open: (() => void)[] = [];
  reading.answer = () => new Promise((resolve) => open.push(() => resolve({})));
  const first = [users[0]!, users[1]!, users[3]!].map((user) => reading.asUser(user, NOTES));
  await waitFor('the questions', async () => open.length === 3);
  expect(statusOf(await reading.asUser(users[2]!, NOTES)).message).toMatch(
    /^2 requests of system:serviceaccount:a are/,
  );
  for (const end of open) end();
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('is found by kubectl and the apiserver', async () => {
  const list = JSON.parse((await reading.asUser('ada', API)).text);
  expect(list).toMatchObject({
    kind: 'APIResourceList',
    groupVersion: 'queue.converged-computing.org/v1alpha1',
    resources: [
      {
        name: 'notes',
        singularName: 'note',
        namespaced: true,
        kind: 'Note',
        verbs: ['get', 'list', 'create'],
      },
      { name: 'hosts', namespaced: false, verbs: ['list'] },
    ],
  });
  for (const path of ['/apis', '/apis/queue.converged-computing.org'])
    expect(JSON.stringify(JSON.parse((await reading.asUser('ada', path)).text))).toContain('v1alpha1');
  for (const path of [
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/apis/queue.converged-computing.org/v1alpha1',
  ])
    expect(JSON.parse((await reading.asUser('ada', path)).text)).toHaveProperty('paths');
  expect((await reading.send(API)).status).toBe(401);
  for (const path of ['/healthz', '/livez', '/readyz']) expect((await reading.send(path)).status).toBe(200);
  expect(reading.seen.map(([resource]) => resource)).toEqual([
    ...Array(7).fill('discovery'),
    ...Array(3).fill('other'),
  ]);
});

describe('a proxy', () => {
  const PATH = `${API}/namespaces/a/dashboards/queue/proxy`;

  test('answers what follows it, with the rights on the subresource', async () => {
    await reading.server.stop();
    reading.rights = { ada: ['a get dashboards/proxy'] };
    await reading.start({
      proxies: {
        dashboards: (request, response, { reader, namespace, name, path }) => {
          response.end(JSON.stringify({ url: request.url, user: reader.username, namespace, name, path }));
        },
      },
    });
    const reply = await reading.asUser('ada', `${PATH}/events?a=b`);
    expect(JSON.parse(reply.text)).toEqual({
      url: `${PATH}/events?a=b`,
      user: 'ada',
      namespace: 'a',
      name: 'queue',
      path: '/events',
    });
    expect(JSON.parse((await reading.asUser('ada', PATH)).text)).toMatchObject({ path: '/' });
    expect((await reading.asUser('bob', PATH)).status).toBe(403);
    expect((await reading.asUser('ada', PATH, { method: 'POST', body: '{}' })).status).toBe(405);
    expect((await reading.send(PATH)).status).toBe(401);
    expect(reading.seen[0]).toEqual(['dashboards/proxy', 200]);
    const { resources } = JSON.parse((await reading.asUser('ada', API)).text);
    expect(resources.at(-1)).toMatchObject({ name: 'dashboards/proxy', verbs: ['get'] });
  });

  test('that fails after its first words ends the connection', async () => {
    await reading.server.stop();
    reading.rights = { ada: ['a get dashboards/proxy'] };
    await reading.start({
      proxies: {
        dashboards: async (_, response) => {
          response.write('half');
          throw new Error('lost');
        },
      },
    });
    await expect(reading.asUser('ada', PATH)).rejects.toThrow();
    expect(reading.errors.map(({ message }) => message)).toEqual(['lost']);
  });
});
