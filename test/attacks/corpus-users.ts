/** Attacks of users: those with `edit`, those of another namespace, ServiceAccounts, and creators of Pods or MiniClusters only. */
import {
  ADMITTED_LABEL,
  APPLYING_LABEL,
  ASSIGNMENT_ANNOTATION,
  GATE,
  JOBID_ANNOTATION,
  PRIORITY_CLASS,
  SCHEDULER_NAME,
  USER_ANNOTATION,
  WALLTIME,
} from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack, BETA, type CONTAINED, PLAIN, type Role, STRICT } from './attack';
import { apply, container, create, job, type Made, patch, pathTo, ROOT, remove } from './objects';

const as =
  (role: Role) =>
  (name: string, act: Act, refused: string): Attack => ({ name, role, act, holds: { refused } });
const unchanged = (name: string, spec: object): Attack => ({
  name,
  role: 'editor',
  act: patch('Job', 'running', { spec }),
  holds: { refused: 'FLUXQ_RELEASED', contained: 'the grant is unchanged' },
});
const contained = (role: Role, name: string, act: Act, what: keyof typeof CONTAINED): Attack => ({
  name,
  role,
  act,
  holds: { contained: what },
});
const editor = as('editor');
const RESERVED = 'FLUXQ_RESERVED';
const HELD = 'FLUXQ_HELD';
const RBAC = 'forbidden: User';
const RIGHTS = 'FLUXQ_RIGHTS';

const pod = (spec: object, metadata: object = {}, namespace = ALPHA): Act =>
  create('Pod', 'x', { metadata, spec: { containers: [container()], ...spec } }, namespace);
const newJob = (more: Made = {}, namespace = ALPHA): Act =>
  create('Job', 'x', { spec: job(), ...more }, namespace);
const owner = (apiVersion: string, kind: string) => ({
  ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'no-such-uid', controller: true }],
});
const annotated = (key: string, value: string | null) => ({ metadata: { annotations: { [key]: value } } });
const labelled = (key: string, value: string | null) => ({ metadata: { labels: { [key]: value } } });
const ungate = patch('Pod', 'gated', { spec: { schedulingGates: [{ name: 'mine' }] } });

/** Attempts to start without a grant, or to look as if there was one. */
const STARTS: readonly Attack[] = (['editor', 'account'] as const).flatMap((role) => [
  contained(
    role,
    'the start of a waiting Job',
    patch('Job', 'waiting', { spec: { suspend: false } }),
    'the Job is suspended',
  ),
  contained(
    role,
    'the start of a waiting Job without what admission wrote',
    patch('Job', 'waiting', { metadata: { labels: null, annotations: null }, spec: { suspend: false } }),
    'the Job is suspended',
  ),
  contained(
    role,
    'the start of a waiting Job by server-side apply',
    apply('Job', 'waiting', { spec: { ...job(), suspend: false } }),
    'the Job is suspended',
  ),
  as(role)('the start of a gated Pod', ungate, HELD),
  contained(
    role,
    'a Job that is not suspended',
    newJob({ spec: job({}, { suspend: false }) }),
    'the Job is suspended',
  ),
  contained(role, 'a Pod without the gate', pod({}), 'the Pod is gated'),
  as(role)('a Pod on a node of its choice', pod({ nodeName: 'node-0' }), RESERVED),
]);

