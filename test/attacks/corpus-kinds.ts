/** Attacks on workload kinds by Jobs and pods that claim to be made for one of their objects. */
import { JOBID_ANNOTATION, OWNER_ANNOTATION } from '../../constructs/api/labels';
import { WORKLOAD_KINDS, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { apiVersionOf } from '../../runtime/kubernetes/kind-fields';
import { type Attack, type CONTAINED, type Role, refusedTo } from './attack';
import { container, create, job, patch } from './objects';

const UID = '6f1d2a0e-0000-4000-8000-000000000001';
const contained = (role: Role, name: string, metadata: object, what: keyof typeof CONTAINED): Attack => ({
  name,
  role,
  act: create('Pod', 'x', { metadata, spec: { containers: [container()] } }),
  holds: { contained: what },
});

/** The place of an object would be its node and its units. */
export const KIND_ATTACKS: readonly Attack[] = WORKLOAD_KINDS.flatMap(attacksOn);

function attacksOn(held: WorkloadKind): readonly Attack[] {
  const { kind } = held;
  const claim = { annotations: { [OWNER_ANNOTATION]: `${kind}/train/${UID}` } };
  const owner = { apiVersion: apiVersionOf(held), kind, name: 'train', uid: UID, controller: true };
  const owned = { ownerReferences: [owner] };
  const labelled = { ...owned, labels: { [held.podSetLabel]: 'worker' } };
  return [
    ...(['editor', 'pod creator'] as const).flatMap((role) => [
      contained(role, `a Pod that claims to be made for a ${kind}`, claim, 'the Pod is made for nobody'),
      contained(role, `a Pod with a ${kind} as its owner, without the gate`, owned, 'the Pod is gated'),
      contained(role, `a Pod of a pod set of a ${kind}, without the gate`, labelled, 'the Pod is gated'),
      refusedTo(role)(
        `a Pod with a ${kind} as its owner and the job id of its grant`,
        create('Pod', 'x', {
          metadata: { ...owned, annotations: { [JOBID_ANNOTATION]: '1' } },
          spec: { containers: [container()] },
        }),
        'FLUXQ_RESERVED',
      ),
      refusedTo(role)(
        `a gated Pod that claims to be made for a ${kind}`,
        patch('Pod', 'gated', { metadata: claim }),
        'FLUXQ_RESERVED',
      ),
    ]),
    {
      name: `a Job whose pods claim to be made for a ${kind}`,
      role: 'editor',
      act: create('Job', 'x', { spec: job({}, {}, claim) }),
      // By the webhook, or by the guard of what is reserved.
      holds: { refused: ['FLUXQ_RESERVED', 'FLUXQ_SETTING_INVALID'] },
    },
    refusedTo('controller token')(
      `a gated Pod for which a ${kind} is noted as another owner`,
      patch('Pod', 'gated', { metadata: claim }),
      'FLUXQ_RESERVED',
    ),
  ];
}
