/**
 * One corpus for both forms of admission: objects as users and controllers
 * create them, and what must become of each, said once in words. The unit test
 * of the rules and the test on a real apiserver read the same entries.
 */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  HOLD,
} from '../../constructs/api/labels';
import { encodeAssignment } from '../../runtime/workloads/assignment';
import type { KubeObject } from '../cluster/api';
import { SETTING_ENTRIES } from './corpus-settings';
import { USER_ENTRIES } from './corpus-users';

/** What becomes of an object. */
export type ExpectedOutcome =
  | { readonly is: 'untouched' | 'suspended' | 'held' | 'gated' }
  /** Pinned to the node, in so many of its terms; what is left of its assignment, if that changes. */
  | { readonly is: 'pinned'; readonly node: string; readonly terms: number; readonly keeps?: string }
  /** Refused by our own rules. */
  | { readonly is: 'denied'; readonly code: string; readonly field: string }
  /** Refused by Kubernetes' own validation, in both forms. */
  | { readonly is: 'invalid' };

export interface Entry {
  readonly title: string;
  readonly object: KubeObject;
  readonly expectedOutcome: ExpectedOutcome;
  /** User who creates it. @default - a cluster administrator */
  readonly as?: string;
}

/** Who creates what names nobody: the token of the test cluster's administrator. */
export const ADMIN = 'admin';

/** Whom a workload is marked with that was created as this user; undefined: nobody. */
export function userOf(as: string): string | undefined {
  return as.startsWith('system:') && !as.startsWith('system:serviceaccount:science:') ? undefined : as;
}

export const JOB_CONTROLLER = 'system:serviceaccount:kube-system:job-controller';
const DAEMONSET_CONTROLLER = 'system:serviceaccount:kube-system:daemon-set-controller';

const CONTAINER = { name: 'main', image: 'busybox' };
type Fields = Record<string, unknown>;

export function job(spec: Fields = {}, metadata: Fields = {}, template: Fields = {}): KubeObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'job-', ...metadata },
    spec: { ...spec, template: { ...template, spec: { restartPolicy: 'Never', containers: [CONTAINER] } } },
  };
}

export function pod(spec: Fields = {}, metadata: Fields = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'pod-', ...metadata },
    spec: { containers: [CONTAINER], ...spec },
  };
}

const owner = (apiVersion: string, kind: string, controller = true) => ({
  apiVersion,
  kind,
  name: 'owner',
  uid: '6f1d2a0e-0000-4000-8000-000000000001',
  controller,
});

/** A pod as the Job controller makes it from a released Job's template. */
function assigned(
  assignment: string,
  index: string | undefined,
  spec: Fields = {},
  more: Fields = {},
): KubeObject {
  return pod(spec, {
    ownerReferences: [owner('batch/v1', 'Job')],
    annotations: {
      [ASSIGNMENT_ANNOTATION]: assignment,
      ...(index === undefined ? {} : { [COMPLETION_INDEX_ANNOTATION]: index }),
    },
    ...more,
  });
}

const THREE = '0/4:n1,n2;8/1:n3';
const required = (...nodeSelectorTerms: Fields[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const onZone = (zone: string) => ({ key: 'zone', operator: 'In', values: [zone] });
const notNamed = (node: string) => ({ key: 'metadata.name', operator: 'NotIn', values: [node] });
const named = (node: string) => ({ key: 'metadata.name', operator: 'In', values: [node] });
const preferred = [{ weight: 5, preference: { matchExpressions: [onZone('a')] } }];
const near = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'x' } } },
  ],
};

const untouched = { is: 'untouched' } as const;
const suspended = { is: 'suspended' } as const;
const held = { is: 'held' } as const;
const gated = { is: 'gated' } as const;
const invalid = { is: 'invalid' } as const;
/** @param index the pod's own, which is all it keeps; none: its assignment stays as it is */
const pinned = (node: string, index?: number, terms = 1): ExpectedOutcome => ({
  is: 'pinned',
  node,
  terms,
  ...(index === undefined ? {} : { keeps: `${index}/1:${node}` }),
});
const entry = (title: string, object: KubeObject, expectedOutcome: ExpectedOutcome, as?: string): Entry => ({
  title,
  object,
  expectedOutcome,
  ...(as === undefined ? {} : { as }),
});

