import { ADMITTED_LABEL, GATE, GROUP, GROUP_SIZE, HOLD } from '../../constructs/api/labels';
import { WORKLOAD_KIND_NAMES } from '../../constructs/api/workload-kinds';
import {
  findDeletable,
  findFluxJob,
  findWorkload,
  isMeant,
  ofEach,
  parseAnyWorkload,
  parseWorkload,
} from '../../runtime/cli/workload-names';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';

test.each([
  ['train', ['Job', 'Pod', 'PodGroup', ...WORKLOAD_KIND_NAMES], 'train', undefined],
  ['jobsets/train', ['JobSet'], 'train', undefined],
  ['mpijob/train', ['MPIJob'], 'train', undefined],
  ['trainjob/train', ['JobSet'], 'train', undefined],
  ['pytorchjobs.kubeflow.org/train', ['PyTorchJob'], 'train', undefined],
  ['podgroup/train', ['PodGroup'], 'train', undefined],
  ['job/train', ['Job'], 'train', undefined],
  ['Pods/train', ['Pod'], 'train', undefined],
  ['mc/train', ['Job'], 'train', undefined],
  ['science/train', ['Job', 'Pod', 'PodGroup', ...WORKLOAD_KIND_NAMES], 'train', 'science'],
])('%s', (text, kinds, name, namespace) => {
  const parsed = parseAnyWorkload(text);
  expect(parsed.kinds.map(({ kind }) => kind)).toEqual(kinds);
  expect([parsed.name, parsed.namespace]).toEqual([name, namespace]);
});

test.each(['', '/train', 'science/', 'a/b/c', 'job/'])('%s is refused', (text) => {
  expect(() => parseAnyWorkload(text)).toThrow('FLUXQ_WORKLOAD_NAME');
});

test.each([
  ['deploy/web', 'each Pod of a Deployment is one of its own', 'write pod/NAME'],
  ['statefulset.apps/db', 'each Pod of a StatefulSet is one of its own', 'write pod/NAME'],
  ['cj/nightly', 'each Job of a CronJob is one of its own', 'write job/NAME'],
])('%s is refused, and its workloads are said', (text, problem, remedy) => {
  expect(() => parseWorkload(text)).toThrow(problem);
  expect(() => parseWorkload(text)).toThrow(remedy);
});

