import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FluxJobSpec } from '../../../imports/jobs.converged-computing.org';
import type { FluxJobStatus } from '../../../imports/jobs.converged-computing.org-status';
import { describeCluster } from '../../cluster/suite';
import { expectEstablished } from './expect-established';

const CRD = readFileSync(join(__dirname, '../../../constructs/crds/fluxjobs.yaml'), 'utf8');
const COLLECTION = '/apis/jobs.converged-computing.org/v1alpha1/namespaces/default/fluxjobs';

const SPEC: FluxJobSpec = {
  workload: { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: '6f1c' },
  queue: 'default',
  priority: 5,
  walltimeSeconds: 600,
  pods: 4,
  jobspec: '{"version":1}',
};
const WAITING: FluxJobStatus = {
  phase: 'Waiting',
  submitTime: '2020-01-01T00:00:00Z',
  position: 3,
  start: '~2030-01-01T00:00:00Z',
  estimatedStart: '2030-01-01T00:00:00Z',
  conditions: [
    {
      type: 'Scheduled',
      status: 'False',
      reason: 'Reserved',
      message: 'starts when train-2 ends',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    },
  ],
};
const RUNNING: FluxJobStatus = {
  phase: 'Running',
  submitTime: '2020-01-01T00:00:00Z',
  nodes: 'node[0-1]',
  nodeCount: 2,
  start: '2030-01-01T00:00:00Z',
  startTime: '2030-01-01T00:00:00Z',
  jobID: 7,
  requeues: 0,
  allocation: [
    { node: 'node0', pods: 2, units: { core: '0-3,7' } },
    { node: 'node1', pods: 2, units: { core: '0-3' }, exclusive: true },
  ],
};
const FINISHED: FluxJobStatus = {
  ...RUNNING,
  phase: 'Finished',
  result: 'Succeeded',
  finishTime: '2030-01-01T00:10:00Z',
};

