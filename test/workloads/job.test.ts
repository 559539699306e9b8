import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  DEADLINE_ANNOTATION,
  GANG_SIZE,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { podsOf } from '../../runtime/workloads/demand';
import { jobAdapter } from '../../runtime/workloads/job';
import { applyJsonPatch, type Operation } from '../fuzz/json-patch';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

const TIME = '2026-01-01T00:00:10Z';
const SECONDS = Date.parse(TIME) / 1000;

type Spec = { readonly [Key in keyof Job['spec']]?: Job['spec'][Key] | undefined };

function job(spec: Spec = {}, status: Job['status'] = {}): Job {
  return {
    metadata: {
      name: 'train',
      namespace: 'science',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: TIME,
    },
    spec: {
      suspend: true,
      completions: 2,
      parallelism: 2,
      template: { spec: { containers: [] } },
      ...spec,
    } as Job['spec'],
    status,
  };
}

function pod(
  phase: 'Running' | 'Succeeded' | 'Failed' | 'Pending',
  nodeName = 'node-1',
  finishedAt = TIME,
): Pod {
  const state = phase === 'Succeeded' ? { terminated: { exitCode: 0, finishedAt } } : {};
  return {
    metadata: { name: 'p', uid: 'p', resourceVersion: '1', creationTimestamp: TIME },
    spec: { containers: [], nodeName },
    status: { phase, containerStatuses: [{ name: 'main', state }] },
  };
}

const ended = (type: string, reason?: string): Job['status'] => ({
  conditions: [
    { type, status: 'True', lastTransitionTime: TIME, ...(reason === undefined ? {} : { reason }) },
  ],
});

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

