/** Entries of the corpus: pods with an assignment. */
import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import { encodeAssignment } from '../../runtime/workloads/assignment';
import type { KubeObject } from '../cluster/api';
import {
  type Entry,
  entry,
  type Fields,
  gated,
  invalid,
  JOB_CONTROLLER,
  onZone,
  owner,
  pinned,
  pod,
  required,
} from './corpus-objects';

/** A pod as the Job controller creates it from the template of a released Job. */
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
const notNamed = (node: string) => ({ key: 'metadata.name', operator: 'NotIn', values: [node] });
const named = (node: string) => ({ key: 'metadata.name', operator: 'In', values: [node] });
const preferred = [{ weight: 5, preference: { matchExpressions: [onZone('a')] } }];
const near = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'x' } } },
  ],
};

const wide = Array.from({ length: 1250 }, (_, i) => ({ node: `${'n'.repeat(55)}-${1000 + i}`, pods: 4 }));

export const ASSIGNMENT_ENTRIES: readonly Entry[] = [
  entry('the first index', assigned(THREE, '0'), pinned('n1', 0), JOB_CONTROLLER),
  entry('the last index of a node', assigned(THREE, '3'), pinned('n1', 3), JOB_CONTROLLER),
  entry('the second node', assigned(THREE, '4'), pinned('n2', 4), JOB_CONTROLLER),
  entry('the second group', assigned(THREE, '8'), pinned('n3', 8), JOB_CONTROLLER),
  entry('an index beyond the assignment', assigned(THREE, '9'), gated, JOB_CONTROLLER),
  entry('no index and several nodes', assigned(THREE, undefined), gated, JOB_CONTROLLER),
  entry('no index and one node', assigned('0/3:n7', undefined), pinned('n7'), JOB_CONTROLLER),
  entry('an index and one node', assigned('0/3:n7', '2'), pinned('n7', 2), JOB_CONTROLLER),
  entry('an index with leading zeros', assigned(THREE, '004'), pinned('n2', 4), JOB_CONTROLLER),
  entry('an index beyond the assignment of one node', assigned('0/3:n7', '7'), gated, JOB_CONTROLLER),
  entry('an index in an open assignment', assigned('0/3:n7;3/1:', '2'), pinned('n7', 2), JOB_CONTROLLER),
  entry('the first index beyond an open assignment', assigned('0/3:n7;3/1:', '3'), gated, JOB_CONTROLLER),
  entry('an index far beyond an open assignment', assigned('0/3:n7;3/1:', '12'), gated, JOB_CONTROLLER),
  entry('an index that is not a number', assigned(THREE, 'one'), gated, JOB_CONTROLLER),
  entry('a huge index', assigned(THREE, '99999999999999999999'), gated, JOB_CONTROLLER),
  entry('an index that is not a number and one node', assigned('0/3:n7', 'x'), gated, JOB_CONTROLLER),
  entry('an empty index and one node', assigned('0/3:n7', ''), pinned('n7'), JOB_CONTROLLER),
  entry('an invalid assignment', assigned('n1,n2', '0'), gated, JOB_CONTROLLER),
  entry('a second colon', assigned('0/1:n1:n2', '0'), gated, JOB_CONTROLLER),
  entry('a note and no index', assigned('0/3:n7;replaces-deleted', undefined), pinned('n7'), JOB_CONTROLLER),
  entry('a note and an index', assigned('0/3:n7;replaces-deleted', '2'), pinned('n7', 2), JOB_CONTROLLER),
  entry(
    'a note beyond an open assignment',
    assigned('0/3:n7;3/1:;replaces-deleted', '3'),
    gated,
    JOB_CONTROLLER,
  ),
  entry('a Job that waits for another', assigned('staged;replaces-deleted', '0'), gated, JOB_CONTROLLER),
  entry('an invalid head', assigned('0/0:n1', '0'), gated, JOB_CONTROLLER),
  entry('an invalid node name', assigned('0/1:N1,n2', '0'), gated, JOB_CONTROLLER),
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
    'an invalid setting in the template',
    assigned(THREE, '0', {}, { labels: { 'fluxqueue/priority': 'high' } }),
    pinned('n1', 0),
    JOB_CONTROLLER,
  ),
  entry(
    'an assignment and another gate',
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
    'an empty term, which does not change',
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
