import { checkReadApi } from '../../../runtime/cli/doctor/read-api';
import { fakeContext } from './fake-context';
import { ago, metadata } from './objects';

const PATH = '/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.queue.converged-computing.org';
const service = (...conditions: object[]) =>
  fakeContext({
    [PATH]: { metadata: metadata('v1alpha1.queue.converged-computing.org'), status: { conditions } },
  });
const down = (message: string) => ({
  type: 'Available',
  status: 'False',
  reason: 'FailedDiscoveryCheck',
  message,
  lastTransitionTime: ago(300),
});

test('a stack without the read API has no finding about it', async () => {
  expect(await checkReadApi(fakeContext({}))).toEqual([]);
});

test('an API that answers is ok', async () => {
  expect(await checkReadApi(service({ type: 'Available', status: 'True' }))).toMatchObject([{ level: 'ok' }]);
});

test('an API without a server says what that means for namespaces', async () => {
  expect(await checkReadApi(service(down('connection refused')))).toEqual([
    {
      level: 'error',
      message:
        'the apiserver does not reach the server of the read API since 5 min (FailedDiscoveryCheck: connection refused): questions are not answered, and no namespace of the cluster is deleted completely',
      remedy:
        'see that the pods of fluxqueue-reader are Ready: kubectl -n fluxqueue-system get pods -l app.kubernetes.io/component=reader; without them: kubectl delete apiservice v1alpha1.queue.converged-computing.org',
    },
  ]);
});

test('an apiserver without a certificate for other API servers is told its flags', async () => {
  const [finding] = await checkReadApi(service(down('bad status from https://10.0.0.1: 401')));
  expect(finding?.remedy).toContain('--proxy-client-cert-file');
});

test('an API that the apiserver has not asked yet does not answer', async () => {
  expect(await checkReadApi(service())).toMatchObject([
    { level: 'error', message: expect.stringContaining('(the apiserver has not checked it yet)') },
  ]);
});