const large = 'x'.repeat(200_000);
const wide = Array.from({ length: 1250 }, (_, i) => ({ node: `${'n'.repeat(55)}-${1000 + i}`, pods: 4 }));

const JOBS: readonly Entry[] = [
  entry('a plain Job', job(), suspended),
  entry('suspend: false in so many words', job({ suspend: false }), suspended),
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
  entry('labels of its own', job({}, { labels: { app: 'x', 'a/b': 'c~d'.replace('~', '.') } }), suspended),
  entry('empty labels', job({}, { labels: {} }), suspended),
  entry('an indexed Job', job({ completions: 4, parallelism: 4, completionMode: 'Indexed' }), suspended),
  entry('parallelism 0', job({ parallelism: 0 }), suspended),
  entry('the built-in managedBy', job({ managedBy: 'kubernetes.io/job-controller' }), suspended),
  entry('another managedBy', job({ managedBy: 'kueue.x-k8s.io/multikueue' }), untouched),
  entry("Kueue's label", job({}, { labels: { 'kueue.x-k8s.io/queue-name': 'team' } }), untouched),
  entry(
    "Kueue's label, suspended",
    job({ suspend: true }, { labels: { 'kueue.x-k8s.io/queue-name': 'q' } }),
    untouched,
  ),
  entry('200 kB of annotation', job({}, { annotations: { large } }), suspended),
  entry('a fixed name', job({}, { generateName: undefined, name: 'train' }), suspended),
  entry('owned by a CronJob', job({}, { ownerReferences: [owner('batch/v1', 'CronJob')] }), suspended),
  entry(
    'every setting there is',
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

const LEFT_ALONE: readonly Entry[] = [
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

const ASSIGNED: readonly Entry[] = [
  entry('the first index', assigned(THREE, '0'), pinned('n1', 0), JOB_CONTROLLER),
  entry('the last index of a node', assigned(THREE, '3'), pinned('n1', 3), JOB_CONTROLLER),
  entry('the second node', assigned(THREE, '4'), pinned('n2', 4), JOB_CONTROLLER),
  entry('the second group', assigned(THREE, '8'), pinned('n3', 8), JOB_CONTROLLER),
  entry('beyond the assignment', assigned(THREE, '9'), gated, JOB_CONTROLLER),
  entry('no index, several nodes', assigned(THREE, undefined), gated, JOB_CONTROLLER),
  entry('no index, one node', assigned('0/3:n7', undefined), pinned('n7'), JOB_CONTROLLER),
  entry('one node, with an index', assigned('0/3:n7', '2'), pinned('n7', 2), JOB_CONTROLLER),
  entry('an index with leading zeros', assigned(THREE, '004'), pinned('n2', 4), JOB_CONTROLLER),
  entry('beyond the assignment of one node', assigned('0/3:n7', '7'), pinned('n7'), JOB_CONTROLLER),
  entry('in an open assignment', assigned('0/3:n7;3/1:', '2'), pinned('n7', 2), JOB_CONTROLLER),
  entry('beyond an open assignment', assigned('0/3:n7;3/1:', '3'), gated, JOB_CONTROLLER),
  entry('far beyond an open assignment', assigned('0/3:n7;3/1:', '12'), gated, JOB_CONTROLLER),
  entry('an index that is no number', assigned(THREE, 'one'), gated, JOB_CONTROLLER),
  entry('a huge index', assigned(THREE, '99999999999999999999'), gated, JOB_CONTROLLER),
  entry('an empty assignment', assigned('', '0'), gated),
  entry('text that is no assignment', assigned('n1,n2', '0'), gated, JOB_CONTROLLER),
  entry('a second colon', assigned('0/1:n1:n2', '0'), gated, JOB_CONTROLLER),
  entry('a broken head', assigned('0/0:n1', '0'), gated, JOB_CONTROLLER),
  entry('a node that can have no such name', assigned('0/1:N1,n2', '0'), gated, JOB_CONTROLLER),
  entry('an index before the first group', assigned('4/1:n1,n2', '0'), gated, JOB_CONTROLLER),
  entry(
    '5,000 pods on 1,250 nodes, the first',
    assigned(encodeAssignment(wide), '0'),
    pinned(wide[0]!.node, 0),
    JOB_CONTROLLER,
  ),
  entry(
    '5,000 pods on 1,250 nodes, the last',
    assigned(encodeAssignment(wide), '4999'),
    pinned(wide[1249]!.node, 4999),
    JOB_CONTROLLER,
  ),
  entry(
    'a wrong setting in the template',
    assigned(THREE, '0', {}, { labels: { 'fluxqueue/priority': 'high' } }),
    pinned('n1', 0),
    JOB_CONTROLLER,
  ),
  entry(
    'a gate of its own',
    assigned(THREE, '0', { schedulingGates: [{ name: 'other' }] }),
    pinned('n1', 0),
    JOB_CONTROLLER,
  ),
  entry('an empty affinity', assigned(THREE, '0', { affinity: {} }), pinned('n1', 0), JOB_CONTROLLER),
  entry(
    'an empty nodeAffinity',
    assigned(THREE, '0', { affinity: { nodeAffinity: {} } }),
    pinned('n1', 0),
    JOB_CONTROLLER,
  ),
  entry(
    'pod affinity only',
    assigned(THREE, '0', { affinity: { podAffinity: near, podAntiAffinity: near } }),
    pinned('n1', 0),
    JOB_CONTROLLER,
  ),
  entry(
    'preferred terms only',
    assigned(THREE, '0', {
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } },
    }),
    pinned('n1', 0),
    JOB_CONTROLLER,
  ),
  entry(
    'one required term',
    assigned(THREE, '4', required({ matchExpressions: [onZone('a')] })),
    pinned('n2', 4),
    JOB_CONTROLLER,
  ),
  entry(
    'three required terms',
    assigned(
      THREE,
      '4',
      required(
        { matchExpressions: [onZone('a')] },
        { matchExpressions: [onZone('b')] },
        { matchFields: [notNamed('n9')] },
      ),
    ),
    pinned('n2', 4, 3),
    JOB_CONTROLLER,
  ),
  entry(
    'a term with expressions and fields',
    assigned(THREE, '4', required({ matchExpressions: [onZone('a')], matchFields: [notNamed('n9')] })),
    pinned('n2', 4),
    JOB_CONTROLLER,
  ),
  entry(
    'required, preferred and pod affinity',
    assigned(THREE, '8', {
      affinity: {
        podAffinity: near,
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: preferred,
          ...required({ matchExpressions: [onZone('a')] }).affinity.nodeAffinity,
        },
      },
    }),
    pinned('n3', 8),
    JOB_CONTROLLER,
  ),
  entry(
    'an empty term matches no node and stays',
    assigned(THREE, '4', required({}, { matchExpressions: [onZone('a')] })),
    pinned('n2', 4),
    JOB_CONTROLLER,
  ),
  entry('empty terms only', assigned(THREE, '4', required({})), pinned('n2', 4, 0), JOB_CONTROLLER),
  entry(
    'pinned by the user to the same node',
    assigned(THREE, '4', required({ matchFields: [named('n2')] })),
    pinned('n2', 4),
    JOB_CONTROLLER,
  ),
  entry(
    'pinned by the user elsewhere',
    assigned(THREE, '4', required({ matchFields: [named('n9')] })),
    pinned('n2', 4),
    JOB_CONTROLLER,
  ),
  entry('required without terms', assigned(THREE, '4', required()), invalid, JOB_CONTROLLER),
];

export const CORPUS: readonly Entry[] = [
  ...JOBS,
  ...GATED,
  ...LEFT_ALONE,
  ...ASSIGNED,
  ...SETTING_ENTRIES(job, pod),
  ...USER_ENTRIES(job, pod),
];
