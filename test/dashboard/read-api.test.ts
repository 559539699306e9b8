/** What the page of one person is told when the read API is asked with the rights of this person. */
import { monthQuery, readApi } from '../../runtime/dashboard/read-api';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError, unreachable } from '../../runtime/kubernetes/errors';
import { HISTORY, USAGE } from './answers';

const API = '/apis/queue.converged-computing.org/v1alpha1';
const GROUP = '/apis/queue.converged-computing.org';

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
  return { asked, get: get as KubernetesClient['get'] };
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
    problem: 'This cluster has no read API of the queue; its administrator can add it to the stack.',
  });
});

test('says what may not be read', async () => {
  const client = clientWith({
    [GROUP]: {},
    [`${API}/namespaces/secret/histories/train`]: forbidden('histories'),
    [`${API}/usages`]: forbidden('usages'),
  });
  const api = readApi(client);
  expect(await api.history('secret', 'train')).toEqual({ problem: 'You may not read histories in secret.' });
  expect(await api.usage()).toEqual({ problem: 'You may not read usages of all namespaces.' });
});

test('a name of which nothing is recorded has no events', async () => {
  expect(await readApi(clientWith({ [GROUP]: {} })).history('science', 'none')).toEqual({
    answer: { entries: [] },
  });
});

test('believes the first answer if discovery is forbidden', async () => {
  const path = `${API}/namespaces/science/histories/train`;
  const client = clientWith({ [GROUP]: forbidden('discovery'), [path]: forbidden('histories') });
  expect(await readApi(client).history('science', 'train')).toEqual({
    problem: 'You may not read histories in science.',
  });
});

test.each([
  [apiError(503, 'no endpoints', undefined, 'GET x'), 'The read API of the queue does not answer now.'],
  [
    unreachable('GET x', new Error('refused')),
    expect.stringContaining('no answer from the apiserver: refused'),
  ],
])('says that nothing answers: %s', async (error, problem) => {
  const client = clientWith({ [GROUP]: error, [`${API}/namespaces/science/histories/train`]: error });
  expect(await readApi(client).history('science', 'train')).toEqual({ problem });
});