describeCluster('the API of FluxJob', (getCluster) => {
  const fluxJob = (name: string, spec: object = SPEC, status?: object) => ({
    apiVersion: 'jobs.converged-computing.org/v1alpha1',
    kind: 'FluxJob',
    metadata: { name, namespace: 'default' },
    spec,
    status,
  });
  const create = (name: string, spec?: object, status?: object) =>
    getCluster().api.send('POST', `${COLLECTION}?fieldValidation=Strict`, fluxJob(name, spec, status));
  const patch = (name: string, change: object) =>
    getCluster().api.send('PATCH', `${COLLECTION}/${name}?fieldValidation=Strict`, change);
  /** Creates a FluxJob with the first of these statuses and writes the others in order; resolves to the last answer. */
  const walk = async (name: string, first: object, ...others: object[]) => {
    let answer = await create(name, SPEC, first);
    for (const status of others) answer = await patch(name, { status });
    return answer;
  };

  beforeAll(async () => {
    await getCluster().apply(CRD);
    await getCluster().waitFor('FluxJobs to be served', async () => {
      const { status } = await getCluster().api.send('GET', COLLECTION);
      return status === 200;
    });
    await walk('waits-job', WAITING);
    await walk('runs-job', RUNNING);
  });

  test('has a structural schema and accepted names', async () => {
    await expectEstablished(getCluster(), 'fluxjobs.jobs.converged-computing.org');
  });

  test('kubectl get fj shows queue, phase, position, nodes, start and age', async () => {
    const { stdout, stderr, code } = await getCluster().kubectl(['get', 'fj', '-n', 'default']);
    expect([code, stderr]).toEqual([0, '']);
    const [head = '', ...rows] = stdout.trim().split('\n');
    expect(head.split(/\s+/)).toEqual(['NAME', 'QUEUE', 'PHASE', 'POSITION', 'NODES', 'START', 'AGE']);
    // Years, whatever the FluxJob's own age is.
    for (const row of rows.filter((row) => row.startsWith('waits') || row.startsWith('runs')))
      expect(row).toMatch(/ \d+y\d*d?$/);
    const cells = rows.map((row) => row.split(/\s+/).slice(0, -1).join(' '));
    expect(cells).toContain('runs-job default Running node[0-1] 2030-01-01T00:00:00Z');
    expect(cells).toContain('waits-job default Waiting 3 ~2030-01-01T00:00:00Z');
  });

  test('kubectl get fj -o wide shows the reason and message of a waiting workload', async () => {
    const { stdout } = await getCluster().kubectl(['get', 'fj', 'waits-job', '-n', 'default', '-o', 'wide']);
    expect(stdout).toMatch(/PRIORITY +PODS +WALLTIME SECONDS +RESULT +REASON +MESSAGE/);
    expect(stdout).toMatch(/ 5 +4 +600 +Reserved +starts when train-2 ends/);
  });

  test('kubectl finds FluxJobs by their full name and by the field selectors of the columns', async () => {
    const all = await getCluster().kubectl(['get', 'fluxjobs.jobs.converged-computing.org', '-o', 'name']);
    expect(all.stdout.split('\n')).toContain('fluxjob.jobs.converged-computing.org/runs-job');
    const waiting = await getCluster().kubectl([
      'get',
      'fj',
      '-o',
      'name',
      '--field-selector=status.phase=Waiting',
    ]);
    expect(waiting.stdout.split('\n')).toContain('fluxjob.jobs.converged-computing.org/waits-job');
    expect(waiting.stdout).not.toContain('runs-job');
  });

  test('kubectl explain describes a field', async () => {
    const { stdout } = await getCluster().kubectl(['explain', 'fluxjob.spec.walltimeSeconds']);
    expect(stdout).toContain('Walltime in seconds');
  });

  test('sets priority 0 by default', async () => {
    const { priority: _, ...spec } = SPEC;
    const { text } = await create('plain-job', spec);
    expect(JSON.parse(text).spec.priority).toBe(0);
  });

  test('accepts the record of an Invalid workload, which has only a workload and a queue', async () => {
    const { status } = await create('invalid-job', { workload: SPEC.workload, queue: 'default' });
    expect(status).toBe(201);
  });

  test.each<[string, object, string]>([
    ['no workload', { queue: 'default' }, 'spec.workload: Required value'],
    [
      'an incomplete workload',
      { ...SPEC, workload: { kind: 'Job', name: 'x' } },
      'spec.workload.uid: Required value',
    ],
    ['walltime 0', { ...SPEC, walltimeSeconds: 0 }, 'must be greater than 0'],
    [
      'an excessive walltime',
      { ...SPEC, walltimeSeconds: 9e15 },
      'should be less than or equal to 3153600000',
    ],
    ['a walltime with a fraction', { ...SPEC, walltimeSeconds: 1.5 }, 'must be of type integer'],
    ['a priority out of range', { ...SPEC, priority: 2 ** 31 }, 'less than or equal to 2147483647'],
    ['no queue', { ...SPEC, queue: '' }, 'spec.queue'],
    ['an invalid name of a queue', { ...SPEC, queue: 'a b' }, 'spec.queue'],
    ['pods below 0', { ...SPEC, pods: -1 }, 'greater than or equal to 0'],
    ['an unknown field', { ...SPEC, wallTime: 5 }, 'unknown field'],
  ])('rejects a spec with %s', async (_, spec, why) => {
    const { status, text } = await create('bad-job', spec);
    expect(text).toContain(why);
    expect(status).toBeGreaterThanOrEqual(400);
  });

  test('rejects a change of the workload, and accepts a change of the rest of the spec', async () => {
    await create('fixed-job');
    const other = await patch('fixed-job', { spec: { workload: { uid: 'another' } } });
    expect([other.status, other.text]).toEqual([422, expect.stringContaining('is immutable')]);
    expect((await patch('fixed-job', { spec: { queue: 'night', priority: 9 } })).status).toBe(200);
  });

  test('keeps the status that a FluxJob is created with, and changes spec and status in one request', async () => {
    await create('whole-job', SPEC, FINISHED);
    expect(await getCluster().get(`${COLLECTION}/whole-job`)).toMatchObject({ spec: SPEC, status: FINISHED });
    await create('both-job', SPEC, WAITING);
    await patch('both-job', { spec: { queue: 'night' }, status: { position: 1 } });
    expect(await getCluster().get(`${COLLECTION}/both-job`)).toMatchObject({
      spec: { queue: 'night' },
      status: { position: 1 },
    });
  });

  test('rejects two conditions of one type', async () => {
    const conditions = [...(WAITING.conditions ?? []), ...(WAITING.conditions ?? [])];
    const { status, text } = await walk('double-job', { ...WAITING, conditions });
    expect([status, text]).toEqual([422, expect.stringContaining('Duplicate value')]);
  });

  test('accepts all phases of a workload, including a requeue', async () => {
    const cleared = { position: null, estimatedStart: null };
    const requeued = {
      phase: 'Waiting',
      nodes: null,
      nodeCount: null,
      allocation: null,
      startTime: null,
      requeues: 1,
    };
    const { status, text } = await walk(
      'life-job',
      WAITING,
      { ...RUNNING, ...cleared, phase: 'Ready' },
      RUNNING,
      { ...requeued, position: 1 },
      { ...RUNNING, ...cleared },
      FINISHED,
    );
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  });

  test.each<[string, object[], string]>([
    [
      'a position while it runs',
      [{ ...RUNNING, position: 1 }],
      'position is only supported in phase Waiting',
    ],
    ['a result while it runs', [{ ...RUNNING, result: 'Failed' }], 'result is required in phase Finished'],
    ['phase Finished without result', [{ phase: 'Finished' }], 'result is required in phase Finished'],
    [
      'a finish before the start',
      [{ ...FINISHED, finishTime: '2029-01-01T00:00:00Z' }],
      'must not be before startTime',
    ],
    [
      'a phase after Finished',
      [FINISHED, { phase: 'Waiting', result: null }],
      'is final; a workload that runs again',
    ],
    ['an unknown phase', [{ phase: 'Paused' }], 'Unsupported value'],
    ['position 0', [{ phase: 'Waiting', position: 0 }], 'greater than or equal to 1'],
    ['an estimate that is not a time', [{ ...WAITING, estimatedStart: 'soon' }], 'date-time'],
    [
      'a condition without reason',
      [{ conditions: [{ type: 'Ready', status: 'True', message: '' }] }],
      'reason',
    ],
  ])('rejects a status with %s', async (what, [first, ...others], why) => {
    const { status, text } = await walk(`${what.toLowerCase().replace(/\W+/g, '-')}-job`, first!, ...others);
    expect([status, text]).toEqual([422, expect.stringContaining(why)]);
  });
});
