import { USER_ANNOTATION } from '../../constructs/api/labels';
import { recordUser } from '../../runtime/admission/user';

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
