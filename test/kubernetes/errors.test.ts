import { apiError, forUser, unreachable } from '../../runtime/kubernetes/errors';

test.each(['EAI_AGAIN', 'ENOTFOUND'])('a DNS outage is named as such (%s)', (code) => {
  const cause = Object.assign(new Error(`getaddrinfo ${code} api.example`), {
    code,
    hostname: 'api.example',
  });
  expect(unreachable('GET /version', cause)).toMatchObject({
    retryable: true,
    message: `FLUXQ_KUBERNETES_UNREACHABLE: GET /version: DNS has no address of the apiserver api.example (${code}); check the name, and that DNS answers`,
  });
});

test("another failure keeps its words, and an error that is not the server's is left alone", () => {
  const refused = unreachable('GET /version', new Error('connect ECONNREFUSED'));
  expect(refused.message).toContain('no answer from the apiserver: connect ECONNREFUSED');
  expect(forUser(refused)).toBe(refused);
});

test.each([
  [
    'patch resource "nodes" in API group "" at the cluster scope',
    'this is for administrators: it takes the right to patch nodes',
  ],
  [
    'list resource "nodes" in API group "" at the cluster scope',
    'ask an administrator for the right, such as a ClusterRoleBinding to view',
  ],
  [
    'list resource "fluxjobs" in API group "x" in the namespace "a"',
    'ask an administrator for the right, such as a RoleBinding to view',
  ],
  [
    'patch resource "jobs" in API group "batch" in the namespace "a"',
    'ask an administrator for the right, such as a RoleBinding to edit',
  ],
])('who cannot %s is told what gives the right', (refused, remedy) => {
  const message = `nodes "n" is forbidden: User "ada" cannot ${refused}`;
  const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message });
  expect((forUser(apiError(403, body, undefined, 'PATCH /x')) as Error).message).toBe(
    `FLUXQ_KUBERNETES_FORBIDDEN: ${message}; ${remedy}`,
  );
});

test('a cluster that does not know the kind has no fluxqueue; a missing object is another matter', () => {
  const path = '/apis/jobs.converged-computing.org/v1alpha1/fluxjobs';
  const missing = apiError(404, '404 page not found\n', undefined, `GET ${path}`);
  expect((forUser(missing) as Error).message).toMatch(
    /^FLUXQ_NOT_INSTALLED: this cluster has no fluxqueue; ask/,
  );
  const other = apiError(404, '404 page not found\n', undefined, 'GET /apis/flux-framework.org/v1alpha2/x');
  expect((forUser(other) as Error).message).toMatch(
    /^FLUXQ_KUBERNETES_NOT_FOUND: the cluster does not serve/,
  );
  const body = JSON.stringify({ kind: 'Status', reason: 'NotFound', message: 'jobs "a" not found' });
  expect((forUser(apiError(404, body, undefined, 'GET /x')) as Error).message).toMatch(
    /^FLUXQ_KUBERNETES_NOT_FOUND/,
  );
});
