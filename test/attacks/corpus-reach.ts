/** Attacks on what is beyond a grant and beyond a namespace: a second pod of a Job, pods beside the queue, nodes of others. */
import { JOB_TRACKING_FINALIZER } from '../../constructs/api/job-controller';
import {
  ASSIGNMENT_ANNOTATION,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
  KUEUE_QUEUE_LABEL,
  QUEUED_BY_ANNOTATION,
} from '../../constructs/api/labels';
import { POD_SET_LABELS } from '../../constructs/api/workload-kinds';
import { type Act, ALPHA, type Attack, type Role } from './attack';
import { apply, container, create, deployment, job, patch, pathTo, template } from './objects';

const refused = (role: Role, name: string, act: Act, code: string): Attack => ({
  name,
  role,
  act,
  holds: { refused: code },
});
const RESERVED = 'FLUXQ_RESERVED';
const REACH = 'FLUXQ_REACH';

/** The Job of the pods below. No controller runs it, so nothing but the attacks changes them. */
export const STARTED_JOB = create('Job', 'started', { spec: job({}, { managedBy: 'example.com/nobody' }) });
const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'started', uid: '$started', controller: true };
const POD_SET = Object.fromEntries(POD_SET_LABELS.map((key) => [key, 'worker']));
const startedPod = (name: string, annotations: object): Act =>
  create('Pod', name, {
    metadata: {
      labels: { [JOB_UID_LABEL]: '$started', [JOB_NAME_LABEL]: 'started', own: 'x', ...POD_SET },
      annotations: { 'fluxqueue.test/duration': '2h', ...annotations },
      finalizers: [JOB_TRACKING_FINALIZER],
      ownerReferences: [owner],
    },
    spec: { restartPolicy: 'Never', containers: [container()] },
  });
/** One that its kubelet says has succeeded; no controller has counted it. */
export const OVER = 'over';
/** As the Job controller makes them. */
export const STARTED_PODS: readonly Act[] = [
  startedPod('granted', { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [JOBID_ANNOTATION]: '1' }),
  startedPod('of-kueue', { [QUEUED_BY_ANNOTATION]: 'kueue' }),
  startedPod(OVER, { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [JOBID_ANNOTATION]: '1' }),
];

/** Each makes the Job controller forget a pod that runs, so that it makes another one. */
const SECOND_PODS: readonly Attack[] = [
  ['granted', 'a Pod of a grant'],
  ['of-kueue', 'a Pod that Kueue started'],
].flatMap(([name = '', what = '']) => {
  const change = (metadata: object) => patch('Pod', name, { metadata });
  const release = { ownerReferences: null, finalizers: null };
  return [
    ...[JOB_UID_LABEL, JOB_NAME_LABEL, ...POD_SET_LABELS].map((key) =>
      refused('editor', `${what} without the label ${key}`, change({ labels: { [key]: null } }), RESERVED),
    ),
    ...(['editor', 'pod creator'] as const).map((role) =>
      refused(role, `${what} without its owner`, change({ ownerReferences: null }), RESERVED),
    ),
    ...(['editor', 'job controller', 'operator'] as const).map((role) =>
      refused(role, `${what} that its Job releases`, change(release), RESERVED),
    ),
    ...[{ kind: 'Train' }, { name: 'other' }, { controller: false }].map((other) =>
      refused(
        'editor',
        `${what} with the owner ${JSON.stringify(other)}`,
        change({ ownerReferences: [{ ...owner, ...other }] }),
        RESERVED,
      ),
    ),
    ...(['editor', 'operator'] as const).map((role) =>
      refused(role, `${what} without the finalizer of its Job`, change({ finalizers: null }), RESERVED),
    ),
    refused(
      'operator',
      `${what} without the finalizer of its Job, by its status`,
      { ...change({ finalizers: null }), path: pathTo('Pod', ALPHA, name, 'status') },
      RESERVED,
    ),
  ];
});

/** Its units are free, and its Job would make another one. */
const UNCOUNTED: readonly Attack[] = (['editor', 'job controller', 'operator'] as const).map((role) =>
  refused(
    role,
    'a Pod that has succeeded, that its Job releases uncounted',
    patch('Pod', OVER, { metadata: { ownerReferences: null, finalizers: null } }),
    RESERVED,
  ),
);

const OWN_SELECTOR = { suspend: true, manualSelector: true, selector: { matchLabels: { app: 'x' } } };
const KUEUE = refused(
  'editor',
  'a Job of Kueue whose pods Kueue could not stop',
  create('Job', 'x', { metadata: { labels: { [KUEUE_QUEUE_LABEL]: 'x' } }, spec: job({}, OWN_SELECTOR) }),
  'FLUXQ_OTHER_QUEUE',
);

const BESIDE: readonly Attack[] = (['editor', 'account'] as const).flatMap((role) => [
  refused(role, 'a DaemonSet', create('DaemonSet', 'x', { spec: deployment() }), REACH),
  refused(
    role,
    'a DaemonSet with a PriorityClass',
    create('DaemonSet', 'x', { spec: deployment({ priorityClassName: 'system-node-critical' }) }),
    REACH,
  ),
  refused(role, 'a DaemonSet by server-side apply', apply('DaemonSet', 'x', { spec: deployment() }), REACH),
  refused(
    role,
    'another image of a DaemonSet',
    patch('DaemonSet', 'agent', {
      spec: { template: { spec: { containers: [container({ image: 'evil' })] } } },
    }),
    REACH,
  ),
]);

const against = (where: object) => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/os', labelSelector: {}, ...where },
      ],
    },
  },
});
const SPECS: Readonly<Record<string, (pod: object) => object>> = {
  Pod: (pod) => ({ containers: [container()], ...pod }),
  Job: (pod) => job(pod),
  CronJob: (pod) => ({ schedule: '0 0 1 1 *', jobTemplate: { spec: job(pod) } }),
  Deployment: (pod) => deployment(pod),
  ReplicaSet: (pod) => deployment(pod),
  StatefulSet: (pod) => deployment(pod, { serviceName: 'x' }),
  ReplicationController: (pod) => ({ selector: { app: 'x' }, template: template(pod) }),
};
const OTHERS = [
  ['another namespace', { namespaces: ['beta'] }],
  ['every namespace', { namespaceSelector: {} }],
] as const;

const AGAINST_OTHERS: readonly Attack[] = [
  ...Object.entries(SPECS).flatMap(([kind, spec]) =>
    OTHERS.map(([which, where]) =>
      refused(
        'editor',
        `a ${kind} beside which no pod of ${which} may run`,
        create(kind, 'x', { spec: spec(against(where)) }),
        REACH,
      ),
    ),
  ),
  refused(
    'pod creator',
    'a Pod beside which no pod of every namespace may run, with a forged owner',
    create('Pod', 'x', {
      metadata: { ownerReferences: [owner] },
      spec: SPECS.Pod!(against({ namespaceSelector: {} })),
    }),
    REACH,
  ),
  refused(
    'editor',
    'a Deployment that is changed so that no pod of another namespace may run beside its pods',
    patch('Deployment', 'mine', { spec: { template: { spec: against({ namespaces: ['beta'] }) } } }),
    REACH,
  ),
];

export const REACH_ATTACKS: readonly Attack[] = [
  ...SECOND_PODS,
  ...UNCOUNTED,
  KUEUE,
  ...BESIDE,
  ...AGAINST_OTHERS,
];
