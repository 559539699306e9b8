/** Which pods a released Job replaces, and what becomes of it with dead kubelets and with the guard of an earlier version. */
import {
  ASSIGNMENT_ANNOTATION,
  FIELD_MANAGER,
  GANG_SIZE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import type { JsonPatchOperation, PodReplacementPolicy } from '../../runtime/workloads/adapter';
import { jobAdapter } from '../../runtime/workloads/job';
import { keepReplacementPolicy, wantedPolicy } from '../../runtime/workloads/replacement-policy';
import { applyJsonPatch } from '../fuzz/json-patch';
import { rowIn } from '../queue/rows';
import { array, RUNS, setUp, pod as watchedPod } from './watched-grant';

const DELETED = '2026-01-01T00:00:30Z';
const NODES = { exists: (name: string) => name !== 'gone', isReady: (name: string) => name !== 'dead' };

function pod(nodeName: string | undefined, deletionTimestamp?: string, phase = 'Running'): Pod {
  return {
    metadata: { name: 'p', uid: 'p', resourceVersion: '1', ...(deletionTimestamp && { deletionTimestamp }) },
    spec: { containers: [], ...(nodeName && { nodeName }) },
    status: { phase },
  } as unknown as Pod;
}

describe('a released Job', () => {
  test.each<[PodReplacementPolicy, string, Pod]>([
    ['Failed', 'while its pods run', pod('alive')],
    ['Failed', 'while a pod ends on a live node', pod('alive', DELETED)],
    ['Failed', 'while a pod on a dead node was not asked to end', pod('dead')],
    [
      'Failed',
      'while a pod that was asked to end has no node, because Kubernetes ends it',
      pod(undefined, DELETED),
    ],
    ['Failed', 'once a pod on a dead node has ended', pod('dead', DELETED, 'Failed')],
    ['TerminatingOrFailed', 'while a pod that was asked to end waits for a dead node', pod('dead', DELETED)],
    [
      'TerminatingOrFailed',
      'while a pod that was asked to end waits for a node that is gone',
      pod('gone', DELETED),
    ],
  ])('has the policy %s %s', (policy, _, of) => {
    expect(wantedPolicy([pod('alive'), of], NODES)).toBe(policy);
  });

  test('replaces none while one ends on a live node, also beside one that waits for a dead node', () => {
    expect(wantedPolicy([pod('alive', DELETED), pod('dead', DELETED)], NODES)).toBe('Failed');
  });
});

/** Its job id is that of its row. */
function job(podReplacementPolicy: PodReplacementPolicy, jobid = 7): Job {
  return {
    metadata: {
      name: 'train',
      namespace: 'science',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      labels: {},
      annotations: {},
    },
    spec: {
      podReplacementPolicy,
      template: {
        metadata: { annotations: { [JOBID_ANNOTATION]: String(jobid) } },
        spec: { containers: [] },
      },
    },
  } as unknown as Job;
}

/** Released by this version, and its user had the default. */
function noted(object: Job): Job {
  const { template } = object.spec;
  const annotations = {
    ...template.metadata?.annotations,
    [ASSIGNMENT_ANNOTATION]: '0/1:alive;replaces-deleted',
  };
  return {
    ...object,
    spec: { ...object.spec, template: { ...template, metadata: { ...template.metadata, annotations } } },
  };
}

interface Given {
  readonly manager?: string;
  readonly hasLeft?: boolean;
  readonly refuses?: boolean;
}

async function kept(
  object: Job,
  pods: readonly Pod[],
  { manager = FIELD_MANAGER, hasLeft = false, refuses }: Given = {},
) {
  const patches: unknown[] = [];
  const managedFields = [{ manager, fieldsV1: { 'f:spec': { 'f:podReplacementPolicy': {} } } }];
  const client = {
    get: async () => ({ ...object, metadata: { ...object.metadata, managedFields } }),
    patch: async (_path: string, body: readonly { readonly value: unknown }[]) => {
      if (refuses === true) throw apiError(403, '{}', undefined, 'PATCH jobs');
      patches.push(body.at(-1)!.value);
      return object;
    },
  } as unknown as KubernetesClient;
  const options = { client, nodes: NODES, hasLeft, logger: createLogger('test', 'silent') };
  const row = rowIn('Running', { jobid: 7 });
  const result = await keepReplacementPolicy(options, { object, adapter: jobAdapter, row, pods });
  return { patches, result };
}

describe('the policy of a released Job', () => {
  const awaited = [pod('dead', DELETED)];

  test('is that of the queue, also if an earlier version released the Job', async () => {
    expect((await kept(job('TerminatingOrFailed'), [pod('alive')])).patches).toEqual(['Failed']);
    expect((await kept(job('Failed'), [pod('alive')])).patches).toEqual([]);
  });

  test('changes while a dead kubelet does not confirm an end', async () => {
    expect((await kept(job('Failed'), awaited)).patches).toEqual(['TerminatingOrFailed']);
    expect((await kept(job('TerminatingOrFailed'), awaited)).patches).toEqual([]);
  });

  test("stays if Failed is its user's own wish", async () => {
    expect((await kept(job('Failed'), awaited, { manager: 'kubectl' })).patches).toEqual([]);
  });

  test('changes although a manifest that is applied again has taken the field over', async () => {
    expect((await kept(noted(job('Failed')), awaited, { manager: 'kubectl' })).patches).toEqual([
      'TerminatingOrFailed',
    ]);
  });

  test('is the default again in a namespace that left, unless it is the wish of its user', async () => {
    const left = { hasLeft: true, manager: 'kubectl' };
    expect((await kept(noted(job('Failed')), [pod('alive')], left)).patches).toEqual(['TerminatingOrFailed']);
    expect((await kept(job('Failed'), [pod('alive')], left)).patches).toEqual([]);
  });

  test('is noted by a release, and by the next one, unless it is the wish of its user', () => {
    const row = rowIn('Ready', {
      jobid: 7,
      allocation: { jobid: 7, start: 0, end: 60, nodes: [{ name: 'alive', units: { core: '0' } }] },
    });
    const released = (object: Job) => {
      const { body } = jobAdapter.releasePatch(object, row);
      return applyJsonPatch(object, body as readonly JsonPatchOperation[]) as Job;
    };
    const suspended = (object: Job): Job => ({ ...object, spec: { ...object.spec, suspend: true } });
    const noted = '0/1:alive;replaces-deleted';
    const first = released(suspended(job('TerminatingOrFailed')));
    const second = released(suspended(first));
    for (const each of [first, second]) {
      expect(each.spec.podReplacementPolicy).toBe('Failed');
      expect(jobAdapter.isReplacementNoted(each)).toBe(true);
      expect(jobAdapter.isReleasedOnto(each, row)).toBe(true);
      expect(each.spec.template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION]).toBe(noted);
      expect(jobAdapter.recordedGrant(each, [])?.placement).toEqual([{ node: 'alive', pods: 1 }]);
    }
    expect(jobAdapter.isReplacementNoted(released(suspended(job('Failed'))))).toBe(false);
  });

  test('stays as long as the watch is behind the release', async () => {
    expect((await kept(job('TerminatingOrFailed', 6), [pod('alive')])).patches).toEqual([]);
  });

  test('is written again a minute after the guard of an earlier version refused it', async () => {
    const { result } = await kept(job('TerminatingOrFailed'), [pod('alive')], { refuses: true });
    expect(result).toEqual({ after: 60_000 });
  });
});

