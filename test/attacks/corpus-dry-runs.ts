/** Attacks with the controller's right to create pods, which is one to dry runs. */
import { ALPHA, type Attack, PLAIN, refusedTo } from './attack';
import { apply, container, create, pathTo, ROOT } from './objects';

const by = refusedTo('controller token');
const RESERVED = 'FLUXQ_RESERVED';
const RBAC = 'forbidden: User';

/** A pod that is stored if nothing refuses it. */
const storedPod = (name: string, make: typeof create, namespace = ALPHA): Attack => ({
  ...by(name, make('Pod', 'x', { spec: { containers: [container()], ...ROOT } }, namespace), RESERVED),
  outcome: pathTo('Pod', namespace, 'x'),
});

/** It creates pods as a dry run only, and only where the queue is. */
export const DRY_RUN_ATTACKS: readonly Attack[] = [
  storedPod('a Pod', create),
  storedPod('a Pod in kube-system', create, 'kube-system'),
  storedPod('a Pod in a namespace outside the queue', create, PLAIN),
  storedPod('a Pod by an apply', apply),
  by(
    'a dry run of a Pod in kube-system',
    create('Pod', 'x', { spec: { containers: [container()] } }, 'kube-system'),
    RESERVED,
  ),
  by(
    'a dry run of a Pod in a namespace outside the queue',
    create('Pod', 'x', { spec: { containers: [container()] } }, PLAIN),
    RESERVED,
  ),
  by(
    'a node for a gated Pod by a Binding',
    {
      verb: 'POST',
      path: pathTo('Pod', ALPHA, 'gated', 'binding'),
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'gated' }, target: { name: 'node-0' } },
    },
    RBAC,
  ),
];
