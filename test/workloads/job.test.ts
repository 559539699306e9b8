import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  DEADLINE_ANNOTATION,
  GANG_SIZE,
  GATE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { jobAdapter } from '../../runtime/workloads/job';
import { unpinned } from '../../runtime/workloads/pod';
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
  test('is held back while it is suspended and not over', () => {
    expect(jobAdapter.isHeldBack(job())).toBe(true);
    expect(jobAdapter.isHeldBack(job({ suspend: false }))).toBe(false);
    expect(jobAdapter.isHeldBack(job({}, ended('Failed')))).toBe(false);
  });

  test.each([
    ['as many as run at once', { parallelism: 3, completions: 10 }, 3],
    ['no more than it needs', { parallelism: 10, completions: 3 }, 3],
    ['without completions', { parallelism: 4, completions: undefined }, 4],
    ['one by default', { parallelism: undefined, completions: undefined }, 1],
    ['none', { parallelism: 0 }, 0],
  ])('asks for pods: %s', (_, spec, pods) => {
    expect(jobAdapter.demand(job(spec)).pods).toBe(pods);
  });

  test('is released by one patch, which the same allocation recognises', () => {
    const patch = jobAdapter.release(job(), wide);
    expect(patch).toEqual({
      type: 'merge',
      body: {
        metadata: { uid: 'u', annotations: { [DEADLINE_ANNOTATION]: '60' } },
        spec: {
          suspend: false,
          activeDeadlineSeconds: 60,
          template: {
            metadata: {
              annotations: { [ASSIGNMENT_ANNOTATION]: '0/2:node-1;2/1:node-2', [JOBID_ANNOTATION]: '7' },
            },
          },
        },
      },
    });
    const template = {
      metadata: {
        annotations: { [ASSIGNMENT_ANNOTATION]: '0/2:node-1;2/1:node-2', [JOBID_ANNOTATION]: '7' },
      },
      spec: { containers: [] },
    };
    expect(jobAdapter.isReleasedOnto(job({ suspend: false, template }), wide)).toBe(true);
    expect(jobAdapter.isReleasedOnto(job({ suspend: false, template }), rowIn('Ready'))).toBe(false);
  });

  test.each([
    ['gave none', undefined, undefined, 61, '61'],
    ['gave a later one', 600, undefined, 61, '61'],
    ['gave an earlier one, which stays theirs', 30, undefined, 30, null],
    ['gave the same', 61, undefined, 61, null],
    ['gave none, and the queue wrote a shorter one at an earlier release', 20, '20', 61, '61'],
    ['gave one after the queue had written another', 40, '20', 40, null],
  ])('ends with its walltime where its user %s', (_, given, written, deadline, mark) => {
    const train = job({ activeDeadlineSeconds: given });
    const annotations = written === undefined ? {} : { [DEADLINE_ANNOTATION]: written };
    const marked = { ...train, metadata: { ...train.metadata, annotations } };
    expect(jobAdapter.release(marked, { ...wide, walltime: 60.2 }).body).toMatchObject({
      metadata: { annotations: { [DEADLINE_ANNOTATION]: mark } },
      spec: { activeDeadlineSeconds: deadline },
    });
    const users = written === String(given) ? undefined : given;
    expect(jobAdapter.demand(marked).deadlineSeconds).toBe(users);
  });

  test('has no priority of its own: a template may claim anything', () => {
    const template = { spec: { containers: [], priority: 1_000_000 } };
    expect(jobAdapter.demand(job({ template })).priority).toBeUndefined();
  });

  const growing = (gang: string, spec: Spec = {}): Job => {
    const made = job({ completionMode: 'Indexed', parallelism: 3, completions: 3, ...spec });
    return { ...made, metadata: { ...made.metadata, annotations: { [GANG_SIZE]: gang } } };
  };

  test.each([
    ['its gang', growing('2'), 2],
    ['no more than it has', growing('8'), 3],
    ['all of them, where the size of the gang is none', growing('many'), 3],
    ['all of them, without indexes', growing('2', { completionMode: 'NonIndexed' }), 3],
  ])('that may grow asks for %s', (_, made, pods) => {
    expect(jobAdapter.demand(made).pods).toBe(pods);
  });

  test('that may grow is released with an open assignment', () => {
    expect(jobAdapter.release(growing('3'), wide)).toMatchObject({
      body: {
        spec: {
          template: { metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: '0/2:node-1;2/1:node-2;3/1:' } } },
        },
      },
    });
  });

  test('can be released once the Job controller has let go of the run before', () => {
    expect(jobAdapter.canRelease(job())).toBe(true);
    expect(jobAdapter.canRelease(job({}, { startTime: TIME }))).toBe(false);
  });

  test('is taken back once', () => {
    expect(jobAdapter.recall(job({ suspend: false }))).toMatchObject({ body: { spec: { suspend: true } } });
    expect(jobAdapter.recall(job())).toBeUndefined();
  });
});