describe('a gang whose user wants each pod to end before its replacement', () => {
  const nodes = { exists: () => true, isReady: (name: string) => name !== 'n1' };
  const template = {
    metadata: { annotations: { [JOBID_ANNOTATION]: '7', [ASSIGNMENT_ANNOTATION]: '0/1:n1,n2' } },
    spec: { containers: [] },
  };
  const metadata = { ...array.metadata, annotations: { [GANG_SIZE]: '2' } };
  const gang: Job = { metadata, spec: { ...array.spec, podReplacementPolicy: 'Failed', template } };
  const ending = (jobid: number): Pod => {
    const lost = watchedPod('a', RUNS, 'n1', jobid);
    return { ...lost, metadata: { ...lost.metadata, deletionTimestamp: DELETED } };
  };
  const message =
    'node n1 is not ready, and pod a on it is replaced only once it has ended (podReplacementPolicy: Failed)';

  test.each([
    ['keeps its other pods, and says so', 7],
    ['says so of a pod of an earlier grant', 6],
  ])('%s', async (_, jobid) => {
    const { observe, seconds } = setUp({ workload: gang, nodes });
    const pods = [ending(jobid), watchedPod('b', RUNS, 'n2')];
    await observe(pods);
    seconds(3600);
    expect(await observe(pods)).toMatchObject({
      wait: { reason: 'NodeNotReady', message, isPartial: true },
      failure: undefined,
    });
    expect((await observe([ending(jobid)])).wait).toEqual({ reason: 'NodeNotReady', message, pod: 'a' });
  });

  test('says nothing of a pod of an earlier grant once its own are there', async () => {
    const { observe } = setUp({ workload: gang, nodes });
    const pods = [ending(6), watchedPod('b', RUNS, 'n2'), watchedPod('c', RUNS, 'n3')];
    expect((await observe(pods)).wait).toBeUndefined();
  });

  test('is tried on other nodes if the queue wrote that policy', async () => {
    const annotations = {
      ...template.metadata.annotations,
      [ASSIGNMENT_ANNOTATION]: '0/1:n1,n2;replaces-deleted',
    };
    const noted = { ...gang, spec: { ...gang.spec, template: { ...template, metadata: { annotations } } } };
    const { observe, seconds } = setUp({ workload: noted, nodes });
    const pods = [ending(7), watchedPod('b', RUNS, 'n2')];
    await observe(pods);
    seconds(3600);
    expect((await observe(pods)).failure).toMatchObject({ avoid: ['n1'] });
  });
});
