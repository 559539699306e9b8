/** What the page of one person is told when the read API is asked with the rights of this person. */
import { READ_GROUP } from '../../constructs/api/labels';
import { monthQuery, readApi } from '../../runtime/dashboard/read-api';
import { apiError, unreachable } from '../../runtime/kubernetes/errors';
import type { ReadApiClient } from '../../runtime/kubernetes/read-api';
import { READ_API } from '../../runtime/reader/kinds';
import { HISTORY, USAGE } from './answers';

const API = `/apis/${READ_API}`;
const GROUP = `/apis/${READ_GROUP}`;

const refusal = (status: number, message: string) =>
  JSON.stringify({ kind: 'Status', status: 'Failure', message, code: status });

/** Each path without its query has an object or an error. */
function clientWith(answers: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const get = async (path: string): Promise<unknown> => {
    asked.push(path);
    const answer = answers[path.split('?')[0]!];
    if (answer === undefined) throw apiError(404, '404 page not found', undefined, `GET ${path}`);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const create = () => Promise.reject(new Error('the page creates nothing'));
  return { asked, get: get as ReadApiClient['get'], create };
}

const forbidden = (what: string) =>
  apiError(403, refusal(403, `${what} is forbidden: User "ada" cannot get it`), undefined, 'GET');

test('history and usage of this month are read', async () => {
  const client = clientWith({
    [`${API}/namespaces/science/histories/train`]: HISTORY,
    [`${API}/namespaces/science/usages`]: USAGE,
  });
  const api = readApi(client, 'science');
  expect(await api.history('science', 'train')).toEqual({ answer: HISTORY });
  expect(await api.usage()).toEqual({ answer: USAGE });
  expect(client.asked[1]).toMatch(
    /usages\?from=\d{4}-\d\d-01T00%3A00%3A00.000Z&.*by=queue%2Cnamespace%2Cuser$/,
  );
});

test('without a namespace, usage is that of all', async () => {
  expect(await readApi(clientWith({ [`${API}/usages`]: USAGE })).usage()).toEqual({ answer: USAGE });
});

test('a month begins in UTC', () => {
  expect(monthQuery(new Date('2026-12-01T00:30:00+02:00')).get('from')).toBe('2026-11-01T00:00:00.000Z');
});

test.each([
  ['is not there', {}],
  [
    'is not there, and its rights are not either',
    { [`${API}/namespaces/science/histories/train`]: forbidden('x') },
  ],
])('says in one sentence that the read API %s', async (_, answers) => {
  expect(await readApi(clientWith(answers), 'science').history('science', 'train')).toEqual({
    problem: expect.stringMatching(
      /^FLUXQ_READ_API_MISSING: this cluster has no read API of the queue; ask /,
    ),
  });
});

test('says what may not be read', async () => {
  const client = clientWith({
    [GROUP]: {},
    [`${API}/namespaces/secret/histories/train`]: forbidden('histories'),
    [`${API}/usages`]: forbidden('usages'),
  });
  const api = readApi(client);
  expect(await api.history('secret', 'train')).toEqual({
    problem:
      'FLUXQ_READ_FORBIDDEN: ada may not get histories in namespace secret; ask an administrator of the namespace for a RoleBinding to view.',
  });
  expect(await api.usage()).toEqual({
    problem:
      'FLUXQ_READ_FORBIDDEN: ada may not list usages in all namespaces; leave out -A, or ask an administrator of the cluster for a ClusterRoleBinding to view.',
  });
});

test('a name of which nothing is recorded has no events', async () => {
  const path = `${API}/namespaces/science/histories/none`;
  const never = 'FLUXQ_HISTORY_NOT_FOUND: science/none: no workload of this name was ever queued';
  const client = clientWith({
    [GROUP]: {},
    [path]: apiError(404, refusal(404, never), undefined, 'GET'),
  });
  expect(await readApi(client).history('science', 'none')).toEqual({ answer: { entries: [] } });
});

test('believes the first answer if discovery is forbidden', async () => {
  const path = `${API}/namespaces/science/histories/train`;
  const client = clientWith({ [GROUP]: forbidden('discovery'), [path]: forbidden('histories') });
  expect(await readApi(client).history('science', 'train')).toEqual({
    problem: expect.stringMatching(/^FLUXQ_READ_FORBIDDEN: ada may not get histories in namespace science; /),
  });
});

test.each([
  [
    apiError(503, 'no endpoints', undefined, 'GET x'),
    expect.stringMatching(/^FLUXQ_READ_API_DOWN: the read API has no answer now: HTTP 503 no endpoints; /),
  ],
  [
    unreachable('GET x', new Error('refused')),
    expect.stringContaining('no answer from the apiserver: refused'),
  ],
])('says that nothing answers: %s', async (error, problem) => {
  const client = clientWith({ [GROUP]: error, [`${API}/namespaces/science/histories/train`]: error });
  expect(await readApi(client).history('science', 'train')).toEqual({ problem });
});