describe('a pod of a Job that went astray', () => {
  const row = { ...wide, jobid: 7 };
  const made = (nodeName: string | undefined, jobid = '7', more: Partial<Pod['metadata']> = {}): Pod => {
    const { spec, metadata, ...rest } = pod('Running', nodeName);
    const { nodeName: _, ...unbound } = spec;
    return {
      ...rest,
      spec: nodeName === undefined ? unbound : spec,
      metadata: { ...metadata, annotations: { [JOBID_ANNOTATION]: jobid }, ...more },
    };
  };
  const strays = (one: Pod) => unpinned(row, [made('node-1'), one]) === one;

  test('is bound to a node that is not its own, or to none', () => {
    expect(strays(made('node-3'))).toBe(true);
    expect(strays(made(undefined))).toBe(true);
    expect(strays(made('node-2'))).toBe(false);
  });

  test('is neither one of another run, nor one that waits for its place, ended or is on its way out', () => {
    const gated = made(undefined);
    expect(strays({ ...gated, spec: { ...gated.spec, schedulingGates: [{ name: GATE }] } })).toBe(false);
    expect(strays({ ...made('node-3'), status: { phase: 'Failed' } })).toBe(false);
    expect(strays(made('node-3', '6'))).toBe(false);
    expect(strays(made('node-3', '7', { deletionTimestamp: TIME }))).toBe(false);
  });
});

describe('the outcome of a Job', () => {
  test.each([
    ['Complete', undefined, 'Succeeded'],
    ['Failed', 'BackoffLimitExceeded', 'Failed'],
    ['Failed', 'DeadlineExceeded', 'TimedOut'],
  ])('%s (%s) is %s', (type, reason, result) => {
    expect(jobAdapter.outcome(job({}, ended(type, reason)), [], 99)).toEqual({ result, finishedAt: SECONDS });
  });

  test('is not known while a pod of it may still run', () => {
    expect(jobAdapter.outcome(job({}, ended('Failed')), [pod('Running')], 99)).toBeUndefined();
    expect(jobAdapter.outcome(job(), [pod('Succeeded'), pod('Pending')], 99)).toBeUndefined();
    expect(jobAdapter.outcome(job(), [], 99)).toBeUndefined();
  });

  test('is known before the Job controller says so, with the time of the last container', () => {
    const pods = [pod('Succeeded'), pod('Succeeded', 'node-1', '2026-01-01T00:00:20Z'), pod('Failed')];
    expect(jobAdapter.outcome(job(), pods, 99)).toEqual({ result: 'Succeeded', finishedAt: SECONDS + 10 });
    expect(jobAdapter.outcome(job(), pods.slice(1), 99)).toBeUndefined();
    expect(jobAdapter.outcome(job({ completions: undefined }), pods, 99)).toBeUndefined();
  });
});

describe('nodes on which nothing of a Job runs again', () => {
  const marks = { [ASSIGNMENT_ANNOTATION]: '0/2:node-1;2/1:node-2', [JOBID_ANNOTATION]: '7' };
  const released = (spec: Spec = {}, annotations: Record<string, string> = marks) =>
    job({
      completions: 3,
      parallelism: 3,
      template: { metadata: { annotations }, spec: { containers: [] } },
      ...spec,
    });
  const of = (run: Pod, annotations: Record<string, string> = { [JOBID_ANNOTATION]: '7' }): Pod => ({
    ...run,
    metadata: { ...run.metadata, annotations },
  });
  const done = (spec: Spec, ...pods: Pod[]) => jobAdapter.doneOn(released(spec), wide, pods);

  test('those whose pods have all succeeded', () => {
    expect(done({}, of(pod('Succeeded', 'node-2')))).toEqual(['node-2']);
    expect(done({}, of(pod('Succeeded', 'node-1')))).toEqual([]);
    expect(done({}, of(pod('Failed', 'node-2')))).toEqual([]);
    expect(done({}, of(pod('Succeeded', 'node-1')), of(pod('Succeeded', 'node-1')))).toEqual(['node-1']);
  });

  test('none on which a pod of it is still there, as one that took the place of one that succeeded', () => {
    const ran = [
      of(pod('Succeeded', 'node-1')),
      of(pod('Succeeded', 'node-1')),
      of(pod('Succeeded', 'node-2')),
    ];
    expect(done({ completionMode: 'NonIndexed' }, ...ran, of(pod('Running', 'node-1')))).toEqual(['node-2']);
  });

  test('without indexes only pods of this run count', () => {
    expect(done({}, of(pod('Succeeded', 'node-2'), { [JOBID_ANNOTATION]: '6' }))).toEqual([]);
  });

  test('with indexes each counts where this run has its place, whenever and wherever it succeeded', () => {
    const index = (number: number, nodeName: string) =>
      of(pod('Succeeded', nodeName), {
        [COMPLETION_INDEX_ANNOTATION]: String(number),
        [JOBID_ANNOTATION]: '6',
      });
    const indexed = { completionMode: 'Indexed' } as const;
    expect(done(indexed, index(2, 'node-9'))).toEqual(['node-2']);
    expect(done(indexed, index(0, 'node-2'), index(0, 'node-1'))).toEqual([]);
    expect(done(indexed, index(0, 'node-2'), index(1, 'node-2'))).toEqual(['node-1']);
  });

  test('none of a Job that we see as it was before this run', () => {
    const before = released({}, { ...marks, [JOBID_ANNOTATION]: '6' });
    expect(jobAdapter.doneOn(before, wide, [of(pod('Succeeded', 'node-2'))])).toEqual([]);
  });

  test('none, while more pods are to come', () => {
    expect(done({ completions: 9 }, of(pod('Succeeded', 'node-2')))).toEqual([]);
    expect(done({ completions: undefined }, of(pod('Succeeded', 'node-2')))).toEqual([]);
  });
});
