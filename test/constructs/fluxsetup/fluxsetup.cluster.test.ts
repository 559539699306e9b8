/** The API of FluxSetup on a real apiserver: accepted specs, messages for rejected ones, and the columns of kubectl. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Chart, Duration, Size, Testing } from 'cdk8s';
import { Cpu } from 'cdk8s-plus-28';
import { FluxSetup } from '../../../constructs/fluxqueue/index';
import type { KubeObject } from '../../cluster/api';
import { describeCluster } from '../../cluster/suite';
import { expectEstablished } from '../crds/expect-established';

const CRD = readFileSync(join(__dirname, '../../../constructs/crds/fluxsetups.yaml'), 'utf8');
const COLLECTION = '/apis/flux-framework.org/v1alpha1/namespaces/default/fluxsetups';

describeCluster('the API of FluxSetup', (getCluster) => {
  const send = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
    getCluster().api.send(method, path, body);
  const create = (name: string, spec?: object) =>
    send('POST', `${COLLECTION}?fieldValidation=Strict`, {
      apiVersion: 'flux-framework.org/v1alpha1',
      kind: 'FluxSetup',
      metadata: { name, namespace: 'default' },
      ...(spec === undefined ? {} : { spec }),
    });

  beforeAll(async () => {
    await getCluster().apply(CRD);
    await getCluster().waitFor('FluxSetups to be served', async () => {
      const { status } = await send('GET', COLLECTION);
      return status === 200;
    });
  });

  test('has a structural schema and accepted names', async () => {
    await expectEstablished(getCluster(), 'fluxsetups.flux-framework.org');
  });

  test('an empty spec gets every default', async () => {
    const { status, text } = await create('bare');
    expect(status).toBe(201);
    expect((JSON.parse(text) as { spec: object }).spec).toEqual({
      policy: 'easy',
      depth: 10_000,
      allowStackQueue: false,
      walltime: { default: '1h', max: '168h' },
      agingPerHour: 0,
      backfillOrder: 'submission',
      reclaim: false,
      weight: 1,
      billingWeights: { cores: 1, memory: 0.25, gpus: 16 },
      preemption: { policy: 'Never', fairSharing: 'Never', minRuntime: '5m', limit: 5 },
      requeue: { limit: 5, backoff: '5s' },
    });
  });

  test.each([
    ['cores', { quota: { cores: -1 } }],
    ['memory', { quota: { memory: -1 } }],
    ['borrowed cores', { cohort: 'a', borrowing: { cores: -1 } }],
  ])('a number of %s below 0 is refused as a text is', async (_, spec) => {
    const { status, text } = await create('negative', spec);
    expect([status, (JSON.parse(text) as { message: string }).message]).toEqual([
      422,
      expect.stringContaining('should be greater than or equal to 0'),
    ]);
  });

  test('accepts every field that the construct writes without a change', async () => {
    const chart = new Chart(new App(), 'chart', { namespace: 'default' });
    new FluxSetup(chart, 'full', {
      policy: 'hybrid',
      reservations: 4,
      backfillOrder: 'shortestArea',
      backfillMaxWait: Duration.hours(6),
      depth: 500,
      defaultWalltime: Duration.millis(1500),
      maxWalltime: Duration.days(2),
      minPriority: -10,
      maxPriority: 100,
      agingPerHour: 0.5,
      priorityWeights: { age: 0, fairShare: 2.5, size: -1, queue: -10 },
      quota: {
        jobs: 20,
        pods: 200,
        cores: Cpu.millis(1500),
        memory: Size.gibibytes(256),
        gpus: 8,
        nodes: 0,
      },
      cohort: 'campus',
      borrowing: { cores: Cpu.units(2), memory: Size.mebibytes(512) },
      lendingLimit: { jobs: 0, pods: 1, cores: Cpu.units(1), memory: Size.mebibytes(512), gpus: 8 },
      reclaim: true,
      limits: { running: 50, waiting: 1000 },
      limitsPerUser: { running: 5 },
      weight: 3,
      billingWeights: { cores: 0, memory: 0.5, gpus: 64 },
      preempts: true,
      fairSharing: 'LessThanInitialShare',
      preemptionMinRuntime: Duration.seconds(0),
      preemptionLimit: 0,
      requeueLimit: 0,
      requeueBackoff: Duration.hours(1),
    });
    const [manifest] = Testing.synth(chart) as (KubeObject & { spec: object })[];
    const { status, text } = await send('POST', `${COLLECTION}?fieldValidation=Strict`, manifest);
    expect([status, JSON.parse(text).message]).toEqual([201, undefined]);
    expect(JSON.parse(text)).toMatchObject({ spec: manifest!.spec });
  });

  test.each([
    ['2d', '2-0'],
    ['1d12h', '36:00:00'],
    ['1-12:00:00', '1-12:00:01'],
    ['90:00', '01:30:00'],
    ['90m', '1h30m1s'],
  ])('takes a default walltime of %s, and a largest one of %s', async (usual, most) => {
    const walltime = { default: usual, max: most };
    const name = `form-${usual}-${most}`.replaceAll(':', '');
    const { status, text } = await create(name, { walltime });
    expect([status, JSON.parse(text).message]).toEqual([201, undefined]);
    expect(JSON.parse(text)).toMatchObject({ spec: { walltime } });
  });

  test.each([
    ['an unknown field', { quota: { cpus: 4 } }, 'unknown field "spec.quota.cpus"'],
    ['an unknown policy', { policy: 'fair' }, 'spec.policy: Unsupported value: "fair"'],
    [
      'reservations without policy hybrid',
      { reservations: 2 },
      'reservations requires policy hybrid; remove it',
    ],
    [
      'shortestArea with conservative',
      { policy: 'conservative', backfillOrder: 'shortestArea' },
      'backfillOrder shortestArea requires policy easy or hybrid; remove it',
    ],
    [
      'a longest wait without shortestArea',
      { backfillMaxWait: '2h' },
      'backfillMaxWait requires backfillOrder shortestArea; remove it',
    ],
    [
      'an invalid walltime',
      { walltime: { max: '1 hour' } },
      'spec.walltime.max: Invalid value: "1 hour": must be a duration like "1h30m", "2d" or "1-12:00:00" (days-hours:minutes:seconds)',
    ],
    [
      'a walltime above the largest',
      { walltime: { max: '596524h' } },
      'must be greater than 0 and at most 596523h',
    ],
    [
      'a walltime of 0 in a form of Slurm',
      { walltime: { default: '0-00:00' } },
      'must be greater than 0 and at most',
    ],
    ['a walltime of 0', { walltime: { default: '0s' } }, 'must be greater than 0 and at most 596523h'],
    [
      'a default walltime above the maximum',
      { walltime: { default: '2h', max: '90m' } },
      'default (1h unless it is set) must not be greater than max; lower default or raise max',
    ],
    ['an empty range of priorities', { priority: { min: 2, max: 1 } }, 'min must not be greater than max'],
    [
      'an empty quota',
      { quota: {} },
      'spec.quota: Invalid value: 0: spec.quota in body should have at least 1 propert',
    ],
    [
      'an invalid quantity',
      { quota: { memory: '4 GB' } },
      'must be a Kubernetes quantity of at least 0 like "256Gi"',
    ],
    [
      'a negative quantity',
      { quota: { cores: '-1' } },
      'must be a Kubernetes quantity of at least 0 like "64" or "500m"',
    ],
    ['borrowing without a cohort', { borrowing: { jobs: 1 } }, 'borrowing requires a cohort'],
    ['reclaim without a cohort', { reclaim: true }, 'reclaim requires a cohort'],
    ['reclaim without a quota', { cohort: 'c', reclaim: true }, 'reclaim requires a quota'],
    [
      'a lending limit of more cores than the quota',
      { cohort: 'c', quota: { cores: '1500m' }, lendingLimit: { cores: 2 } },
      'lendingLimit must not be greater than the quota',
    ],
    [
      'a lending limit of more memory than the quota',
      { cohort: 'c', quota: { cores: 4, memory: '1Gi' }, lendingLimit: { cores: 4, memory: '1025Mi' } },
      'lendingLimit must not be greater than the quota',
    ],
    [
      'a lending limit of more GPUs than the quota',
      { cohort: 'c', quota: { gpus: 1 }, lendingLimit: { gpus: 2 } },
      'lendingLimit must not be greater than the quota',
    ],
    [
      'fair sharing without a cohort',
      { preemption: { fairSharing: 'LessThanInitialShare' } },
      'preemption.fairSharing requires a cohort',
    ],
    [
      'lending without a cohort',
      { quota: { jobs: 1 }, lendingLimit: { jobs: 1 } },
      'lendingLimit requires a cohort',
    ],
    [
      'lending of a resource without a quota',
      { cohort: 'c', quota: { jobs: 1 }, lendingLimit: { gpus: 1 } },
      'lendingLimit names a resource that the quota does not name',
    ],
    [
      'the string of earlier versions',
      { preemption: 'LowerPriority' },
      'spec.preemption in body must be of type object',
    ],
    [
      'an invalid minimum run time',
      { preemption: { minRuntime: '-1s' } },
      'must be a duration like "1h30m", "2d" or "1-12:00:00" (days-hours:minutes:seconds)',
    ],
    ['a backoff without a unit', { requeue: { backoff: '24' } }, 'must be a duration like "30s" or "5m"'],
    ['a backoff of a day', { requeue: { backoff: '24h' } }, 'must be greater than 0 and at most 1h'],
  ])('%s is rejected with a message', async (_, spec, sentence) => {
    const { status, text } = await create('wrong', spec);
    expect([400, 422]).toContain(status);
    expect(JSON.parse(text).message).toContain(sentence);
  });

  test('rejects a name that is not a label value', async () => {
    const { status, text } = await create('team.a', {});
    expect(status).toBe(422);
    expect(JSON.parse(text).message).toContain('at most 63 lower-case letters, digits and "-"');
  });

  test('accepts whole numbers as quantities', async () => {
    const { status } = await create('numbers', { quota: { cores: 64, memory: 1_000_000_000 } });
    expect(status).toBe(201);
  });

  test('kubectl get fs shows policy, counts and cores', async () => {
    await create('shown', { policy: 'fcfs' });
    const body = {
      status: {
        waiting: 3,
        ready: 1,
        running: 2,
        usage: { cores: '48' },
        quota: { cores: '64' },
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'Serving',
            message: 'the queue is at work',
            lastTransitionTime: '2030-01-01T00:00:00Z',
          },
        ],
      },
    };
    const { status } = await send('PATCH', `${COLLECTION}/shown/status?fieldValidation=Strict`, body);
    expect(status).toBe(200);
    const { stdout } = await getCluster().kubectl(['get', 'fs', 'shown', '-n', 'default']);
    const [head = '', row = ''] = stdout.trim().split('\n');
    expect(head.split(/\s+/)).toEqual([
      ...['NAME', 'POLICY', 'WAITING', 'READY', 'RUNNING', 'CORES', 'QUOTA', 'SERVING', 'AGE'],
    ]);
    expect(row.split(/\s+/).slice(0, -1)).toEqual(['shown', 'fcfs', '3', '1', '2', '48', '64', 'True']);
  });
});
