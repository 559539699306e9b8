/**
 * One corpus for both forms of admission: objects as users and controllers
 * create them, each with its expected outcome. The unit test of the rules and
 * the test on a real apiserver read the same entries.
 */
import {
  ADMITTED_LABEL,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  HOLD,
  KUEUE_QUEUE_LABEL,
  QUEUED_BY_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { ASSIGNMENT_ENTRIES } from './corpus-assignments';
import { KEY_ENTRIES } from './corpus-keys';
import { LEADER_WORKER_ENTRIES } from './corpus-leader-worker-sets';
import { LIMIT_ENTRIES } from './corpus-limits';
import {
  CONTAINER,
  DAEMONSET_CONTROLLER,
  type Entry,
  entry,
  gated,
  held,
  invalid,
  JOB_CONTROLLER,
  job,
  noted,
  ofKueue,
  onZone,
  owner,
  pod,
  required,
  suspended,
  untouched,
} from './corpus-objects';
import { SETTING_ENTRIES } from './corpus-settings';
import { USER_ENTRIES } from './corpus-users';

const KUEUE = { labels: { [KUEUE_QUEUE_LABEL]: 'team' } };
const QUEUED = { [QUEUED_BY_ANNOTATION]: 'kueue' };
const large = 'x'.repeat(200_000);

const JOBS: readonly Entry[] = [
  entry('a plain Job', job(), suspended),
  entry('an explicit suspend: false', job({ suspend: false }), suspended),
  entry('suspended by its user', job({ suspend: true }), held),
  entry('suspended by its user, with labels', job({ suspend: true }, { labels: { app: 'x' } }), held),
  entry(
    'suspended, but hold "false" as label',
    job({ suspend: true }, { labels: { [HOLD]: 'false' } }),
    suspended,
  ),
  entry(
    'suspended, but hold "false" as annotation',
    job({ suspend: true }, { annotations: { [HOLD]: 'false' } }),
    suspended,
  ),
  entry('hold "true" and not suspended', job({}, { labels: { [HOLD]: 'true' } }), held),
  entry(
    'a copy of a waiting Job',
    job({ suspend: true }, { labels: { [ADMITTED_LABEL]: 'true' } }),
    suspended,
  ),
  entry(
    'labelled "admitted: false" by its user',
    job({}, { labels: { [ADMITTED_LABEL]: 'false' } }),
    suspended,
  ),
  entry('other labels', job({}, { labels: { app: 'x', 'a/b': 'c~d'.replace('~', '.') } }), suspended),
  entry('empty labels', job({}, { labels: {} }), suspended),
  entry('an indexed Job', job({ completions: 4, parallelism: 4, completionMode: 'Indexed' }), suspended),
  entry('parallelism 0', job({ parallelism: 0 }), suspended),
  entry('the built-in managedBy', job({ managedBy: 'kubernetes.io/job-controller' }), suspended),
  entry('another managedBy', job({ managedBy: 'kueue.x-k8s.io/multikueue' }), noted),
  entry(
    'another managedBy, claiming another user',
    job({ managedBy: 'example.com/x' }, { annotations: { [USER_ANNOTATION]: 'another-user', note: 'x' } }),
    noted,
  ),
  entry(
    "another managedBy, and an annotation as of Kueue's Jobs",
    job({ managedBy: 'example.com/x' }, {}, { metadata: { annotations: QUEUED } }),
    noted,
  ),
  entry("Kueue's label", job({ suspend: true }, KUEUE), ofKueue),
  entry(
    "Kueue's label, and the annotation of admission",
    job({ suspend: true }, KUEUE, { metadata: { annotations: { [QUEUED_BY_ANNOTATION]: 'me', note: 'x' } } }),
    ofKueue,
  ),
  entry(
    "Kueue's label, and a user in the template",
    job({ suspend: true }, KUEUE, {
      metadata: { annotations: { [USER_ANNOTATION]: 'another-user', note: 'x' } },
    }),
    ofKueue,
  ),
  entry(
    "Kueue's label, of a controller",
    job(
      { suspend: true },
      { ...KUEUE, annotations: { [USER_ANNOTATION]: 'another-user' } },
      { metadata: { labels: { a: 'b' } } },
    ),
    ofKueue,
    'system:kube-controller-manager',
  ),
  entry('200 kB of annotation', job({}, { annotations: { large } }), suspended),
  entry('a fixed name', job({}, { generateName: undefined, name: 'train' }), suspended),
  entry('owned by a CronJob', job({}, { ownerReferences: [owner('batch/v1', 'CronJob')] }), suspended),
  entry(
    'every setting',
    job(
      {},
      {
        labels: { 'fluxqueue/queue': 'batch', 'fluxqueue/priority': '10', 'fluxqueue/walltime': '90m' },
        annotations: {
          'fluxqueue/priority': '-5',
          'fluxqueue/after': 'prepare, fetch.data',
          'fluxqueue/exclusive': 'true',
        },
      },
    ),
    suspended,
  ),
  entry(
    'a template without containers',
    { ...job(), spec: { template: { spec: { restartPolicy: 'Never' } } } },
    invalid,
  ),
  entry('no template', { ...job(), spec: {} }, invalid),
];

const GATED: readonly Entry[] = [
  entry('a plain pod', pod(), gated),
  entry('other labels', pod({}, { labels: { app: 'x' } }), gated),
  entry('empty labels and annotations', pod({}, { labels: {}, annotations: {} }), gated),
  entry('labelled "admitted: false" by its user', pod({}, { labels: { [ADMITTED_LABEL]: 'false' } }), gated),
  entry('another gate', pod({ schedulingGates: [{ name: 'example.com/quota' }] }), gated),
  entry('the gate of the queue', pod({ schedulingGates: [{ name: GATE }] }), gated),
  entry(
    'the gate of the queue among others',
    pod({ schedulingGates: [{ name: 'a' }, { name: GATE }, { name: 'b' }] }),
    gated,
  ),
  entry('an empty list of gates', pod({ schedulingGates: [] }), gated),
  entry('owned by a ReplicaSet', pod({}, { ownerReferences: [owner('apps/v1', 'ReplicaSet')] }), gated),
  entry(
    'owned by a Job that was never admitted',
    pod({}, { ownerReferences: [owner('batch/v1', 'Job')] }),
    gated,
  ),
  entry(
    'owned by a DaemonSet that is not its controller',
    pod({}, { ownerReferences: [owner('apps/v1', 'DaemonSet', false)] }),
    gated,
  ),
  entry(
    'owned by a DaemonSet of another API group',
    pod({}, { ownerReferences: [owner('apps.kruise.io/v1', 'DaemonSet')] }),
    gated,
  ),
  entry('another scheduler', pod({ schedulerName: 'volcano' }), gated),
  entry('the default scheduler by name', pod({ schedulerName: 'default-scheduler' }), gated),
  entry('hostNetwork', pod({ hostNetwork: true }), gated),
  entry('a node affinity', pod(required({ matchExpressions: [onZone('a')] })), gated),
  entry(
    'tolerations, nodeSelector, priority',
    pod({ tolerations: [{ operator: 'Exists' }], nodeSelector: { a: 'b' } }),
    gated,
  ),
  entry(
    'init containers and a sidecar',
    pod({
      initContainers: [
        { ...CONTAINER, name: 'init' },
        { ...CONTAINER, name: 'side', restartPolicy: 'Always' },
      ],
    }),
    gated,
  ),
  entry('200 kB of annotation', pod({}, { annotations: { large } }), gated),
  entry(
    "Kueue's labels",
    pod({}, { labels: { 'kueue.x-k8s.io/queue-name': 'team', 'kueue.x-k8s.io/podset': 'main' } }),
    gated,
  ),
  entry(
    "Kueue's labels, of the Job controller",
    pod({}, { labels: { 'kueue.x-k8s.io/podset': 'main' }, ownerReferences: [owner('batch/v1', 'Job')] }),
    gated,
    JOB_CONTROLLER,
  ),
  entry(
    'a completion index but no assignment',
    pod({}, { annotations: { [COMPLETION_INDEX_ANNOTATION]: '0' } }),
    gated,
  ),
];

const LEFT_ALONE: readonly Entry[] = [
  entry(
    'of a Job of Kueue',
    pod({}, { annotations: QUEUED, ownerReferences: [owner('batch/v1', 'Job')] }),
    untouched,
    JOB_CONTROLLER,
  ),
  entry('bound already', pod({ nodeName: 'node-0' }), untouched),
  entry(
    'a mirror pod',
    pod({ nodeName: 'node-0' }, { annotations: { 'kubernetes.io/config.mirror': 'hash' } }),
    untouched,
  ),
  entry(
    'a mirror pod without a node',
    pod({}, { annotations: { 'kubernetes.io/config.mirror': 'hash' } }),
    invalid,
  ),
  entry(
    'a DaemonSet pod',
    pod({}, { ownerReferences: [owner('apps/v1', 'DaemonSet')] }),
    untouched,
    DAEMONSET_CONTROLLER,
  ),
  entry(
    'a DaemonSet pod that a user creates',
    pod({}, { ownerReferences: [owner('apps/v1', 'DaemonSet')] }),
    untouched,
  ),
  entry(
    'a DaemonSet pod with an invalid setting',
    pod({}, { labels: { 'fluxqueue/priority': 'high' }, ownerReferences: [owner('apps/v1', 'DaemonSet')] }),
    untouched,
  ),
];

export const CORPUS: readonly Entry[] = [
  ...JOBS,
  ...GATED,
  ...LEFT_ALONE,
  ...ASSIGNMENT_ENTRIES,
  ...KEY_ENTRIES,
  ...LEADER_WORKER_ENTRIES,
  ...LIMIT_ENTRIES,
  ...SETTING_ENTRIES(job, pod),
  ...USER_ENTRIES(job, pod),
];
