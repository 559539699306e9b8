import { FluxqError } from '../../runtime/errors';
import { applyManifest } from '../../runtime/miniclusters/apply';
import type { Manifest } from '../../runtime/miniclusters/manifests';
import { errorOf } from './fake-apiserver';

const JOB: Manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'hello' } };
const SERVICE: Manifest = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hello' } };

const CLUSTER = { namespace: 'science', uid: 'u' };

/** @param existing the object of this name before; undefined if there is none */
function apply(manifest: Manifest, error?: Error, existing?: object | Error) {
  const calls: unknown[][] = [];
  const patch = async (...args: unknown[]) => {
    if ((args[3] as { dryRun?: boolean }).dryRun === true) {
      if (existing instanceof Error) throw existing;
      if (existing !== undefined) return existing;
      throw errorOf(404, 'not found');
    }
    calls.push(args);
    if (error !== undefined) throw error;
    return undefined;
  };
  return { calls, rejection: applyManifest({ patch: patch as never }, manifest, CLUSTER) };
}

test('applies with its own field manager and forces only the apply of a workload', async () => {
  for (const [manifest, path, force] of [
    [JOB, '/apis/batch/v1/namespaces/science/jobs/hello', true],
    [SERVICE, '/api/v1/namespaces/science/services/hello', false],
  ] as const) {
    const { calls, rejection } = apply(manifest);
    expect(await rejection).toBeUndefined();
    expect(calls).toEqual([
      [path, manifest, 'apply', { fieldManager: 'fluxqueue-minicluster', force, metadataOnly: true }],
    ]);
  }
});

test.each([
  [
    'an immutable template',
    422,
    'Job.batch "hello" is invalid: spec.template: Invalid value: {"a":"b"}: field is immutable',
    'Immutable',
    /^Job hello: .* \(immutable: spec\.template\); delete and recreate the MiniCluster/,
  ],
  [
    'an invalid value',
    422,
    'spec.template.spec.x: Required value',
    'Rejected',
    /^Job hello: FLUXQ_KUBERNETES_INVALID: spec\.template/,
  ],
  [
    'an exceeded quota',
    403,
    'exceeded quota: small',
    'Forbidden',
    /^Job hello: FLUXQ_KUBERNETES_FORBIDDEN: exceeded quota: small; /,
  ],
  [
    'an object with another controller',
    422,
    'metadata.ownerReferences: Invalid value: []: Only one reference can have Controller set to true. Found "true" in …',
    'NameTaken',
    /^Job hello already exists and has another controller; /,
  ],
  [
    'an object of another field manager',
    409,
    'Apply failed with 1 conflict',
    'NameTaken',
    /^Job hello conflicts with another field manager: .*: Apply failed/,
  ],
])('returns a rejection for %s', async (_, status, message, reason, text) => {
  expect(await apply(JOB, errorOf(status, message)).rejection).toEqual({
    reason,
    message: expect.stringMatching(text),
  });
});

test.each([
  ['of nobody', {}],
  ['of another MiniCluster', { ownerReferences: [{ uid: 'other' }] }],
])('takes over no object %s', async (_, metadata) => {
  const { calls, rejection } = apply(JOB, undefined, { metadata });
  expect(await rejection).toEqual({
    reason: 'NameTaken',
    message: expect.stringMatching(/^Job hello exists and does not belong to this MiniCluster; /),
  });
  expect(calls).toEqual([]);
});

test('takes over no object for which the policy refuses even an empty patch', async () => {
  const refused = errorOf(
    422,
    'denied request: FLUXQ_RESERVED: metadata: the controller can only change Jobs',
  );
  const { calls, rejection } = apply(JOB, undefined, refused);
  expect(await rejection).toMatchObject({ reason: 'NameTaken' });
  expect(calls).toEqual([]);
});

test('reports what refuses an object, also if that refuses an empty patch', async () => {
  const refused = errorOf(422, 'denied request: no Jobs today');
  expect(await apply(JOB, refused, refused).rejection).toMatchObject({
    reason: 'Rejected',
    message: expect.stringContaining('no Jobs today'),
  });
});

test('applies an object of the cluster again', async () => {
  const existing = { metadata: { ownerReferences: [{ uid: 'u' }] } };
  const { calls, rejection } = apply(JOB, undefined, existing);
  expect(await rejection).toBeUndefined();
  expect(calls).toHaveLength(1);
});

test('does not show the template in the message', async () => {
  const message = 'spec.template: Invalid value: {"env":"hunter2"}: field is immutable';
  expect((await apply(JOB, errorOf(422, message)).rejection)?.message).not.toContain('hunter2');
});

test.each([
  ['an unavailable apiserver', errorOf(503, 'busy')],
  [
    'a request without an answer',
    new FluxqError('FLUXQ_KUBERNETES_TIMEOUT', 'no answer', { retryable: true }),
  ],
])('throws for %s', async (_, error) => {
  await expect(apply(JOB, error).rejection).rejects.toBe(error);
});

test('throws for a kind that the controller cannot write', async () => {
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'hello' } };
  await expect(apply(role).rejection).rejects.toMatchObject({ code: 'FLUXQ_MINICLUSTER_KIND' });
});
