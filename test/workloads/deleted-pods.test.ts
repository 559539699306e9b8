import type { KubernetesList, Pod } from '../../runtime/kubernetes/types';
import { DeletedPods } from '../../runtime/workloads/deleted-pods';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

const JOB_UID = 'batch.kubernetes.io/controller-uid';

/** A running pod of the Job with this uid. */
function pod(uid: string, job: string, change: Partial<Pod['spec']> = {}): Pod {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: job, uid: job, controller: true };
  return {
    metadata: {
      name: uid,
      namespace: 'science',
      uid,
      resourceVersion: '1',
      creationTimestamp: '',
      ownerReferences: [owner],
    },
    spec: { containers: [], nodeName: 'node-0', ...change },
    status: { phase: 'Running' },
  };
}

const row = (uid: string) => rowIn('Running', submission(uid));
const GATED = { schedulingGates: [{ name: 'fluxqueue' }] };

describe('the pods of deleted Jobs', () => {
  let pages: (readonly Pod[])[];
  let watched: Pod[];
  let requests: Readonly<Record<string, unknown>>[];
  let answer: () => Promise<void>;
  let deletedPods: DeletedPods;

  beforeEach(() => {
    pages = [[]];
    watched = [];
    requests = [];
    answer = async () => undefined;
    deletedPods = new DeletedPods({
      client: {
        list: async <T>(path: string, options: object = {}) => {
          requests.push({ path, ...options });
          await answer();
          const page = Number((options as { continue?: string }).continue ?? 0);
          const metadata = {
            resourceVersion: '9',
            ...(page + 1 < pages.length && { continue: String(page + 1) }),
          };
          return { metadata, items: pages[page] } as unknown as KubernetesList<T>;
        },
      },
      podsOf: ({ uid }) => watched.filter(({ metadata }) => metadata.ownerReferences![0]!.uid === uid),
      nodes: { exists: (name) => name === 'node-0', isReady: () => true },
    });
  });

  test('are not all shown while the watch lacks one that the apiserver has', async () => {
    pages = [[pod('p0', 'a')], [pod('p1', 'a')]];
    watched = [pod('p0', 'a')];
    expect(await deletedPods.areShown(row('a'))).toBe(false);
    watched = [pod('p0', 'a'), pod('p1', 'a')];
    expect(await deletedPods.areShown(row('a'))).toBe(true);
  });

  test('are not all shown while the watch has one that still waits for its node', async () => {
    pages = [[pod('p0', 'a')]];
    watched = [pod('p0', 'a', GATED)];
    expect(await deletedPods.areShown(row('a'))).toBe(false);
  });

  test('are all shown if the apiserver has none that can run', async () => {
    pages = [[pod('lost', 'a', { nodeName: 'node-9' }), pod('gated', 'a', GATED), pod('other', 'b')]];
    expect(await deletedPods.areShown(row('a'))).toBe(true);
  });

  test('are listed once: no pod is created after the deletion', async () => {
    expect(await deletedPods.areShown(row('a'))).toBe(true);
    expect(await deletedPods.areShown(row('a'))).toBe(true);
    expect(requests).toEqual([
      {
        path: '/api/v1/namespaces/science/pods',
        labelSelector: `${JOB_UID} in (a)`,
        fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
        limit: 500,
        mostBytes: 67_108_864,
      },
    ]);
    deletedPods.forget(row('a'));
    await deletedPods.areShown(row('a'));
    expect(requests).toHaveLength(2);
  });

  test('of several Jobs share the next list, because the one that runs may be too old', async () => {
    let finish = () => {};
    answer = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const first = deletedPods.areShown(row('a'));
    await new Promise(setImmediate);
    const others = [deletedPods.areShown(row('b')), deletedPods.areShown(row('c'))];
    await new Promise(setImmediate);
    expect(requests).toHaveLength(1);
    answer = async () => undefined;
    finish();
    expect(await Promise.all([first, ...others])).toEqual([true, true, true]);
    expect(requests.map(({ labelSelector }) => labelSelector)).toEqual([
      `${JOB_UID} in (a)`,
      `${JOB_UID} in (b,c)`,
    ]);
  });

  test('are listed again after a list failed', async () => {
    answer = () => Promise.reject(new Error('down'));
    await expect(deletedPods.areShown(row('a'))).rejects.toThrow('down');
    answer = async () => undefined;
    expect(await deletedPods.areShown(row('a'))).toBe(true);
  });

  test('are not asked for by a workload that is a pod itself', async () => {
    expect(await deletedPods.areShown({ ...row('a'), kind: 'Pod' })).toBe(true);
    expect(requests).toEqual([]);
  });
});
