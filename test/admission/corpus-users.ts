/** Entries of the corpus: the user who creates the workload, and the user that its annotation claims. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import type { Entry, ExpectedOutcome } from './corpus-objects';

type Make = (spec?: Record<string, unknown>, metadata?: Record<string, unknown>) => KubeObject;

const USERS: readonly (readonly [description: string, as: string])[] = [
  ['a user', 'ada@example.com'],
  ["a ServiceAccount of a user's namespace", 'system:serviceaccount:science:builder'],
  ['Flux CD', 'system:serviceaccount:flux-system:kustomize-controller'],
  ['Argo CD from another cluster', 'system:serviceaccount:kube-system:argocd-manager'],
  ['the CronJob controller', 'system:serviceaccount:kube-system:cronjob-controller'],
  ['the controller manager', 'system:kube-controller-manager'],
  ['a kubelet', 'system:node:node-0'],
  ['an anonymous user', 'system:anonymous'],
];

export const USER_ENTRIES = (job: Make, pod: Make): readonly Entry[] =>
  USERS.flatMap(([description, as]) => [
    ...entries(job, { is: 'suspended' }, description, as),
    ...entries(pod, { is: 'gated' }, description, as),
  ]);

function entries(make: Make, expectedOutcome: ExpectedOutcome, description: string, as: string): Entry[] {
  const claim = { [USER_ANNOTATION]: 'another-user' };
  return [
    { title: `created by ${description}`, object: make(), expectedOutcome, as },
    {
      title: `created by ${description}, with another annotation`,
      object: make({}, { annotations: { note: 'x' } }),
      expectedOutcome,
      as,
    },
    {
      title: `created by ${description}, claiming another user`,
      object: make({}, { annotations: claim }),
      expectedOutcome,
      as,
    },
  ];
}
