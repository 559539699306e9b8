import { GITOPS_USERS } from '../../constructs/api/gitops-users';
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { noteOtherJob, recordUser } from '../../runtime/admission/user';

const PATH = '/metadata/annotations/fluxqueue~1user';
const CLAIM = { annotations: { [USER_ANNOTATION]: 'bob', note: 'x' } };

test.each(['ada', 'oidc:ada@example.com', 'system:serviceaccount:science:builder'])(
  '%s is recorded',
  (name) => {
    expect(recordUser(undefined, name)).toEqual([
      { op: 'add', path: '/metadata/annotations', value: { [USER_ANNOTATION]: name } },
    ]);
    expect(recordUser({ annotations: {} }, name)).toEqual([{ op: 'add', path: PATH, value: name }]);
    expect(recordUser(CLAIM, name)).toEqual([{ op: 'add', path: PATH, value: name }]);
  },
);

test.each([
  'system:serviceaccount:kube-system:cronjob-controller',
  'system:kube-controller-manager',
  'system:node:node-0',
  '',
])('%j is a controller, and a claimed user is removed', (name) => {
  expect(recordUser(undefined, name)).toEqual([]);
  expect(recordUser({ annotations: {} }, name)).toEqual([]);
  expect(recordUser(CLAIM, name)).toEqual([{ op: 'remove', path: PATH }]);
});

test('a user that is recorded already is not written again', () => {
  expect(recordUser(CLAIM, 'bob')).toEqual([]);
});

const OWNED = {
  ...CLAIM,
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'owner', uid: 'uid-owner', controller: true },
  ],
};

test.each(GITOPS_USERS)('%s applies what others wrote, and Git cannot claim a user', (name) => {
  expect(recordUser({ annotations: {} }, name)).toEqual([]);
  expect(recordUser(CLAIM, name)).toEqual([{ op: 'remove', path: PATH }]);
  expect(recordUser(OWNED, name)).toEqual([{ op: 'remove', path: PATH }]);
});

test('another engine of GitOps is given by its name', () => {
  expect(recordUser(CLAIM, 'deployer', { gitOpsUsers: ['deployer'] })).toEqual([
    { op: 'remove', path: PATH },
  ]);
  expect(recordUser({ annotations: {} }, GITOPS_USERS[0]!, { gitOpsUsers: ['deployer'] })).toEqual([
    { op: 'add', path: PATH, value: GITOPS_USERS[0] },
  ]);
});

test('of what a controller of Kubernetes makes for a TrainJob, whose user writes its metadata, no user is believed', () => {
  const owner = {
    apiVersion: 'trainer.kubeflow.org/v1alpha1',
    kind: 'TrainJob',
    name: 'x',
    uid: 'x',
    controller: true,
  };
  expect(
    recordUser({ ...CLAIM, ownerReferences: [owner] }, 'system:serviceaccount:kube-system:trainer'),
  ).toEqual([{ op: 'remove', path: PATH }]);
});

test('the user of a template stays with what a controller of Kubernetes creates from it', () => {
  for (const name of [
    'system:serviceaccount:kube-system:replicaset-controller',
    'system:kube-controller-manager',
  ])
    expect(recordUser(OWNED, name)).toEqual([]);
  expect(recordUser(OWNED, 'system:node:node-0')).toEqual([{ op: 'remove', path: PATH }]);
  expect(recordUser(OWNED, 'ada')).toEqual([{ op: 'add', path: PATH, value: 'ada' }]);
});

test('the user of a MiniCluster stays with the Job that the runtime creates', () => {
  const runtime = 'system:serviceaccount:fluxqueue-system:fluxqueue-controller';
  expect(recordUser(CLAIM, runtime, { controllerUsers: [runtime] })).toEqual([]);
  expect(recordUser(undefined, runtime, { controllerUsers: [runtime] })).toEqual([]);
});

test('nothing is believed of what an account of kube-system creates for an owner that admission has not judged', () => {
  for (const [apiVersion, kind] of [
    ['example.com/v1', 'ReplicaSet'],
    ['kubeflow.org/v1', 'PyTorchJob'],
  ] as const) {
    const metadata = {
      ...CLAIM,
      ownerReferences: [{ apiVersion, kind, name: 'owner', uid: 'uid-owner', controller: true }],
    };
    expect(recordUser(metadata, 'system:serviceaccount:kube-system:operator')).toEqual([
      { op: 'remove', path: PATH },
    ]);
  }
  const notTheController = {
    ...OWNED,
    ownerReferences: [{ ...OWNED.ownerReferences[0]!, controller: false }],
  };
  expect(recordUser(notTheController, 'system:kube-controller-manager')).toEqual([
    { op: 'remove', path: PATH },
  ]);
});

test('a Job that admission leaves alone names nobody but its creator', () => {
  const named = (username: string) =>
    noteOtherJob(CLAIM, {}, username).filter(({ path }) => path.startsWith('/metadata/'));
  expect(named('ada')).toEqual([{ op: 'add', path: PATH, value: 'ada' }]);
  expect(named('system:kube-controller-manager')).toEqual([{ op: 'remove', path: PATH }]);
  expect(noteOtherJob({ annotations: { note: 'x' } }, {}, 'ada')).toHaveLength(1);
});
