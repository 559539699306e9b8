/** Entries of the corpus: users that create workloads, and users that the workloads claim. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { type Entry, type ExpectedOutcome, job, pod } from './objects';

type Make = typeof job | typeof pod;

const USERS: readonly (readonly [title: string, as: string])[] = [
  ['a user', 'ada@example.com'],
  ["a ServiceAccount of a user's namespace", 'system:serviceaccount:science:builder'],
  ['the CronJob controller', 'system:serviceaccount:kube-system:cronjob-controller'],
  ['the controller manager', 'system:kube-controller-manager'],
  ['a kubelet', 'system:node:node-0'],
  ['an anonymous user', 'system:anonymous'],
];

export const USER_ENTRIES: readonly Entry[] = USERS.flatMap(([user, as]) => [
  ...entries(job, { is: 'suspended' }, user, as),
  ...entries(pod, { is: 'gated' }, user, as),
]);

function entries(make: Make, expectedOutcome: ExpectedOutcome, user: string, as: string): Entry[] {
  const claim = { [USER_ANNOTATION]: 'somebody-else' };
  return [
    { title: `created by ${user}`, object: make(), expectedOutcome, as },
    {
      title: `created by ${user}, with another annotation`,
      object: make({}, { annotations: { note: 'x' } }),
      expectedOutcome,
      as,
    },
    {
      title: `created by ${user}, with a claim of another user`,
      object: make({}, { annotations: claim }),
      expectedOutcome,
      as,
    },
  ];
}
