/** Whether the pods of a Job need each other, and which of them, is what it was granted with: an edit of what runs changes nothing. */
import { ASSIGNMENT_ANNOTATION, GANG_SIZE } from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import { asGranted } from '../../runtime/workloads/as-granted';
import { SimulatedController } from '../fuzz/simulated-controller';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

describe('a Job that runs', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(() => controller.close());

  const edit = (change: (job: Job) => Job) =>
    controller.apiserver.store.put('jobs', change(controller.job('tasks')));
  const annotate = (gangSize: string | undefined) =>
    edit((job) => {
      const { [GANG_SIZE]: _, ...annotations } = job.metadata.annotations ?? {};
      const added = gangSize === undefined ? {} : { [GANG_SIZE]: gangSize };
      return { ...job, metadata: { ...job.metadata, annotations: { ...annotations, ...added } } };
    });
  const cores = () =>
    (controller.row('tasks')!.allocation?.nodes ?? []).map(({ units }) => units.core).sort();

  async function started(gangSize?: string): Promise<void> {
    controller.submit('tasks', { pods: 3, cores: 1, runs: 500 });
    annotate(gangSize);
    await controller.seconds(20);
    expect(controller.row('tasks')).toMatchObject({ phase: 'Running' });
  }

  test.each([undefined, '3'])(
    'frees what it needs no more, with gang size %s since its start',
    async (added) => {
      await started();
      const before = cores();
      annotate(added);
      await controller.seconds(5);
      edit((job) => ({ ...job, spec: { ...job.spec, parallelism: 1 } }));
      await controller.seconds(60);
      expect([before, cores()]).toEqual([['0-29'], ['0-9']]);
    },
  );

  test('keeps what a gang was granted, without its gang size since its start', async () => {
    await started('3');
    annotate(undefined);
    await controller.seconds(5);
    edit((job) => ({ ...job, spec: { ...job.spec, parallelism: 1 } }));
    await controller.seconds(60);
    expect(cores()).toEqual(['0-29']);
  });
});

describe('the gang size with which a Job was granted', () => {
  const job = (annotations: Record<string, string>, assignment = '0/2:a', kind?: string): Job => ({
    metadata: {
      ...{
        uid: 'a',
        name: 'a',
        resourceVersion: '1',
        creationTimestamp: '2026-01-01T00:00:00Z',
        annotations,
      },
      ...(kind && { ownerReferences: [{ apiVersion: 'v1', kind, name: 'o', uid: 'o', controller: true }] }),
    },
    spec: {
      suspend: false,
      template: {
        metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: assignment } },
        spec: { containers: [] },
      },
    },
  });
  const row = (user: object = {}, pods = 2) => {
    const base = rowIn('Running', { ...submission('a', { pods }), kind: 'Job', pods, releasedAt: 1 });
    const attributes = { ...base.jobspec.attributes, user: { ...base.jobspec.attributes.user, ...user } };
    return { ...base, jobspec: { ...base.jobspec, attributes } };
  };
  const EDITED = { [GANG_SIZE]: '1' };

  test.each([
    ['is the noted one', EDITED, row({ gangSize: 2 }), '0/2:a;2/1:', undefined, '2'],
    ['is the noted one, also if its user has removed it', {}, row({ gangSize: 2 }), '0/2:a', undefined, '2'],
    ['is none of an array', EDITED, row({ array: true }), '0/2:a', undefined, undefined],
    [
      'is none of an array with an open assignment',
      EDITED,
      row({ array: true }),
      '0/2:a;2/1:',
      undefined,
      undefined,
    ],
    ['is none of a single pod', EDITED, row({}, 1), '0/1:a', undefined, undefined],
    ['is none of the Job of a MiniCluster that has none', EDITED, row(), '0/2:a', 'MiniCluster', undefined],
    ['is its own, if an earlier version granted a gang', EDITED, row(), '0/2:a', undefined, '1'],
    [
      'is its own, if an earlier version granted an elastic one',
      EDITED,
      row({}, 1),
      '0/1:a;1/1:',
      'MiniCluster',
      '1',
    ],
  ] as const)('%s', (_, annotations, granted, assignment, kind, size) => {
    const object = job(annotations, assignment, kind);
    const seen = asGranted({ object, adapter: undefined as never, row: granted, pods: [] });
    expect(seen.object.metadata.annotations?.[GANG_SIZE]).toBe(size);
  });

  test('is the one of the Job until it is released', () => {
    const object = job(EDITED);
    const waiting = { ...row({ gangSize: 2 }), releasedAt: null };
    expect(asGranted({ object, adapter: undefined as never, row: waiting, pods: [] }).object).toBe(object);
  });
});
