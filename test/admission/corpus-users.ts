/** Entries of the corpus: who made the workload, and who claims to. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import type { Entry, ExpectedOutcome } from './corpus';

type Make = (spec?: Record<string, unknown>, metadata?: Record<string, unknown>) => KubeObject;

const WHO: readonly (readonly [who: string, as: string])[] = [
  ['a user', 'ada@example.com'],
  ["a ServiceAccount of a user's namespace", 'system:serviceaccount:science:builder'],
  ['the CronJob controller', 'system:serviceaccount:kube-system:cronjob-controller'],
  ['the controller manager', 'system:kube-controller-manager'],
  ['a kubelet', 'system:node:node-0'],
  ['nobody', 'system:anonymous'],
];

export const USER_ENTRIES = (job: Make, pod: Make): readonly Entry[] =>
  WHO.flatMap(([who, as]) => [
    ...entries(job, { is: 'suspended' }, who, as),
    ...entries(pod, { is: 'gated' }, who, as),
  ]);

function entries(make: Make, expectedOutcome: ExpectedOutcome, who: string, as: string): Entry[] {
  const claim = { [USER_ANNOTATION]: 'somebody-else' };
  return [
    { title: `made by ${who}`, object: make(), expectedOutcome, as },
    {
      title: `made by ${who}, with a note`,
      object: make({}, { annotations: { note: 'x' } }),
      expectedOutcome,
      as,
    },
    {
      title: `made by ${who}, claiming another user`,
      object: make({}, { annotations: claim }),
      expectedOutcome,
      as,
    },
  ];
}
