import { COMPLETION_INDEX_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import { heldNodeViolations } from './held-nodes';

const meta = (name: string) => ({
  name,
  namespace: 'science',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '1970-01-01T00:00:00Z',
});
const nodes: readonly Node[] = ['n1', 'n2'].map((name) => ({ metadata: meta(name), spec: {} }));
const containers = [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }];

/** Of two pods, one on each node: what its Job says of itself. */
const jobOf = (status: Job['status'], spec: Partial<Job['spec']> = {}): Job => ({
  metadata: meta('a'),
  spec: {
    suspend: false,
    parallelism: 2,
    completions: 2,
    completionMode: 'Indexed',
    template: {
      metadata: { annotations: { [JOBID_ANNOTATION]: '7', 'fluxqueue/assignment': '0/1:n1,n2' } },
      spec: { containers },
    },
    ...spec,
  },
  ...(status && { status }),
});
const podOn = (nodeName: string, over: Partial<Pod['spec']> = {}): Pod => ({
  metadata: {
    ...meta(`a-${nodeName}`),
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'a' }],
  },
  spec: { containers, nodeName, ...over },
  status: { phase: 'Running' },
});
const look = (job: Job, held: readonly string[], pods: readonly Pod[]) => {
  const units = held.map((name) => ({ name, units: { core: '0-9' } }));
  const allocation = { jobid: 7, start: 10, end: 70, nodes: units };
  const row = rowIn('Running', { uid: 'a', name: 'a', jobid: 7, allocation });
  return heldNodeViolations({ rows: [row], jobs: [job], pods, nodes }).map(({ text }) => text);
};
const KEPT = ['a holds n2, on which no pod of it will run again'];

test.each<[string, Job['status'], Partial<Job['spec']>]>([
  ['has succeeded', { completedIndexes: '1' }, {}],
  ['has failed for good', { failedIndexes: '1' }, {}],
  ['has succeeded without an index', { succeeded: 1 }, { completionMode: 'NonIndexed' }],
])('a node is kept too long once its task %s', (_, status, spec) => {
  expect(look(jobOf(status, spec), ['n1', 'n2'], [podOn('n1')])).toEqual(KEPT);
  expect(look(jobOf(status, spec), ['n1'], [podOn('n1')])).toEqual([]);
  expect(look(jobOf(status, spec), ['n1', 'n2'], [podOn('n1'), podOn('n2')])).toEqual([]);
});

test('a node is kept for a task that comes again, or that its Job has not made yet', () => {
  expect(look(jobOf({}), ['n1', 'n2'], [podOn('n1')])).toEqual([]);
  const more = jobOf({ completedIndexes: '1' }, { completions: 3 });
  expect(look(more, ['n1', 'n2'], [podOn('n1')])).toEqual([]);
});

test('a node is given back too early while a pod runs there, or will', () => {
  const early = 'a has given n2 back, where a pod of it runs or will run';
  const few = 'a has 1 places for 2 pods';
  expect(look(jobOf({}), ['n1'], [podOn('n1')])).toEqual([early, few]);
  expect(look(jobOf({ completedIndexes: '1' }), ['n1'], [podOn('n1'), podOn('n2')])).toEqual([early]);
  const gated = podOn('n2', { schedulingGates: [{ name: 'fluxqueue' }] });
  const more = jobOf({ completedIndexes: '1' }, { completions: 3 });
  expect(look(more, ['n1'], [podOn('n1'), gated])).toContain(few);
});

test('a pod of an elastic Job beyond its gang needs no place of the gang', () => {
  const annotations = { [JOBID_ANNOTATION]: '7', 'fluxqueue/assignment': '0/1:n1,n2;2/1:' };
  const template = { metadata: { annotations }, spec: { containers } };
  const elastic = jobOf({ completedIndexes: '1' }, { parallelism: 3, completions: 3, template });
  const podOf = (index: number, node: string) => {
    const pod = podOn(node);
    return {
      ...pod,
      metadata: { ...pod.metadata, annotations: { [COMPLETION_INDEX_ANNOTATION]: `${index}` } },
    };
  };
  expect(look(elastic, ['n1'], [podOf(0, 'n1'), podOf(2, 'n2')])).toEqual([]);
  expect(look(elastic, ['n2'], [podOf(0, 'n1'), podOf(2, 'n2')])).toEqual([
    'a has given n1 back, where a pod of it runs or will run',
  ]);
});