describe('a Job', () => {
  test('is suspended while spec.suspend is true and it has not finished', () => {
    expect(jobAdapter.isSuspended(job())).toBe(true);
    expect(jobAdapter.isSuspended(job({ suspend: false }))).toBe(false);
    expect(jobAdapter.isSuspended(job({}, ended('Failed')))).toBe(false);
  });

  test.each([
    ['its parallelism', { parallelism: 3, completions: 10 }, 3],
    ['no more than its completions', { parallelism: 10, completions: 3 }, 3],
    ['its parallelism without completions', { parallelism: 4, completions: undefined }, 4],
    ['one by default', { parallelism: undefined, completions: undefined }, 1],
    ['none', { parallelism: 0 }, 0],
  ])('requests as many pods as %s', (_, spec, pods) => {
    expect(podsOf(jobAdapter.demand(job(spec)))).toBe(pods);
  });

  const released = (from: Job, row: WorkloadRow, now = from): Job | undefined =>
    applyJsonPatch(now, jobAdapter.releasePatch(from, row).body as readonly Operation[]);

  test('is released by one patch, after which it counts as released onto that allocation', () => {
    const annotations = {
      [ASSIGNMENT_ANNOTATION]: '0/2:node-1;2/1:node-2;replaces-deleted',
      [JOBID_ANNOTATION]: '7',
    };
    const before = job();
    const after = released(before, wide)!;
    expect(after).toEqual({
      ...before,
      metadata: { ...before.metadata, annotations: { [DEADLINE_ANNOTATION]: '60+3600/none' } },
      spec: {
        ...before.spec,
        suspend: false,
        activeDeadlineSeconds: 3660,
        podReplacementPolicy: 'Failed',
        template: { metadata: { annotations }, spec: { containers: [] } },
      },
    });
    expect(jobAdapter.isReleasedOnto(after, wide)).toBe(true);
    expect(jobAdapter.isReleasedOnto(after, rowIn('Ready'))).toBe(false);
  });

  test('keeps the other labels and annotations when it is released', () => {
    const template = {
      metadata: { labels: { app: 'x' }, annotations: { note: 'y' } },
      spec: { containers: [] },
    };
    const before = job({ manualSelector: true, template } as Spec);
    const kept = { ...before, metadata: { ...before.metadata, annotations: { 'a/b~c': 'd' } } };
    const after = released(kept, wide)!;
    expect(after.metadata.annotations).toEqual({ 'a/b~c': 'd', [DEADLINE_ANNOTATION]: '60+3600/none' });
    expect(after.spec.template.metadata).toMatchObject({
      labels: { app: 'x', [JOB_UID_LABEL]: 'u' },
      annotations: { note: 'y', [JOBID_ANNOTATION]: '7' },
    });
  });

  test.each([
    ['another spec', { generation: 2 }],
    ['another label', { labels: { 'fluxqueue/hold': 'true' } }],
    ['another annotation', { annotations: { 'fluxqueue/walltime': '2h' } }],
    ['another uid', { uid: 'later' }],
  ])('is not released with %s than was compared with its grant', (_, metadata) => {
    const seen = job();
    expect(released(seen, wide, { ...seen, metadata: { ...seen.metadata, ...metadata } })).toBeUndefined();
  });

  test('is released whatever its status is meanwhile', () => {
    const seen = job();
    const written = { ...seen, metadata: { ...seen.metadata, resourceVersion: '2' }, status: { active: 0 } };
    expect(released(seen, wide, written)).toBeDefined();
  });

  test.each([
    ['set none', undefined, undefined, 3661, '61+3600/none', undefined],
    ['set a later one', 600, undefined, 600, '61+539/600', 600],
    ['set a much later one', 86_400, undefined, 3661, '61+3600/86400', 86_400],
    ['set an earlier one, which is kept', 30, undefined, 30, null, 30],
    ['set the same one', 61, undefined, 61, null, 61],
    ['set none and an earlier release wrote a shorter one', 20, '20/none', 3661, '61+3600/none', undefined],
    ['set a later one and an earlier release wrote a shorter one', 20, '20/600', 600, '61+539/600', 600],
    ['set one after an earlier release wrote another', 40, '20/600', 40, null, 40],
    ['is unknown to the version that wrote the last one', 20, '20', 3661, '61+3600/none', 20],
  ])('gets the deadline of its walltime if its user %s', (_, given, written, deadline, mark, users) => {
    const train = job({ activeDeadlineSeconds: given });
    const annotations = written === undefined ? {} : { [DEADLINE_ANNOTATION]: written };
    const marked = { ...train, metadata: { ...train.metadata, annotations } };
    const after = released(marked, { ...wide, walltime: 60.2 })!;
    expect(after.metadata.annotations?.[DEADLINE_ANNOTATION] ?? null).toBe(mark);
    expect(after.spec.activeDeadlineSeconds).toBe(deadline);
    expect(jobAdapter.demand(marked).deadlineSeconds).toBe(users);
  });

  test.each([[undefined], [30], [61], [864_000]])(
    'asks after a release for the deadline of its user as before, if that is %s',
    (given) => {
      const first = job({ activeDeadlineSeconds: given });
      const second = released(released(first, wide)!, { ...wide, walltime: 40 })!;
      for (const each of [first, released(first, wide)!, second])
        expect(jobAdapter.demand(each).deadlineSeconds).toBe(given);
    },
  );

  test('has no priority of its own, because its template can contain any number', () => {
    const template = { spec: { containers: [], priority: 1_000_000 } };
    expect(jobAdapter.demand(job({ template })).priority).toBeUndefined();
  });

  const elasticJob = (gang: string, spec: Spec = {}): Job => {
    const elastic = job({ completionMode: 'Indexed', parallelism: 3, completions: 3, ...spec });
    return { ...elastic, metadata: { ...elastic.metadata, annotations: { [GANG_SIZE]: gang } } };
  };

  test.each([
    ['its gang size', elasticJob('2'), 2],
    ['no more than its parallelism', elasticJob('8'), 3],
    ['all its pods if the gang size is invalid', elasticJob('many'), 3],
    ['all its pods if they have no indexes', elasticJob('2', { completionMode: 'NonIndexed' }), 3],
  ])('with a gang size requests %s', (_, elastic, pods) => {
    expect(podsOf(jobAdapter.demand(elastic))).toBe(pods);
  });

  const SLOTS = '0/2:node-1;2/1:node-2';
  const OPEN = `${SLOTS};3/1:`;

  test.each([
    [
      'an open assignment where others run beside it',
      elasticJob('3', { parallelism: 4, completions: 4 }),
      OPEN,
    ],
    ['an open assignment, with which it may become wider', elasticJob('3'), OPEN],
    ['its slots for its later tasks', elasticJob('3', { completions: 6 }), SLOTS],
    ['the same with a smaller size', elasticJob('2', { completions: 6 }), SLOTS],
  ])('with a gang size is released with %s', (_, elastic, assignment) => {
    expect(released(elastic, wide)?.spec.template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION]).toMatch(
      new RegExp(`^${assignment}(;replaces-deleted)?$`),
    );
  });

  test('keeps its gang while it runs and its user makes it smaller', () => {
    const run = released(elasticJob('2', { parallelism: 4, completions: 4 }), wide)!;
    const smaller = { ...run, spec: { ...run.spec, parallelism: 3 } };
    expect(podsOf(jobAdapter.demand(smaller))).toBe(2);
  });

  test('can be released once the Job controller has reset its start time', () => {
    expect(jobAdapter.canRelease(job())).toBe(true);
    expect(jobAdapter.canRelease(job({}, { startTime: TIME }))).toBe(false);
  });

  test('is suspended by a patch unless it is suspended already', () => {
    expect(jobAdapter.suspendPatch(job({ suspend: false }))).toMatchObject({
      body: { spec: { suspend: true } },
    });
    expect(jobAdapter.suspendPatch(job())).toBeUndefined();
  });
});

