/** Attacks that ask for more than was granted, or for the rights of another: by what controllers of Kubernetes do for a user. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  JOBID_ANNOTATION,
  KUEUE_QUEUE_LABEL,
  PRIORITY,
  QUEUED_BY_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack, type CONTAINED, PLAIN, type Role } from './attack';
import { apply, container, create, job, patch, pathTo } from './objects';

type Contained = keyof typeof CONTAINED;
const attack = (role: Role, name: string, act: Act, holds: Attack['holds']): Attack => ({
  name,
  role,
  act,
  holds,
});
const contained = (name: string, act: Act, what: Contained): Attack =>
  attack('editor', name, act, { contained: what });

const INDEXED = { completionMode: 'Indexed', parallelism: 8, completions: 1 };
const jsonPatch = (name: string, ...body: readonly object[]): Act => ({
  verb: 'PATCH',
  path: pathTo('Job', ALPHA, name),
  body,
  type: 'application/json-patch+json',
});

/** Each changes what a released Job may have: one pod, replaced when it has ended. */
const RELEASED: readonly Attack[] = [
  contained(
    'more completions of a released Job',
    patch('Job', 'indexed', { spec: { completions: 8 } }),
    'one pod is granted',
  ),
  contained(
    'more completions of a released Job by a JSON patch',
    jsonPatch('indexed', { op: 'replace', path: '/spec/completions', value: 8 }),
    'one pod is granted',
  ),
  contained(
    'more completions and more pods of a released Job',
    patch('Job', 'indexed', { spec: { completions: 9, parallelism: 9 } }),
    'one pod is granted',
  ),
  contained(
    'more completions of a released Job by server-side apply',
    apply('Job', 'indexed', { spec: { ...job({}, { ...INDEXED, completions: 8 }) } }),
    'one pod is granted',
  ),
  contained(
    'other replacements of the pods of a released Job',
    patch('Job', 'indexed', { spec: { podReplacementPolicy: 'TerminatingOrFailed' } }),
    'a pod is replaced once it has ended',
  ),
];

const index = (value: string) => ({ [COMPLETION_INDEX_ANNOTATION]: value });
const grant = { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [JOBID_ANNOTATION]: '1' };
/** A Job that has pods without a grant (decision 50). */
const STAGED = { [ASSIGNMENT_ANNOTATION]: 'staged', [JOBID_ANNOTATION]: '1' };
const ownedBy = (apiVersion: string, kind: string) => [
  { apiVersion, kind, name: 'x', uid: 'no-such-uid', controller: true },
];
const pod = (annotations: object, [apiVersion, kind]: readonly [string, string] = ['batch/v1', 'Job']): Act =>
  create('Pod', 'x', {
    metadata: { annotations, ownerReferences: ownedBy(apiVersion, kind) },
    spec: { containers: [container()] },
  });

const bound: Act = create('Pod', 'x', {
  metadata: { annotations: { ...grant, ...index('3') }, ownerReferences: ownedBy('batch/v1', 'Job') },
  spec: { containers: [container()], nodeName: 'node-0' },
});

const INDEXES: readonly Attack[] = [
  attack('job controller', 'a Pod of an index that is not assigned, bound by its template', bound, {
    refused: 'FLUXQ_RESERVED',
  }),
  attack('job controller', 'a Pod of an index that is not assigned', pod({ ...grant, ...index('3') }), {
    contained: 'the Pod is gated',
  }),
  attack('job controller', 'a Pod of an index that is no number', pod({ ...grant, ...index('x') }), {
    contained: 'the Pod is gated',
  }),
  attack(
    'job controller',
    'a Pod of a Job that waits for another controller',
    pod({ ...STAGED, ...index('0') }),
    { contained: 'the Pod is gated' },
  ),
  attack('job controller', 'a Pod without an index of a Job that waits for another controller', pod(STAGED), {
    contained: 'the Pod is gated',
  }),
  attack('editor', 'a Pod as of a Job that waits for another controller', pod(STAGED), {
    refused: 'FLUXQ_RESERVED',
  }),
  attack(
    'editor',
    'a Job as if it waited for another controller',
    create('Job', 'x', { spec: job({}, {}, { annotations: STAGED }) }),
    { refused: 'FLUXQ_RESERVED' },
  ),
  attack(
    'editor',
    'the start of a waiting Job as if it waited for another controller',
    patch('Job', 'waiting', { spec: { suspend: false, template: { metadata: { annotations: STAGED } } } }),
    { refused: 'FLUXQ_RESERVED' },
  ),
  attack(
    'editor',
    'a completion index in the template of a Job without indexes',
    create('Job', 'x', { spec: job({}, { parallelism: 2, completions: 2 }, { annotations: index('0') }) }),
    { refused: 'FLUXQ_RESERVED' },
  ),
];

