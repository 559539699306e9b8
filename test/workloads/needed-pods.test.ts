/** What an array keeps of its grant when its user lowers the parallelism. */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { AllocatedNode } from '../../runtime/resources/types';
import { jobAdapter } from '../../runtime/workloads/job';
import { awaitedPods, neededPods } from '../../runtime/workloads/needed-pods';
import { reducedGrant } from '../../runtime/workloads/reduced-grant';
import { rowIn } from '../queue/rows';

const node = (name: string, core: string): AllocatedNode => ({ name, units: { core } });
const base = rowIn('Running', { jobid: 7, pods: 3 });
const perPod = 2;
const row = (...nodes: readonly AllocatedNode[]) => ({
  ...base,
  allocation: { jobid: 7, start: 0, end: 100, nodes },
  jobspec: {
    ...base.jobspec,
    resources: [{ type: 'slot', count: 3, label: 'pod', with: [{ type: 'core', count: perPod }] }],
  },
});

const job = (parallelism: number, mode: 'Indexed' | 'NonIndexed', assignment: string): Job => ({
  metadata: { name: 'tasks', uid: 'job', resourceVersion: '1', creationTimestamp: '' },
  spec: {
    parallelism,
    completions: 3,
    completionMode: mode,
    template: {
      metadata: { annotations: { [JOBID_ANNOTATION]: '7', [ASSIGNMENT_ANNOTATION]: assignment } },
      spec: { containers: [] },
    },
  },
});
const pod = (index: number, nodeName: string, phase: 'Running' | 'Succeeded'): Pod => ({
  metadata: {
    name: `tasks-${index}`,
    uid: `${index}`,
    resourceVersion: '1',
    creationTimestamp: '',
    annotations: { [COMPLETION_INDEX_ANNOTATION]: String(index), [JOBID_ANNOTATION]: '7' },
  },
  spec: { containers: [], nodeName },
  status: { phase },
});

const ONE = row(node('a', '0-5'));
const THREE = row(node('a', '0-1'), node('b', '4,5'), node('c', '0-1'));
const runsOn = (...names: readonly string[]) => names.map((name, index) => pod(index, name, 'Running'));
const needed = (...given: Parameters<typeof neededPods>) => Object.fromEntries(neededPods(...given) ?? []);

test('as long as its pods run, an array keeps their units', () => {
  expect(needed(job(1, 'Indexed', '0/3:a'), ONE, runsOn('a', 'a', 'a'))).toEqual({ a: 3 });
});

test('its tasks run one after the other on their node', () => {
  const kept = needed(job(1, 'Indexed', '0/3:a'), ONE, runsOn('a'));
  expect(kept).toEqual({ a: 1 });
  expect(reducedGrant(ONE, new Map(Object.entries(kept)))).toEqual({
    allocation: { ...ONE.allocation, nodes: [node('a', '0-1')] },
    freed: [node('a', '2-5')],
  });
});

test('a node to which a task is pinned that is still to come is kept, and given back after it', () => {
  const indexed = job(1, 'Indexed', '0/1:a,b,c');
  expect(needed(indexed, THREE, runsOn('a'))).toEqual({ a: 1, b: 1, c: 1 });
  const pods = [pod(0, 'a', 'Succeeded'), pod(1, 'b', 'Running')];
  expect(needed(indexed, THREE, pods)).toEqual({ a: 0, b: 1, c: 1 });
});

test('without indexes, the nodes of the pods that are left are enough', () => {
  const plain = job(2, 'NonIndexed', '0/1:a,b,c');
  expect(needed(plain, THREE, runsOn('b'))).toEqual({ a: 1, b: 1, c: 0 });
});

test('an array with all of its pods, and one that is not released yet, keep everything', () => {
  expect(neededPods(job(3, 'Indexed', '0/3:a'), ONE, [])).toBeUndefined();
  expect(neededPods(job(1, 'Indexed', '0/3:a'), { ...ONE, jobid: 8 }, [])).toBeUndefined();
});

test('the last units are freed by the end, and whole nodes are not divided', () => {
  expect(reducedGrant(ONE, new Map())).toBeUndefined();
  const whole = row({ ...node('a', '0-5'), exclusive: true });
  expect(reducedGrant(whole, new Map([['a', 1]]))).toBeUndefined();
});

describe('pods to come that admission pins by their index', () => {
  /** Three of its four tasks were granted at once; the fourth is gated. */
  const array = (more: object = {}, jobid = '7') => {
    const { spec, ...rest } = job(4, 'Indexed', '0/3:a');
    const annotations = { [JOBID_ANNOTATION]: jobid, [ASSIGNMENT_ANNOTATION]: '0/3:a' };
    return {
      ...rest,
      spec: { ...spec, completions: 4, template: { ...spec.template, metadata: { annotations } }, ...more },
    };
  };
  const ends = (index: number, phase: 'Succeeded' | 'Failed') =>
    ({ ...pod(index, 'a', 'Succeeded'), status: { phase } }) as Pod;
  const awaited = (of: Job, pods: readonly Pod[], missing = 4 - pods.length) =>
    Object.fromEntries(awaitedPods(of, ONE, pods, missing));
  const last = pod(3, 'a', 'Running');

  test('have their slots, whatever pods the watch shows first', () => {
    expect(awaited(array(), [last])).toEqual({ a: 3 });
    expect(awaited(array(), [pod(0, 'a', 'Running'), pod(1, 'a', 'Running'), last])).toEqual({ a: 1 });
    expect(awaited(array(), [...runsOn('a', 'a', 'a'), last])).toEqual({});
  });

  test('are those of failed tasks, unless each task may fail for good', () => {
    const pods = [ends(0, 'Failed'), pod(1, 'a', 'Running'), pod(2, 'a', 'Running'), last];
    expect(awaited(array(), pods, 1)).toEqual({ a: 1 });
    expect(awaited(array({ backoffLimitPerIndex: 3 }), pods, 1)).toEqual({ a: 1 });
    expect(awaited(array({ backoffLimitPerIndex: 0 }), pods, 1)).toEqual({});
  });

  test('are none once tasks have succeeded, or if nothing is missing', () => {
    expect(
      awaited(
        array(),
        [0, 1, 2].map((index) => ends(index, 'Succeeded')),
        1,
      ),
    ).toEqual({});
    expect(awaited(array(), [last], 0)).toEqual({});
  });

  test('count no further for an array that has ended a million other tasks', () => {
    const of: Job = { ...array(), spec: { ...array().spec, completions: 10 ** 9 } };
    const status = { succeeded: 10 ** 9 - 3, completedIndexes: '1-2,4-999999999' };
    expect(awaited({ ...of, status }, [], 1)).toEqual({ a: 1 });
  });

  test('are none for tasks that have ended, although somebody deleted their pods', () => {
    const of: Job = {
      ...array({ backoffLimitPerIndex: 0 }),
      status: { succeeded: 2, completedIndexes: '0,1', failedIndexes: '2' },
    };
    expect(awaited(of, [last], 1)).toEqual({});
    expect(jobAdapter.missingPods(of, ONE, [])).toBe(1);
    expect(jobAdapter.missingPods(of, ONE, [last])).toBe(0);
  });

  test('are all while the watch of Jobs is behind that of pods', () => {
    expect(awaited(array({}, '6'), [last])).toEqual({ a: 3 });
    expect(awaited(array({}, '6'), [])).toEqual({ a: 3 });
  });

  test('are unknown without indexes', () => {
    expect(awaited(array({ completionMode: 'NonIndexed' }), [last])).toEqual({});
  });
});
