/** Rows of a version that did not note the gang size of what it queued: nothing is written or said of it until its user changes it. */
import { GANG_SIZE } from '../../constructs/api/labels';
import type { Job, KubernetesObject } from '../../runtime/kubernetes/types';
import type { Submission, WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { ignoredChanges } from '../../runtime/workloads/ignored-changes';
import { adapters } from '../../runtime/workloads/index';
import { QueueModel } from '../fuzz/queue-model';
import { SimulatedController } from '../fuzz/simulated-controller';
import { defaultSubmissions } from './default-submissions';

const template = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } };

function annotated(gangSize: string | undefined, spec: object, owner?: string): KubernetesObject {
  const owners = [{ apiVersion: 'v1', kind: owner, name: 'o', uid: 'o', controller: true }];
  return {
    metadata: {
      ...{ name: 'train', namespace: 'science', uid: 'u', resourceVersion: '1' },
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(gangSize !== undefined && { annotations: { [GANG_SIZE]: gangSize } }),
      ...(owner !== undefined && { ownerReferences: owners }),
    },
    spec,
  } as KubernetesObject;
}

const job = (gangSize: string | undefined, pods: number, owner?: string) =>
  annotated(
    gangSize,
    { suspend: true, parallelism: pods, completions: pods, completionMode: 'Indexed', template },
    owner,
  );
const jobSet = (gangSize: string) =>
  annotated(gangSize, {
    suspend: true,
    replicatedJobs: [{ name: 'w', replicas: 4, template: { spec: { parallelism: 1, template } } }],
  });

function withoutNote<R extends Pick<Submission, 'jobspec'>>(row: R): R {
  const { attributes } = row.jobspec;
  const { gangSize: _, ...user } = attributes.user ?? {};
  return { ...row, jobspec: { ...row.jobspec, attributes: { ...attributes, user } } };
}

describe('a row without a note of its gang size', () => {
  async function submitted(kind: string, object: KubernetesObject) {
    const queue = new QueueModel(() => 1_000);
    const cache = new WorkloadCache(queue, await queue.acquireFence('test'));
    const adapter = adapters.get(kind)!;
    const builder = defaultSubmissions(cache, (_object, _adapter, message) => expect(message).toBe(''));
    const row = (await builder.submit(object, adapter))!;
    const changeOf = (changed: KubernetesObject, of: WorkloadRow) => builder.changeOf(changed, adapter, of);
    return { row, changeOf };
  }

  test.each([
    ['Job', 'of one pod', job('1', 1)],
    ['Job', 'that is a gang', job('3', 3)],
    ['Job', 'that is larger than its gang', job('2', 3)],
    ['Job', 'that is smaller than its gang', job('9', 3)],
    ['Job', 'of a MiniCluster', job('2', 3, 'MiniCluster')],
    ['JobSet', 'of four pods', jobSet('2')],
  ])('of a %s %s is not changed, and nothing is said of it', async (kind, _, object) => {
    const { row, changeOf } = await submitted(kind, object);
    const earlier = withoutNote(row);
    expect(row.jobspec).not.toEqual(earlier.jobspec);
    for (const phase of ['Waiting', 'Ready', 'Running'] as const)
      expect(changeOf(object, { ...earlier, phase })).toBeUndefined();
    expect(ignoredChanges(object.metadata, { ...earlier, phase: 'Running', releasedAt: 1 })).toEqual([]);
  });

  test('is changed with the pods that its user lets need each other', async () => {
    const { row, changeOf } = await submitted('Job', job('3', 3));
    expect(changeOf(job('2', 3), withoutNote(row))).toMatchObject({ pods: 2 });
    const array = await submitted('Job', job(undefined, 3));
    expect(array.row).toEqual(withoutNote(array.row));
    expect(array.changeOf(job('3', 3), array.row)).toBeDefined();
  });
});

test('a controller that finds such rows writes nothing, and repairs nothing', async () => {
  const controller = new SimulatedController();
  await controller.start();
  for (const name of ['first', 'second', 'third']) {
    const given = controller.submit(name, { pods: 2, cores: 3, runs: 5_000 });
    const annotations = { ...given.metadata.annotations, [GANG_SIZE]: '2' };
    controller.apiserver.store.put('jobs', { ...given, metadata: { ...given.metadata, annotations } } as Job);
  }
  await controller.seconds(30);
  await controller.stop();
  const tables = controller.queue.backup();
  controller.queue.restore({
    ...tables,
    rows: new Map([...tables.rows].map(([uid, row]) => [uid, withoutNote(row)])),
  });
  const before = controller.queue.all.map(({ jobid, phase, jobspec }) => [jobid, phase, jobspec]);
  expect(new Set(before.map(([, phase]) => phase))).toEqual(new Set(['Running', 'Waiting']));
  const written = controller.queue.events.length;
  await controller.start();
  await controller.seconds(200);
  expect(controller.queue.all.map(({ jobid, phase, jobspec }) => [jobid, phase, jobspec])).toEqual(before);
  const events = controller.queue.events.slice(written).map(({ event }) => event);
  expect(events.filter((event) => event === 'Updated')).toEqual([]);
  expect((await controller.repairs())['workload-edited']).toBeUndefined();
  await controller.close();
});
