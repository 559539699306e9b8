/** Attacks on workload kinds by Jobs and pods that claim to be made for one of their objects. */
import { JOBID_ANNOTATION, OWNER_ANNOTATION } from '../../constructs/api/labels';
import { type Attack, type CONTAINED, type Role, refusedTo } from './attack';
import { container, create, job, patch } from './objects';

const UID = '6f1d2a0e-0000-4000-8000-000000000001';
const claim = { annotations: { [OWNER_ANNOTATION]: `JobSet/train/${UID}` } };
const owned = {
  ownerReferences: [
    { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train', uid: UID, controller: true },
  ],
};
const contained = (role: Role, name: string, metadata: object, what: keyof typeof CONTAINED): Attack => ({
  name,
  role,
  act: create('Pod', 'x', { metadata, spec: { containers: [container()] } }),
  holds: { contained: what },
});

/** The place of a JobSet would be its node and its units. */
export const KIND_ATTACKS: readonly Attack[] = [
  ...(['editor', 'pod creator'] as const).flatMap((role) => [
    contained(role, 'a Pod that claims to be made for a JobSet', claim, 'the Pod is made for nobody'),
    contained(role, 'a Pod with a JobSet as its owner, without the gate', owned, 'the Pod is gated'),
    refusedTo(role)(
      'a Pod with a JobSet as its owner and the job id of its grant',
      create('Pod', 'x', {
        metadata: { ...owned, annotations: { [JOBID_ANNOTATION]: '1' } },
        spec: { containers: [container()] },
      }),
      'FLUXQ_RESERVED',
    ),
    refusedTo(role)(
      'a gated Pod that claims to be made for a JobSet',
      patch('Pod', 'gated', { metadata: claim }),
      'FLUXQ_RESERVED',
    ),
  ]),
  {
    name: 'a Job whose pods claim to be made for a JobSet',
    role: 'editor',
    act: create('Job', 'x', { spec: job({}, {}, claim) }),
    // By the webhook, or by the guard of what is reserved.
    holds: { refused: ['FLUXQ_RESERVED', 'FLUXQ_SETTING_INVALID'] },
  },
  refusedTo('controller token')(
    'a gated Pod for which another owner is noted',
    patch('Pod', 'gated', { metadata: claim }),
    'FLUXQ_RESERVED',
  ),
];
