/** Attacks with the token of the scheduler, which a stack with `scheduler: true` has: what Kubernetes' own role leaves it is in docs/security.md. */
import { PRIORITY, STACK_NAMESPACE, USER_ANNOTATION } from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack, PLAIN, refusedTo } from './attack';
import { container, create, job, patch, pathTo, remove } from './objects';

const by = refusedTo('scheduler token');
const RBAC = 'forbidden: User';
const RESERVED = 'FLUXQ_RESERVED';
const ROOT = { annotations: { [USER_ANNOTATION]: 'root' } };
const bind = (name: string, metadata: object = {}, namespace = ALPHA): Act => ({
  verb: 'POST',
  path: pathTo('Pod', namespace, name, 'binding'),
  body: {
    ...{ apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'node-0' } },
    metadata: { name, namespace, ...metadata },
  },
});
const status = (body: object) => patch('Pod', 'gated', body, ALPHA, 'status');

export const SCHEDULER_ATTACKS: readonly Attack[] = [
  by('a node for a Pod that waits', bind('gated'), 'schedulingGates'),
  by('another user with the node of a Pod', bind('free', ROOT, PLAIN), RESERVED),
  by(
    'the highest priority by the status of a Pod',
    status({ metadata: { labels: { [PRIORITY]: '1000000' } } }),
    RESERVED,
  ),
  by('another user by the status of a Pod', status({ metadata: ROOT }), RESERVED),
  by('the units of a Pod by its status', status({ status: { phase: 'Failed' } }), RESERVED),
  by('the start of a Pod that waits', patch('Pod', 'gated', { spec: { schedulingGates: null } }), RBAC),
  by('the start of a Job', patch('Job', 'waiting', { spec: { suspend: false } }), RBAC),
  by('a Job', create('Job', 'x', { spec: job() }), RBAC),
  by('a Pod', create('Pod', 'x', { spec: { containers: [container()] } }), RBAC),
  by('the Secrets of a namespace', { verb: 'GET', path: pathTo('Secret', ALPHA) }, RBAC),
  by('the Secrets of the stack', { verb: 'GET', path: pathTo('Secret', STACK_NAMESPACE) }, RBAC),
  by(
    'the token of the controller',
    {
      verb: 'POST',
      path: `/api/v1/namespaces/${STACK_NAMESPACE}/serviceaccounts/fluxqueue-controller/token`,
      body: {},
    },
    RBAC,
  ),
  by('a Job that is deleted', remove('Job', 'waiting'), RBAC),
  by('a larger quota', patch('FluxSetup', 'team', { spec: {} }, 'beta'), RBAC),
  by(
    'more rights',
    { verb: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', body: {} },
    RBAC,
  ),
];