/** Of Kueue: admission leaves the Job and its pods alone, and only Kueue starts it. */
const KUEUE = { labels: { [KUEUE_QUEUE_LABEL]: 'x' } };
const DEAR = { [PRIORITY]: '1000000' };
const ROOT = { [USER_ANNOTATION]: 'root' };
const kueueJob = (annotations: object, metadata: object = {}) =>
  create('Job', 'x', {
    metadata: { ...KUEUE, ...metadata },
    spec: job({}, { suspend: true }, { annotations }),
  });
const cluster = (spec: object): Act =>
  create('MiniCluster', 'x', { spec: { containers: [{ image: 'flux' }], ...spec } });
const SERVICES = { services: [{ name: 'db', image: 'db', ports: [80] }] };

const SETTINGS: readonly Attack[] = [
  attack('editor', 'the highest priority in the template of a Job of Kueue', kueueJob(DEAR), {
    refused: 'FLUXQ_PRIORITY',
  }),
  attack(
    'editor',
    'the highest priority in the template of a Job that another controller runs',
    create('Job', 'x', {
      spec: job({}, { managedBy: 'example.com/other' }, { annotations: DEAR }),
    }),
    { refused: 'FLUXQ_PRIORITY' },
  ),
  attack(
    'editor',
    'the highest priority in the template of the Jobs of a CronJob',
    create('CronJob', 'x', {
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: { metadata: KUEUE, spec: job({}, {}, { annotations: DEAR }) },
      },
    }),
    { refused: 'FLUXQ_PRIORITY' },
  ),
  attack(
    'operator',
    'the highest priority of a Pod whose owner no admission has seen',
    pod(DEAR, ['example.com/v1', 'Operated']),
    { refused: 'FLUXQ_PRIORITY' },
  ),
  contained(
    "another's name on the pods of a Job of Kueue",
    kueueJob(ROOT),
    'the user of its pods is mallory',
  ),
  contained('no name on the pods of a Job of Kueue', kueueJob({}), 'the user of its pods is mallory'),
  attack(
    'cronjob controller',
    "another's name on the pods of a Job of Kueue from a CronJob",
    kueueJob(ROOT, {
      annotations: { [USER_ANNOTATION]: 'mallory' },
      ownerReferences: ownedBy('batch/v1', 'CronJob'),
    }),
    { contained: 'the user of its pods is mallory' },
  ),
  attack(
    'operator',
    "another's name on a Pod whose owner no admission has seen",
    pod(ROOT, ['example.com/v1', 'Operated']),
    { contained: 'the user is not root' },
  ),
  attack('editor', "another's name on the pods of a MiniCluster", cluster({ pod: { annotations: ROOT } }), {
    refused: 'FLUXQ_RESERVED',
  }),
  attack(
    'editor',
    "another's name on the services of a MiniCluster",
    cluster({ pod: { annotations: ROOT }, ...SERVICES }),
    { refused: 'FLUXQ_RESERVED' },
  ),
];

const refused = (role: Role, name: string, act: Act, code: NonNullable<Attack['holds']['refused']>) =>
  attack(role, name, act, { refused: code });
const QUEUED = { annotations: { [QUEUED_BY_ANNOTATION]: 'kueue' } };
/** What Kueue writes into the template of a Job when it starts it. */
const STARTED_BY_KUEUE = { labels: { 'kueue.x-k8s.io/podset': 'main' } };
const start = (template: object = {}) => ({ spec: { suspend: false, template: { metadata: template } } });
const ofJob = { ownerReferences: ownedBy('batch/v1', 'Job') };
const kueuePod = (metadata: object) => create('Pod', 'x', { metadata, spec: { containers: [container()] } });
const mark = (annotations: object): Act => create('Job', 'x', { spec: job({}, {}, { annotations }) });

