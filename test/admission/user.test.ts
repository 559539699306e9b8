import { USER_ANNOTATION } from '../../constructs/api/labels';
import { markUser } from '../../runtime/admission/user';

const PATH = '/metadata/annotations/fluxqueue~1user';
const CLAIM = { annotations: { [USER_ANNOTATION]: 'bob', note: 'x' } };

test.each(['ada', 'oidc:ada@example.com', 'system:serviceaccount:science:builder'])('%s is noted', (name) => {
  expect(markUser(undefined, name)).toEqual([
    { op: 'add', path: '/metadata/annotations', value: { [USER_ANNOTATION]: name } },
  ]);
  expect(markUser({ annotations: {} }, name)).toEqual([{ op: 'add', path: PATH, value: name }]);
  expect(markUser(CLAIM, name)).toEqual([{ op: 'add', path: PATH, value: name }]);
});

test.each([
  'system:serviceaccount:kube-system:cronjob-controller',
  'system:kube-controller-manager',
  'system:node:node-0',
  '',
])('%j is nobody, and what was claimed goes', (name) => {
  expect(markUser(undefined, name)).toEqual([]);
  expect(markUser({ annotations: {} }, name)).toEqual([]);
  expect(markUser(CLAIM, name)).toEqual([{ op: 'remove', path: PATH }]);
});

test('what is noted already is not written again', () => {
  expect(markUser(CLAIM, 'bob')).toEqual([]);
});
