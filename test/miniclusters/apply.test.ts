import { FluxqError } from '../../runtime/errors';
import { ApiError } from '../../runtime/kubernetes/errors';
import { applyManifest } from '../../runtime/miniclusters/apply';
import type { Manifest } from '../../runtime/miniclusters/manifests';

const JOB: Manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'hello' } };
const SERVICE: Manifest = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hello' } };

const answer = (status: number, message: string) =>
  new ApiError({ status, reason: 'Unknown', message, retryAfterSeconds: undefined });

function applied(manifest: Manifest, error?: Error) {
  const calls: unknown[][] = [];
  const patch = async (...args: unknown[]) => {
    calls.push(args);
    if (error !== undefined) throw error;
    return undefined;
  };
  return { calls, refusal: applyManifest({ patch: patch as never }, manifest, 'science') };
}

test('applies under a manager of its own; only a workload by force', async () => {
  for (const [manifest, path, force] of [
    [JOB, '/apis/batch/v1/namespaces/science/jobs/hello', true],
    [SERVICE, '/api/v1/namespaces/science/services/hello', false],
  ] as const) {
    const { calls, refusal } = applied(manifest);
    expect(await refusal).toBeUndefined();
    expect(calls).toEqual([
      [path, manifest, 'apply', { fieldManager: 'fluxqueue-minicluster', force, metadataOnly: true }],
    ]);
  }
});

test.each([
  [
    'a template that can not change',
    422,
    'Job.batch "hello" is invalid: spec.template: Invalid value: {"a":"b"}: field is immutable',
    'Immutable',
    /^Job hello: .* \(refused: spec\.template\); delete the MiniCluster and apply it anew/,
  ],
  [
    'a value that is none',
    422,
    'spec.template.spec.x: Required value',
    'Rejected',
    /^Job hello: FLUXQ_KUBERNETES_INVALID: spec\.template/,
  ],
  [
    'a quota',
    403,
    'exceeded quota: small',
    'Forbidden',
    /^Job hello: FLUXQ_KUBERNETES_FORBIDDEN: exceeded quota: small; /,
  ],
  [
    'an object of another owner',
    422,
    'metadata.ownerReferences: Invalid value: []: Only one reference can have Controller set to true. Found "true" in …',
    'NameTaken',
    /^Job hello belongs to something else; /,
  ],
  [
    'an object of another manager',
    409,
    'Apply failed with 1 conflict',
    'NameTaken',
    /managed by somebody else: .*: Apply failed/,
  ],
])('%s is an answer', async (_, status, message, reason, words) => {
  expect(await applied(JOB, answer(status, message)).refusal).toEqual({
    reason,
    message: expect.stringMatching(words),
  });
});

test('says nothing of the template', async () => {
  const message = 'spec.template: Invalid value: {"env":"hunter2"}: field is immutable';
  expect((await applied(JOB, answer(422, message)).refusal)?.message).not.toContain('hunter2');
});

test.each([
  ['a server that is busy', answer(503, 'busy')],
  ['no answer', new FluxqError('FLUXQ_KUBERNETES_TIMEOUT', 'no answer', { retryable: true })],
])('%s is thrown', async (_, error) => {
  await expect(applied(JOB, error).refusal).rejects.toBe(error);
});

test('a kind that it has no right to is an error', async () => {
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'hello' } };
  await expect(applied(role).refusal).rejects.toMatchObject({ code: 'FLUXQ_MINICLUSTER_KIND' });
});