const CLAIMS: readonly Attack[] = [
  contained(
    'editor',
    'a Job that leaves the queue',
    patch('Job', 'waiting', labelled(ADMITTED_LABEL, null)),
    'the Job is admitted',
  ),
  contained(
    'editor',
    'a running Job that leaves the queue',
    patch('Job', 'running', { metadata: { labels: null, annotations: null } }),
    'the Job is admitted',
  ),
  editor(
    'an assignment in the template of a waiting Job',
    patch('Job', 'waiting', {
      spec: { template: annotated(ASSIGNMENT_ANNOTATION, '0/1:node-9') },
    }),
    RESERVED,
  ),
  editor('a Pod that leaves the queue', patch('Pod', 'gated', labelled(ADMITTED_LABEL, null)), RESERVED),
  editor(
    'a Job that claims to be admitted',
    newJob({ spec: job({}, { suspend: true }), ...labelled(ADMITTED_LABEL, 'true') }, PLAIN),
    RESERVED,
  ),
  editor(
    'an assignment of a Job',
    patch('Job', 'waiting', annotated(ASSIGNMENT_ANNOTATION, '0/1:node-0')),
    RESERVED,
  ),
  editor(
    'an assignment in a template',
    newJob({ spec: job({}, {}, { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-0' } }) }),
    RESERVED,
  ),
  editor(
    'an assignment of a Pod',
    pod({}, { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-0' } }),
    RESERVED,
  ),
  editor(
    'a job id that exhausts the numbers',
    newJob({ spec: job({}, {}, { annotations: { [JOBID_ANNOTATION]: '9007199254740991' } }) }),
    RESERVED,
  ),
  editor(
    'an invalid setting beside an empty assignment',
    pod({}, { annotations: { [ASSIGNMENT_ANNOTATION]: '', [WALLTIME]: 'soon' } }),
    'FLUXQ_SETTING_INVALID',
  ),
  contained(
    'editor',
    "another's name on a Job",
    patch('Job', 'waiting', annotated(USER_ANNOTATION, 'root')),
    'the user is not root',
  ),
  contained(
    'editor',
    "another's name on a new Job",
    newJob(annotated(USER_ANNOTATION, 'root')),
    'the user is mallory',
  ),
  editor(
    'a Pod that mirrors a static one',
    pod({ nodeName: 'node-0' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    RESERVED,
  ),
  editor('a Pod of a DaemonSet', pod({}, owner('apps/v1', 'DaemonSet')), RESERVED),
  contained('editor', 'a Pod of a Job', pod({}, owner('batch/v1', 'Job')), 'the Pod is gated'),
  editor(
    'the scheduler of the queue without the queue',
    pod({ schedulerName: SCHEDULER_NAME }, {}, PLAIN),
    RESERVED,
  ),
  editor('the PriorityClass of the stack', pod({ priorityClassName: PRIORITY_CLASS }, {}, PLAIN), RESERVED),
  unchanged('more pods of a released Job', { parallelism: 9 }),
  editor('the quota of its namespace', create('FluxSetup', 'x', { spec: {} }), RBAC),
  editor('the record of a workload', patch('FluxJob', 'waiting-job', { spec: {} }), RBAC),
  editor('the record of a workload that is deleted', remove('FluxJob', 'waiting-job'), RBAC),
  editor(
    'the label of its namespace',
    { verb: 'PATCH', path: `/api/v1/namespaces/${ALPHA}`, body: labelled('fluxqueue/enabled', 'false') },
    RBAC,
  ),
  editor(
    'the status of its MiniCluster',
    patch('MiniCluster', 'tame', { status: { phase: 'Finished' } }, ALPHA, 'status'),
    RBAC,
  ),
];

/** Attempts to cost others more than a workload may. */
const names = (count: number) => Array.from({ length: count }, (_, i) => `job-${i}`).join(',');
const terms = (count: number) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: Array.from({ length: count }, (_, i) => ({
          matchExpressions: [{ key: `label-${i}`, operator: 'Exists' }],
        })),
      },
    },
  },
});
const COSTS: readonly Attack[] = [
  editor('8,000 selector terms of a Job', newJob({ spec: job(terms(8000)) }), 'FLUXQ_TOO_LARGE'),
  editor('8,000 selector terms of a Pod', pod(terms(8000)), 'FLUXQ_TOO_LARGE'),
  editor('25,000 dependencies', newJob(annotated('fluxqueue/after', names(25_000))), 'FLUXQ_SETTING_INVALID'),
  editor(
    'writes that are compared with thousands of its MiniClusters',
    patch('MiniCluster', 'wide', labelled(APPLYING_LABEL, 'yes')),
    RESERVED,
  ),
  editor(
    'a walltime of nonsense',
    newJob(annotated('fluxqueue/walltime', '9'.repeat(400))),
    'FLUXQ_SETTING_INVALID',
  ),
];

/** Attempts to leave what the queue allows: its queues, priorities, settings and walltimes. */
const RULE_ATTACKS: readonly Attack[] = [
  {
    name: "the stack's own queue in a namespace with a FluxSetup",
    role: 'editor',
    act: create('Job', 'leaver', { spec: job(), ...labelled('fluxqueue/queue', 'default') }, BETA),
    outcome: pathTo('FluxJob', BETA, 'leaver-job'),
    holds: { refused: 'FLUXQ_', contained: "the queue is not the stack's" },
  },
  editor('the highest priority', newJob(labelled('fluxqueue/priority', '2147483647')), 'FLUXQ_'),
  editor('an unknown setting', newJob(labelled('fluxqueue/pirority', '1')), 'FLUXQ_'),
  editor(
    'a setting on a template',
    newJob({ spec: job({}, {}, { labels: { 'fluxqueue/walltime': '1h' } }) }),
    'FLUXQ_',
  ),
  unchanged('a longer walltime of a released Job', { activeDeadlineSeconds: 864_000 }),
  unchanged('a released Job without a walltime', { activeDeadlineSeconds: null }),
];

const cluster = (name: string, spec: object, namespace = ALPHA): Act =>
  create('MiniCluster', name, { spec: { containers: [{ image: 'flux' }], ...spec } }, namespace);
const strict = (name: string, spec: object) => editor(name, cluster('x', spec, STRICT), RIGHTS);
const HARDENED = { pod: { restricted: true } };

const MINICLUSTERS: readonly Attack[] = [
  as('cluster creator')('a MiniCluster without the right to create Jobs', cluster('x', {}), RIGHTS),
  as('cluster creator')(
    'a MiniCluster that lasts, without the right to create StatefulSets',
    cluster('x', { workload: 'StatefulSet', interactive: true }),
    RIGHTS,
  ),
  as('cluster creator')(
    'another image of a MiniCluster',
    patch('MiniCluster', 'tame', { spec: { containers: [{ image: 'evil' }] } }),
    RBAC,
  ),
  as('pod creator')('a MiniCluster', cluster('x', {}), RBAC),
  as('neighbour')('a MiniCluster in another namespace', cluster('x', {}), RBAC),
  strict('a MiniCluster that Pod Security does not allow', {}),
  strict('a privileged MiniCluster', {
    ...HARDENED,
    containers: [{ image: 'flux', securityContext: { privileged: true } }],
  }),
  strict('a MiniCluster with the root of the node', {
    ...HARDENED,
    containers: [{ image: 'flux', volumes: { root: { hostPath: '/', path: '/root' } } }],
  }),
  strict('a MiniCluster with the network of the node', { pod: { restricted: true, hostNetwork: true } }),
  strict('a MiniCluster with a service that has a capability', {
    ...HARDENED,
    services: [{ name: 'db', image: 'db', securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }],
  }),
  strict('a MiniCluster as root', {
    ...HARDENED,
    containers: [{ image: 'flux', securityContext: { runAsUser: 0 } }],
  }),
];

const NEIGHBOURS: readonly Attack[] = [
  as('neighbour')(
    'a Job of another namespace that is held',
    patch('Job', 'waiting', labelled('fluxqueue/hold', 'true')),
    RBAC,
  ),
  as('neighbour')('a Job of another namespace that is deleted', remove('Job', 'waiting'), RBAC),
  as('neighbour')(
    'a Secret of another namespace',
    { verb: 'GET', path: pathTo('Secret', ALPHA, 'tame-curve') },
    RBAC,
  ),
  as('neighbour')(
    'the settings of the stack',
    { verb: 'GET', path: pathTo('ConfigMap', 'fluxqueue-system') },
    RBAC,
  ),
  as('pod creator')('a Job', newJob(), RBAC),
  as('pod creator')(
    'a Pod with an assignment',
    pod({}, { ...owner('batch/v1', 'Job'), annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-0' } }),
    RESERVED,
  ),
  as('pod creator')('the start of a gated Pod', ungate, HELD),
  contained(
    'pod creator',
    'a Pod with the gate of another',
    pod({ schedulingGates: [{ name: 'mine' }] }),
    'the Pod is gated',
  ),
  contained(
    'pod creator',
    'a Pod that claims the gate and no label',
    pod({ schedulingGates: [{ name: GATE }] }),
    'the Pod is gated',
  ),
  as('pod creator')('a privileged Pod where Pod Security forbids it', pod({ ...ROOT }, {}, STRICT), RBAC),
];

export const USER_ATTACKS: readonly Attack[] = [
  ...STARTS,

  ...CLAIMS,
  ...COSTS,
  ...RULE_ATTACKS,
  ...MINICLUSTERS,
  ...NEIGHBOURS,
];
