import { forUser, unreachable } from '../../runtime/kubernetes/errors';

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
