/** What a Job gets past admission by naming an object of a workload kind as its owner, which need not exist. */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  DEADLINE_ANNOTATION,
  GROUP_MEMBER_ANNOTATION,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
  QUEUED_BY_ANNOTATION,
} from '../../constructs/api/labels';
import type { Attack } from './attack';
import { create, job, patch } from './objects';

const OF_A_JOBSET = {
  ownerReferences: [
    {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      name: 'x',
      uid: '6f1d2a0e-0000-4000-8000-000000000001',
      controller: true,
    },
  ],
};

const OF_PODS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'the index of a pod': { [COMPLETION_INDEX_ANNOTATION]: '0' },
  'the place of a pod in a group': { [GROUP_MEMBER_ANNOTATION]: 'group-x/y' },
};

const SET_BY_QUEUE = [
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  GROUP_MEMBER_ANNOTATION,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
  QUEUED_BY_ANNOTATION,
];

/** Rules that compare values take an empty one for none, and whoever asks for the key finds it. */
const VALUELESS: readonly Attack[] = SET_BY_QUEUE.flatMap((key): readonly Attack[] => [
  // Admission writes the owner there, and the webhook removes the name of another queue.
  ...(key === OWNER_ANNOTATION
    ? []
    : [
        {
          name: `${key} without a value in the template of a Job that names a JobSet as its owner`,
          role: 'editor' as const,
          act: create('Job', 'x', {
            metadata: OF_A_JOBSET,
            spec: job({}, {}, { annotations: { [key]: '' } }),
          }),
          holds: {
            refused: 'FLUXQ_RESERVED',
            ...(key === QUEUED_BY_ANNOTATION && { contained: 'no other queue has its pods' as const }),
          },
        },
      ]),
  {
    name: `${key} without a value in the template of a Job that waits`,
    role: 'editor',
    act: patch('Job', 'waiting', { spec: { template: { metadata: { annotations: { [key]: '' } } } } }),
    holds: { refused: ['FLUXQ_RESERVED', 'FLUXQ_SETTING_INVALID'] },
  },
  {
    name: `${key} without a value in a Pod that runs`,
    role: 'editor',
    act: patch('Pod', 'released', { metadata: { annotations: { [key]: '' } } }),
    holds: { refused: 'FLUXQ_RESERVED' },
  },
]);

const OWNERS: readonly Attack[] = Object.entries(OF_PODS).flatMap(
  ([what, annotations]): readonly Attack[] => [
    {
      name: `${what} in the template of a Job that names a JobSet as its owner`,
      role: 'editor',
      act: create('Job', 'x', {
        metadata: OF_A_JOBSET,
        spec: job({}, { parallelism: 2, completions: 2, suspend: true }, { annotations }),
      }),
      holds: { refused: 'FLUXQ_RESERVED' },
    },
    {
      name: `${what} in the template of a Job that waits, together with such an owner`,
      role: 'editor',
      act: patch('Job', 'waiting', {
        metadata: OF_A_JOBSET,
        spec: { template: { metadata: { annotations } } },
      }),
      holds: { refused: ['FLUXQ_RESERVED', 'FLUXQ_SETTING_INVALID'] },
    },
  ],
);

export const OWNER_ATTACKS: readonly Attack[] = [...OWNERS, ...VALUELESS];