describe('the outcome of a Job', () => {
  test.each([
    ['Complete', undefined, 'Succeeded'],
    ['Failed', 'BackoffLimitExceeded', 'Failed'],
    ['Failed', 'DeadlineExceeded', 'TimedOut'],
  ])('condition %s with reason %s means %s', (type, reason, result) => {
    expect(jobAdapter.outcome(job({}, ended(type, reason)), [], 99)).toEqual({ result, finishedAt: SECONDS });
  });

  test('says of a Job that none of its pods ran in time', () => {
    const ofDeadline = job({ activeDeadlineSeconds: 60 }, ended('Failed', 'DeadlineExceeded'));
    expect(jobAdapter.outcome(ofDeadline, [], 99, rowIn('Ready'))).toEqual({
      result: 'TimedOut',
      finishedAt: SECONDS,
      message: 'none of its pods is known to have run within its activeDeadlineSeconds (60 s)',
    });
    expect(jobAdapter.outcome(ofDeadline, [], 99, rowIn('Running'))?.message).toBeUndefined();
  });

  test('is undefined while one of its pods can still run', () => {
    expect(jobAdapter.outcome(job({}, ended('Failed')), [pod('Running')], 99)).toBeUndefined();
    expect(jobAdapter.outcome(job(), [pod('Succeeded'), pod('Pending')], 99)).toBeUndefined();
    expect(jobAdapter.outcome(job(), [], 99)).toBeUndefined();
  });

  test('is known from its succeeded pods before the Job controller reports it, with the time of the last container', () => {
    const pods = [pod('Succeeded'), pod('Succeeded', 'node-1', '2026-01-01T00:00:20Z'), pod('Failed')];
    const run = job({ suspend: false });
    expect(jobAdapter.outcome(run, pods, 99)).toEqual({ result: 'Succeeded', finishedAt: SECONDS + 10 });
    expect(jobAdapter.outcome(run, pods.slice(1), 99)).toBeUndefined();
    expect(jobAdapter.outcome(job({ suspend: false, completions: undefined }), pods, 99)).toBeUndefined();
    // The Job controller says what it counts of what had to leave.
    expect(jobAdapter.outcome(job(), pods, 99)).toBeUndefined();
    expect(jobAdapter.outcome(job({ suspend: false }, ended('FailureTarget')), pods, 99)).toBeUndefined();
  });

  test('counts no task twice, and none that had to leave', () => {
    const of = (index: number, more: Partial<Pod['metadata']> = {}): Pod => {
      const { metadata, ...one } = pod('Succeeded');
      const annotations = { [COMPLETION_INDEX_ANNOTATION]: String(index) };
      return { ...one, metadata: { ...metadata, annotations, ...more } };
    };
    const left = { deletionTimestamp: TIME, deletionGracePeriodSeconds: 0 };
    const indexed = job({ suspend: false, completionMode: 'Indexed' });
    expect(jobAdapter.outcome(indexed, [of(0), of(0)], 99)).toBeUndefined();
    expect(jobAdapter.outcome(indexed, [of(0), of(1, left)], 99)).toBeUndefined();
    expect(jobAdapter.outcome(job({ suspend: false }), [of(0), of(0, left)], 99)).toBeUndefined();
    expect(jobAdapter.outcome(indexed, [of(0), of(1)], 99)).toMatchObject({ result: 'Succeeded' });
    const fewer = { ...indexed, spec: { ...indexed.spec, completions: 1 } };
    expect(jobAdapter.outcome(fewer, [of(1)], 99)).toBeUndefined();
  });
});
