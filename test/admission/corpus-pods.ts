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
  entry('other labels', pod({}, { labels: { app: 'x' } }), gated),
  entry('empty labels and annotations', pod({}, { labels: {}, annotations: {} }), gated),
  entry('the label admitted: "false" of the user', pod({}, { labels: { [ADMITTED_LABEL]: 'false' } }), gated),
  entry('another gate', pod({ schedulingGates: [{ name: 'example.com/quota' }] }), gated),
  entry('the gate of the queue', pod({ schedulingGates: [{ name: GATE }] }), gated),
  entry(
    'the gate of the queue and other gates',
    pod({ schedulingGates: [{ name: 'a' }, { name: GATE }, { name: 'b' }] }),
    gated,
  ),
  entry('an empty list of gates', pod({ schedulingGates: [] }), gated),
  entry('a pod of a ReplicaSet', pod({}, { ownerReferences: [owner('apps/v1', 'ReplicaSet')] }), gated),
  entry(
    'a pod of a Job that was not admitted',
    pod({}, { ownerReferences: [owner('batch/v1', 'Job')] }),
    gated,
  ),
  entry(
    'a pod whose owner, but not controller, is a DaemonSet',
    pod({}, { ownerReferences: [owner('apps/v1', 'DaemonSet', false)] }),
    gated,
  ),
  entry(
    'a pod of a DaemonSet of another API group',
    pod({}, { ownerReferences: [owner('apps.kruise.io/v1', 'DaemonSet')] }),
    gated,
  ),
  entry('another scheduler', pod({ schedulerName: 'volcano' }), gated),
  entry('the default scheduler by name', pod({ schedulerName: 'default-scheduler' }), gated),
  entry('hostNetwork', pod({ hostNetwork: true }), gated),
  entry('node affinity', pod(required({ matchExpressions: [onZone('a')] })), gated),
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
    "Kueue's labels, which do not exclude a pod",
    pod({}, { labels: { 'kueue.x-k8s.io/queue-name': 'team', 'kueue.x-k8s.io/podset': 'main' } }),
    gated,
  ),
  entry(
    'a completion index without an assignment',
    pod({}, { annotations: { [COMPLETION_INDEX_ANNOTATION]: '0' } }),
    gated,
  ),
];

const UNTOUCHED: readonly Entry[] = [
  entry('a bound pod', pod({ nodeName: 'node-0' }), untouched),
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

export const POD_ENTRIES: readonly Entry[] = [...GATED, ...UNTOUCHED];