describe('the FluxJob of a workload', () => {
  const record = { metadata: { name: 'train-job' }, spec: { workload: { kind: 'Job', name: 'train' } } };
  const objects = new Map<string, object>([
    ['/fluxjobs/train-job', record],
    ['/jobs/train', { metadata: { name: 'train' } }],
    ['/namespaces/a', { metadata: { labels: { 'fluxqueue/enabled': 'true' } } }],
  ]);
  const get = async (path: string) => {
    const found = [...objects].find(([end]) => path.endsWith(end))?.[1];
    if (found !== undefined) return found;
    throw apiError(404, 'not found', undefined, path);
  };
  const client = { get, list: async () => ({ items: [] }) } as unknown as KubernetesClient;

  test.each(['train', 'train-job', 'fj/train-job', 'fluxjob.jobs.converged-computing.org/train-job'])(
    'is found as %s',
    async (text) => {
      expect(await findFluxJob(client, 'a', text)).toBe(record);
    },
  );

  test('leads to the workload', async () => {
    expect((await findWorkload(client, 'a', 'fj/train-job')).shown).toBe('job/train');
    await expect(findWorkload(client, 'a', 'fj/train')).rejects.toThrow(
      /FLUXQ_WORKLOAD_UNKNOWN: .*no FluxJob of this name.*kubectl get fluxjobs -n a lists/,
    );
    // What is deleted is meant by its own name, or by the word.
    await expect(findWorkload(client, 'a', 'train-job')).rejects.toThrow(/FLUXQ_WORKLOAD_UNKNOWN/);
  });

  test('chooses it in a table', () => {
    const isChosen = (text: string) => isMeant(parseWorkload(text), record as never);
    expect(['train', 'fj/train-job', 'fj/train', 'train-job'].map(isChosen)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('a group of pods', () => {
  const pod = (name: string, annotations: object = {}) => ({
    metadata: {
      name,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { [ADMITTED_LABEL]: 'true', [GROUP]: 'ring' },
      annotations: { [GROUP_SIZE]: '2', ...annotations },
    },
    spec: { schedulingGates: [{ name: GATE }] },
  });

  test('is held if one of its pods is, whichever of them', async () => {
    const items = [pod('ring-0'), pod('ring-1', { [HOLD]: 'true' })];
    const client = { list: async () => ({ items }) } as unknown as KubernetesClient;
    const { object, paths } = await findWorkload(client, 'a', 'podgroup/ring');
    expect(object.metadata.name).toBe('ring-1');
    expect(paths).toHaveLength(2);
  });

  test('is written whole, although one of its pods is gone meanwhile', async () => {
    const written: string[] = [];
    const write = async (path: string) => {
      if (path === 'gone') throw apiError(404, 'not found', undefined, path);
      written.push(path);
    };
    await ofEach(['one', 'gone', 'two'], write);
    expect(written).toEqual(['one', 'two']);
    await expect(ofEach(['gone'], write)).rejects.toThrow('not found');
  });
});

const controlledBy = (apiVersion: string, kind: string) => ({
  metadata: {
    name: 'train',
    ownerReferences: [{ apiVersion, kind, name: 'train', uid: 'u', controller: true }],
  },
});
const MINICLUSTER = '/apis/flux-framework.org/v1alpha2/namespaces/a/miniclusters/train';
const TRAIN_JOB = '/apis/trainer.kubeflow.org/v1alpha1/namespaces/a/trainjobs/train';
const JOB = '/apis/batch/v1/namespaces/a/jobs/train';
const JOB_SET = '/apis/jobset.x-k8s.io/v1alpha2/namespaces/a/jobsets/train';
const OF_MINICLUSTER = controlledBy('flux-framework.org/v1alpha2', 'MiniCluster');
const OF_TRAIN_JOB = controlledBy('trainer.kubeflow.org/v1alpha1', 'TrainJob');
const RECORD = '/apis/jobs.converged-computing.org/v1alpha1/namespaces/a/fluxjobs/train-job';

describe('cancel deletes what makes the workload again:', () => {
  const deletable = async (text: string, objects: Readonly<Record<string, object>>) => {
    const get = async (path: string) => {
      if (objects[path] !== undefined) return objects[path];
      throw apiError(404, 'not found', undefined, path);
    };
    const client = { get, list: async () => ({ items: [] }) } as unknown as KubernetesClient;
    const { paths, shown } = await findDeletable(client, 'a', text);
    return [shown, ...paths];
  };

  test.each(['mc/train', 'train', 'job/train', 'fj/train-job'])(
    'a MiniCluster, named as %s',
    async (text) => {
      const workload = { kind: 'Job', name: 'train' };
      const objects = { [JOB]: OF_MINICLUSTER, [MINICLUSTER]: {}, [RECORD]: { spec: { workload } } };
      expect(await deletable(text, objects)).toEqual(['minicluster/train', MINICLUSTER]);
    },
  );

  test.each(['trainjob/train', 'train', 'jobset/train'])('a TrainJob, named as %s', async (text) => {
    const objects = { [JOB_SET]: OF_TRAIN_JOB, [TRAIN_JOB]: {} };
    expect(await deletable(text, objects)).toEqual(['trainjob/train', TRAIN_JOB]);
  });

  test('a workload itself if its owner is gone already, or makes the next one at another time', async () => {
    expect(await deletable('train', { [JOB]: OF_MINICLUSTER })).toEqual(['job/train', JOB]);
    const nightly = controlledBy('batch/v1', 'CronJob');
    const objects = { [JOB]: nightly, '/apis/batch/v1/namespaces/a/cronjobs/train': {} };
    expect(await deletable('train', objects)).toEqual(['job/train', JOB]);
  });
});

const COMPLETE = { conditions: [{ type: 'Complete', status: 'True' }] };
const ADMITTED = { [ADMITTED_LABEL]: 'true' };

describe('of several objects of a name', () => {
  const object = (labels: object = ADMITTED, status: object = {}) => ({
    metadata: { name: 'train', labels },
    status,
  });
  const POD = '/api/v1/namespaces/a/pods/train';
  const find = async (text: string, objects: Readonly<Record<string, object>>, forbidden = '') => {
    const get = async (path: string) => {
      if (objects[path] !== undefined) return objects[path];
      throw apiError(path === forbidden ? 403 : 404, 'not found', undefined, path);
    };
    const client = { get, list: async () => ({ items: [] }) } as unknown as KubernetesClient;
    return (await findWorkload(client, 'a', text)).shown;
  };

  test('the one that is in the queue and goes on is meant', async () => {
    expect(await find('train', { [JOB]: object({}), [POD]: object() })).toBe('pod/train');
    expect(await find('train', { [JOB]: object(ADMITTED, COMPLETE), [POD]: object() })).toBe('pod/train');
    expect(await find('train', { [JOB]: object(), [JOB_SET]: object({}) })).toBe('job/train');
    expect(await find('job/train', { [JOB]: object({}), [POD]: object() })).toBe('job/train');
  });

  test('none is meant if that does not tell', async () => {
    const refusal =
      'FLUXQ_WORKLOAD_NAME: workload: is the name of several workloads (got "train"); write job/train or pod/train';
    await expect(find('train', { [JOB]: object(), [POD]: object() })).rejects.toThrow(refusal);
    await expect(find('train', { [JOB]: object({}), [POD]: object({}) })).rejects.toThrow(refusal);
    const all = { [JOB]: object(), [POD]: object(), [JOB_SET]: object() };
    await expect(find('train', all)).rejects.toThrow('write job/train, pod/train or jobset/train');
  });

  test('what its user may not read is no reason against one that is found', async () => {
    expect(await find('train', { [JOB]: object() }, POD)).toBe('job/train');
    await expect(find('train', {}, POD)).rejects.toThrow('not found');
  });
});

test.each<[string, object | undefined, RegExp]>([
  [
    'a success of the queue',
    { metadata: { name: 'train', labels: ADMITTED }, status: COMPLETE },
    /succeeded soon/,
  ],
  [
    'a Job that waits or runs',
    { metadata: { name: 'train', namespace: 'a', labels: ADMITTED }, status: {} },
    /job\/train has no FluxJob yet .*within a minute if many others of namespace a .*history train/,
  ],
  [
    'a success outside the queue',
    { metadata: {}, status: COMPLETE },
    /no FluxJob in namespace a is about it/,
  ],
  ['no Job at all', undefined, /no FluxJob in namespace a is about it/],
])('without a FluxJob, %s is told by its true reason', async (_, job, message) => {
  const get = async (path: string) => {
    if (job !== undefined && path.endsWith('/jobs/train')) return job;
    if (path.endsWith('/namespaces/a')) return { metadata: { labels: { 'fluxqueue/enabled': 'true' } } };
    throw apiError(404, 'not found', undefined, path);
  };
  const none = { list: async () => ({ items: [], metadata: {} }), watch: async () => 'ended' };
  const client = { get, ...none } as unknown as KubernetesClient;
  await expect(findFluxJob(client, 'a', 'train')).rejects.toThrow(message);
});

test('where the cluster does not know FluxJobs, that is said instead', async () => {
  const missing = async (path: string) => {
    throw apiError(404, '404 page not found', undefined, path);
  };
  const client = { get: missing, list: missing } as unknown as KubernetesClient;
  await expect(findFluxJob(client, 'a', 'train')).rejects.toThrow(/^FLUXQ_NOT_INSTALLED: .*no fluxqueue/);
});

test('a FluxJob that is written a moment later is awaited', async () => {
  const record = { metadata: { name: 'train-job' } };
  const get = async (path: string) => {
    if (path.endsWith('/jobs/train')) return { metadata: { name: 'train', labels: ADMITTED } };
    throw apiError(404, 'not found', undefined, path);
  };
  const list = async () => ({ items: [], metadata: { resourceVersion: '7' } });
  const watch = async (
    _: string,
    { signal, ...options }: { signal: AbortSignal },
    onEvent: (event: object) => void,
  ) => {
    expect(options).toMatchObject({ fieldSelector: 'metadata.name=train-job', resourceVersion: '7' });
    onEvent({ type: 'BOOKMARK', object: {} });
    expect(signal.aborted).toBe(false);
    onEvent({ type: 'ADDED', object: record });
    expect(signal.aborted).toBe(true);
  };
  const client = { get, list, watch } as unknown as KubernetesClient;
  expect(await findFluxJob(client, 'a', 'train')).toBe(record);
});