/** Ways around both queues. */
const BESIDE: readonly Attack[] = [
  refused('editor', 'the start of a Job of Kueue', patch('Job', 'kueue', start()), 'FLUXQ_HELD'),
  refused(
    'editor',
    'the start of a Job of Kueue with what Kueue writes',
    patch('Job', 'kueue', start(STARTED_BY_KUEUE)),
    'FLUXQ_HELD',
  ),
  refused('account', 'the start of a Job of Kueue', patch('Job', 'kueue', start()), 'FLUXQ_HELD'),
  refused(
    'controller token',
    'the start of a Job of Kueue',
    patch('Job', 'kueue', start()),
    'FLUXQ_RESERVED',
  ),
  refused(
    'editor',
    'a Job of Kueue that Kueue does not hold',
    create('Job', 'x', { metadata: KUEUE, spec: job() }),
    'FLUXQ_OTHER_QUEUE',
  ),
  refused(
    'cronjob controller',
    'a Job of Kueue that Kueue does not hold, of a CronJob',
    create('Job', 'x', {
      metadata: { ...KUEUE, ownerReferences: ownedBy('batch/v1', 'CronJob') },
      spec: job(),
    }),
    'FLUXQ_OTHER_QUEUE',
  ),
  refused(
    'editor',
    'a Job of Kueue that claims to be admitted',
    create('Job', 'x', {
      metadata: { labels: { ...KUEUE.labels, [ADMITTED_LABEL]: 'true' } },
      spec: job({}, { suspend: true }),
    }),
    ['FLUXQ_RESERVED: metadata.labels', 'FLUXQ_OTHER_QUEUE'],
  ),
  refused(
    'editor',
    'the queue of Kueue for a Job that waits',
    patch('Job', 'waiting', { metadata: KUEUE }),
    'FLUXQ_OTHER_QUEUE',
  ),
  refused(
    'editor',
    'the queue of Kueue for a Job that runs',
    patch('Job', 'running', { metadata: KUEUE }),
    'FLUXQ_OTHER_QUEUE',
  ),
  refused(
    'editor',
    'no queue for a Job of Kueue',
    patch('Job', 'kueue', { metadata: { labels: { [KUEUE_QUEUE_LABEL]: null } } }),
    'FLUXQ_OTHER_QUEUE',
  ),
  ...['Orphan', undefined].map((propagationPolicy) =>
    refused(
      'editor',
      `a Job of Kueue that is deleted without its pods, propagationPolicy ${propagationPolicy}`,
      {
        verb: 'DELETE',
        path: pathTo('Job', ALPHA, 'kueue'),
        body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy },
      },
      'FLUXQ_OTHER_QUEUE',
    ),
  ),
  refused(
    'editor',
    'a Pod that Kueue started with an owner beside its Job',
    {
      verb: 'PATCH',
      path: pathTo('Pod', ALPHA, 'of-kueue'),
      body: [
        {
          op: 'add',
          path: '/metadata/ownerReferences/-',
          value: { apiVersion: 'v1', kind: 'ConfigMap', name: 'notes', uid: 'no-such-uid' },
        },
      ],
      type: 'application/json-patch+json',
    },
    'FLUXQ_RESERVED',
  ),
  refused('editor', 'pods that Kueue has, in a Job', mark(QUEUED.annotations), 'FLUXQ_SETTING_INVALID'),
  refused(
    'editor',
    'pods that Kueue has, in a Job that waits',
    patch('Job', 'waiting', { spec: { template: { metadata: QUEUED } } }),
    ['FLUXQ_RESERVED: spec.template', 'FLUXQ_SETTING_INVALID: spec.template'],
  ),
  refused(
    'editor',
    'pods that Kueue has, in a namespace that the queue will get',
    create('Job', 'x', { metadata: KUEUE, spec: job({}, { suspend: true }, QUEUED) }, PLAIN),
    'FLUXQ_RESERVED',
  ),
  refused('editor', 'a Pod that Kueue has', kueuePod({ ...QUEUED, ...ofJob }), 'FLUXQ_RESERVED'),
  refused('pod creator', 'a Pod that Kueue has', kueuePod(QUEUED), 'FLUXQ_RESERVED'),
  refused(
    'operator',
    'a Pod that Kueue has, of an owner that no admission has seen',
    kueuePod({ ...QUEUED, ownerReferences: ownedBy('example.com/v1', 'Operated') }),
    'FLUXQ_RESERVED',
  ),
  refused(
    'job controller',
    'a Pod that Kueue has, on a node of its choice',
    create('Pod', 'x', {
      metadata: { ...QUEUED, ...ofJob },
      spec: { nodeName: 'node-0', containers: [container()] },
    }),
    'FLUXQ_RESERVED',
  ),
  ...(['editor', 'job controller'] as const).map((role) =>
    attack(role, 'a Pod with the labels of Kueue', kueuePod({ ...STARTED_BY_KUEUE, ...ofJob }), {
      contained: 'the Pod is gated',
    }),
  ),
];

export const GRANT_ATTACKS: readonly Attack[] = [...RELEASED, ...INDEXES, ...SETTINGS, ...BESIDE];
