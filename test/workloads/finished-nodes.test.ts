/** The nodes that a Job gives back while its other pods run. */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GANG_SIZE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { jobAdapter } from '../../runtime/workloads/job';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

type Spec = { readonly [Key in keyof Job['spec']]?: Job['spec'][Key] | undefined };

const META = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:10Z' };

const job = (spec: Spec) => ({ metadata: META, spec: spec as Job['spec'] });

function pod(phase: 'Running' | 'Succeeded' | 'Failed', nodeName = 'node-1'): Pod {
  return { metadata: META, spec: { containers: [], nodeName }, status: { phase } };
}

const wide = rowIn('Running', {
  ...submission('a', { pods: 3 }),
  allocation: {
    jobid: 7,
    start: 0,
    end: 60,
    nodes: [
      { name: 'node-1', units: { core: '0-1', memory: '0-1' } },
      { name: 'node-2', units: { core: '0', memory: '0' } },
    ],
  },
});

describe('the finished nodes of a Job', () => {
  const marks = { [ASSIGNMENT_ANNOTATION]: '0/2:node-1;2/1:node-2', [JOBID_ANNOTATION]: '7' };
  const released = (spec: Spec = {}, annotations: Record<string, string> = marks) =>
    job({
      completions: 3,
      parallelism: 3,
      template: { metadata: { annotations }, spec: { containers: [] } },
      ...spec,
    });
  const withAnnotations = (
    run: Pod,
    annotations: Record<string, string> = { [JOBID_ANNOTATION]: '7' },
  ): Pod => ({
    ...run,
    metadata: { ...run.metadata, annotations },
  });
  const done = (spec: Spec, ...pods: Pod[]) => jobAdapter.finishedNodes(released(spec), wide, pods);

  test('are the nodes whose pods have all succeeded', () => {
    expect(done({}, withAnnotations(pod('Succeeded', 'node-2')))).toEqual(['node-2']);
    expect(done({}, withAnnotations(pod('Succeeded', 'node-1')))).toEqual([]);
    expect(done({}, withAnnotations(pod('Failed', 'node-2')))).toEqual([]);
    expect(
      done({}, withAnnotations(pod('Succeeded', 'node-1')), withAnnotations(pod('Succeeded', 'node-1'))),
    ).toEqual(['node-1']);
  });

  test('exclude a node with a live pod, for example one in the slot of a succeeded pod', () => {
    const ran = [
      withAnnotations(pod('Succeeded', 'node-1')),
      withAnnotations(pod('Succeeded', 'node-1')),
      withAnnotations(pod('Succeeded', 'node-2')),
    ];
    expect(done({ completionMode: 'NonIndexed' }, ...ran, withAnnotations(pod('Running', 'node-1')))).toEqual(
      ['node-2'],
    );
  });

  test('depend only on pods of the current grant if pods have no indexes', () => {
    expect(done({}, withAnnotations(pod('Succeeded', 'node-2'), { [JOBID_ANNOTATION]: '6' }))).toEqual([]);
  });

  test('depend on the assigned node of each succeeded index, whenever and wherever it succeeded', () => {
    const index = (number: number, nodeName: string) =>
      withAnnotations(pod('Succeeded', nodeName), {
        [COMPLETION_INDEX_ANNOTATION]: String(number),
        [JOBID_ANNOTATION]: '6',
      });
    const indexed = { completionMode: 'Indexed' } as const;
    expect(done(indexed, index(2, 'node-9'))).toEqual(['node-2']);
    expect(done(indexed, index(0, 'node-2'), index(0, 'node-1'))).toEqual([]);
    expect(done(indexed, index(0, 'node-2'), index(1, 'node-2'))).toEqual(['node-1']);
  });

  test('are none while the watch shows the Job as it was before its release', () => {
    const before = released({}, { ...marks, [JOBID_ANNOTATION]: '6' });
    expect(jobAdapter.finishedNodes(before, wide, [withAnnotations(pod('Succeeded', 'node-2'))])).toEqual([]);
  });

  test('are none while more pods will be created', () => {
    expect(done({ completions: 9 }, withAnnotations(pod('Succeeded', 'node-2')))).toEqual([]);
    expect(done({ completions: undefined, parallelism: 0 })).toEqual([]);
  });

  describe('are those without a pod once each task that is left has its pod', () => {
    const left = (spec: Spec, status: NonNullable<Job['status']>, ...pods: Pod[]) =>
      jobAdapter.finishedNodes({ ...released({ suspend: false, ...spec }), status }, wide, pods);
    const indexed = (run: Pod, index: number) =>
      withAnnotations(run, { [COMPLETION_INDEX_ANNOTATION]: String(index), [JOBID_ANNOTATION]: '7' });
    const on1 = withAnnotations(pod('Running', 'node-1'));

    test('at the end of an array', () => {
      expect(left({ completions: 9 }, { succeeded: 7 }, on1)).toEqual([]);
      expect(left({ completions: 9 }, { succeeded: 8 }, on1)).toEqual(['node-2']);
      expect(left({ completions: 9, parallelism: 0 }, { succeeded: 8 })).toEqual([]);
      expect(left({ completions: 9, suspend: true }, { succeeded: 8 }, on1)).toEqual([]);
    });

    test('but not of a gang that may become larger again', () => {
      const elastic = { [ASSIGNMENT_ANNOTATION]: '0/2:node-1;2/1:node-2;3/1:', [JOBID_ANNOTATION]: '7' };
      const metadata = { ...META, annotations: { [GANG_SIZE]: '3' } };
      const spec = { suspend: false, completionMode: 'Indexed', parallelism: 2, completions: 2 } as const;
      const pods = [indexed(on1, 0), indexed(on1, 1)];
      const gang = { ...released(spec, elastic), metadata };
      expect(jobAdapter.finishedNodes(gang, wide, pods)).toEqual([]);
      expect(jobAdapter.finishedNodes({ ...gang, metadata: META }, wide, pods)).toEqual(['node-2']);
    });

    test('of a Job without completions, of which one pod has succeeded', () => {
      expect(left({ completions: undefined }, {}, on1)).toEqual([]);
      expect(left({ completions: undefined }, { succeeded: 1 }, on1)).toEqual(['node-2']);
    });

    test('although somebody deleted the pods that have succeeded', () => {
      const pods = [indexed(on1, 0), indexed(on1, 1)];
      const spec = { completionMode: 'Indexed' } as const;
      expect(left(spec, { succeeded: 1, completedIndexes: '2' }, ...pods)).toEqual(['node-2']);
    });

    test('although the others have failed for good', () => {
      const spec = { completionMode: 'Indexed', backoffLimitPerIndex: 1 } as const;
      const pods = [indexed(on1, 0), indexed(on1, 1), indexed(pod('Failed', 'node-2'), 2)];
      expect(left(spec, {}, ...pods)).toEqual([]);
      expect(left(spec, { failedIndexes: '2' }, ...pods)).toEqual(['node-2']);
    });

    test('but not that of an index whose pod runs elsewhere: the next one is pinned there', () => {
      const spec = { completionMode: 'Indexed', completions: 9 } as const;
      const status = { succeeded: 8, completedIndexes: '0-1,3-8' };
      expect(left(spec, status, indexed(on1, 2))).toEqual([]);
      expect(left(spec, { succeeded: 8, completedIndexes: '0,2-8' }, indexed(on1, 1))).toEqual(['node-2']);
    });

    test('but not that of an index whose pod the watch does not show yet', () => {
      const spec = { completionMode: 'Indexed', completions: 9 } as const;
      const status = { succeeded: 7, completedIndexes: '1,3-8' };
      // Index 3 has ended: the pods of 0 and 2 are the last ones.
      const stale = indexed(on1, 3);
      expect(left(spec, status, stale, indexed(on1, 0))).toEqual([]);
    });
  });
});
