import { checkDatabase, fluxionFindings, unproven } from '../../../runtime/cli/doctor/backends';
import { fakeContext } from './fake-context';
import { ago, metadata, stackPod } from './objects';

const PROOF = {
  holderIdentity: 'controller-1_uid-of-controller-1_9f',
  namespace: 'fluxqueue-system',
  what: 'the database',
};

test('a Ready leader proves that the database and Fluxion answer', () => {
  expect(unproven([stackPod('controller-1', 'controller')], PROOF)).toBeUndefined();
});

test('a leader that is not Ready, or no leader, proves nothing', () => {
  const conditions = [{ type: 'Ready', status: 'False' as const }];
  expect(unproven([stackPod('controller-1', 'controller', { conditions })], PROOF)).toEqual({
    level: 'warning',
    message: 'the leader controller-1 is not Ready, so nothing shows whether the database answers',
    remedy: 'read: kubectl -n fluxqueue-system logs controller-1 -c controller',
  });
  expect(unproven([stackPod('controller-2', 'controller')], PROOF)?.message).toMatch(/^no pod of the stack/);
});

const SIDECAR = { address: 'unix:/run/fluxion/fluxion.sock', engine: 'library' };
const withSidecar = (ready: boolean) => [
  stackPod('controller-1', 'controller', { containerStatuses: [{ name: 'fluxion', ready }] }),
];

test('Fluxion is embedded, or its containers are ready', () => {
  expect(fluxionFindings({ ...SIDECAR, address: 'embedded' }, [], undefined)).toMatchObject([
    { level: 'ok' },
  ]);
  expect(fluxionFindings(SIDECAR, withSidecar(true), undefined)).toMatchObject([
    { message: 'Fluxion (library) at unix:/run/fluxion/fluxion.sock answers the leader, which is Ready' },
  ]);
  expect(fluxionFindings(SIDECAR, withSidecar(false), undefined)).toMatchObject([
    { level: 'error', remedy: 'read: kubectl -n fluxqueue-system logs controller-1 -c fluxion' },
  ]);
});

const IN_STACK = '/namespaces/fluxqueue-system';
const SECRET = `/api/v1${IN_STACK}/secrets/own`;
const CLUSTER = {
  [`/apis/apps/v1${IN_STACK}/deployments`]: [
    {
      metadata: metadata('fluxqueue-controller'),
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: 'controller',
                env: [
                  { name: 'FLUXQUEUE_database_secret_name', value: 'own' },
                  { name: 'FLUXQUEUE_database_secret_key', value: 'uri' },
                ],
              },
            ],
          },
        },
      },
    },
  ],
  [`/api/v1${IN_STACK}/pods`]: [stackPod('controller-1', 'controller')],
  [`/apis/coordination.k8s.io/v1${IN_STACK}/leases/fluxqueue-controller`]: {
    metadata: metadata('fluxqueue-controller'),
    spec: { holderIdentity: PROOF.holderIdentity, renewTime: ago(1) },
  },
};
const withKeys = (data: object) => fakeContext({ ...CLUSTER, [SECRET]: { metadata: metadata('own'), data } });

test('the database has its URL in the Secret that the controller reads', async () => {
  expect(await checkDatabase(withKeys({ uri: 'eA==' }))).toEqual([
    { level: 'ok', message: 'Secret own has the URL, and the leader, which is Ready, reaches it' },
  ]);
  const missing = {
    level: 'error',
    message: 'Secret own in fluxqueue-system has no URL of the database in its key uri: no controller starts',
  };
  expect(await checkDatabase(withKeys({ url: 'eA==' }))).toMatchObject([missing]);
  expect(await checkDatabase(fakeContext(CLUSTER))).toMatchObject([missing]);
});

test('a Secret that its user may not read is not judged', async () => {
  await expect(checkDatabase(fakeContext({ ...CLUSTER, [SECRET]: 403 }))).rejects.toThrow(
    'FLUXQ_KUBERNETES_FORBIDDEN',
  );
});
