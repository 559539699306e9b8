/** What a Job gets past admission by naming an object of a workload kind as its owner, which need not exist. */
import { COMPLETION_INDEX_ANNOTATION, GROUP_MEMBER_ANNOTATION } from '../../constructs/api/labels';
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

export const OWNER_ATTACKS: readonly Attack[] = Object.entries(OF_PODS).flatMap(
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
