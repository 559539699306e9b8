/** Entries of the corpus: pods without an assignment. */
import { ADMITTED_LABEL, COMPLETION_INDEX_ANNOTATION, GATE } from '../../constructs/api/labels';
import {
  CONTAINER,
  DAEMONSET_CONTROLLER,
  type Entry,
  entry,
  gated,
  invalid,
  large,
  onZone,
  owner,
  pod,
  required,
  untouched,
} from './objects';

const GATED: readonly Entry[] = [
  entry('a plain pod', pod(), gated),
  entry('labels of its own', pod({}, { labels: { app: 'x' } }), gated),
  entry('empty labels and annotations', pod({}, { labels: {}, annotations: {} }), gated),
  entry('labelled "admitted: false" by its user', pod({}, { labels: { [ADMITTED_LABEL]: 'false' } }), gated),
  entry('another gate', pod({ schedulingGates: [{ name: 'example.com/quota' }] }), gated),
  entry('our gate', pod({ schedulingGates: [{ name: GATE }] }), gated),
  entry(
    'our gate among others',
    pod({ schedulingGates: [{ name: 'a' }, { name: GATE }, { name: 'b' }] }),
    gated,
  ),
  entry('an empty list of gates', pod({ schedulingGates: [] }), gated),
  entry('a ReplicaSet owns it', pod({}, { ownerReferences: [owner('apps/v1', 'ReplicaSet')] }), gated),
  entry(
    'a Job owns it that was never admitted',
    pod({}, { ownerReferences: [owner('batch/v1', 'Job')] }),
    gated,
  ),
  entry(
    'a DaemonSet owns it, not as controller',
    pod({}, { ownerReferences: [owner('apps/v1', 'DaemonSet', false)] }),
    gated,
  ),
  entry(
    "another group's DaemonSet owns it",
    pod({}, { ownerReferences: [owner('apps.kruise.io/v1', 'DaemonSet')] }),
    gated,
  ),
  entry('a scheduler of its own', pod({ schedulerName: 'volcano' }), gated),
  entry('the default scheduler by name', pod({ schedulerName: 'default-scheduler' }), gated),
  entry('hostNetwork', pod({ hostNetwork: true }), gated),
  entry('node affinity of its own', pod(required({ matchExpressions: [onZone('a')] })), gated),
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
    "Kueue's labels let no pod pass",
    pod({}, { labels: { 'kueue.x-k8s.io/queue-name': 'team', 'kueue.x-k8s.io/podset': 'main' } }),
    gated,
  ),
  entry(
    'a completion index but no assignment',
    pod({}, { annotations: { [COMPLETION_INDEX_ANNOTATION]: '0' } }),
    gated,
  ),
];

const UNTOUCHED: readonly Entry[] = [
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
    'a DaemonSet pod made by hand',
    pod({}, { ownerReferences: [owner('apps/v1', 'DaemonSet')] }),
    untouched,
  ),
  entry(
    'a DaemonSet pod with a wrong setting',
    pod({}, { labels: { 'fluxqueue/priority': 'high' }, ownerReferences: [owner('apps/v1', 'DaemonSet')] }),
    untouched,
  ),
];

export const POD_ENTRIES: readonly Entry[] = [...GATED, ...UNTOUCHED];
