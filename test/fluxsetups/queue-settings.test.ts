import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseConfig } from '../../runtime/config';
import { settingsOf, stackQueue } from '../../runtime/fluxsetups/queue-settings';
import type { FluxSetupSpecJson } from '../../runtime/kubernetes/custom-resources';
import { fluxSetup } from './fluxsetup-objects';

const INT32 = { min: -2_147_483_648, max: 2_147_483_647 };
const BARE = {
  name: 'science/team',
  namespace: 'science',
  policy: 'easy',
  reservations: 8,
  backfillOrder: 'submission',
  backfillMaxWaitSeconds: 604_800,
  depth: 10_000,
  defaultWalltimeSeconds: 3600,
  maxWalltimeSeconds: 604_800,
  priority: INT32,
  agingPerHour: 0,
  priorityWeights: { age: 0.5, fairShare: 0.5, size: 0, queue: 0, maxAgeSeconds: 86_400 },
  quota: {},
  cohort: null,
  borrowing: {},
  lending: {},
  reclaim: false,
  limits: { queue: {}, user: {} },
  weight: 1,
  billingWeights: { cores: 1, memoryGiB: 0.25, gpus: 16 },
  preempts: false,
  fairSharing: 'Never',
  preemption: { minRuntimeSeconds: 300, limit: 5 },
  requeue: { limit: 5, backoffSeconds: 5 },
};

test('a FluxSetup that says nothing is a queue with defaults', () => {
  expect(settingsOf(fluxSetup('team'))).toEqual(BARE);
});

test('the defaults of the API are the same', () => {
  interface Schema {
    default?: unknown;
    properties?: Record<string, Schema>;
  }
  const crd = parse(readFileSync(join(__dirname, '../../constructs/crds/fluxsetups.yaml'), 'utf8'));
  const schema = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec as Schema;
  const defaultsOf = (of: Schema): unknown => {
    if (of.default === undefined || of.properties === undefined) return of.default;
    const inner = Object.entries(of.properties).map(([key, each]) => [key, defaultsOf(each)]);
    return Object.fromEntries(inner.filter(([, value]) => value !== undefined));
  };
  expect(settingsOf(fluxSetup('team', defaultsOf(schema) as object))).toEqual(BARE);
});

test('every field has its place', () => {
  const settings = settingsOf(
    fluxSetup('team', {
      policy: 'hybrid',
      reservations: 3,
      backfillOrder: 'shortestArea',
      backfillMaxWait: '2h',
      depth: 50,
      walltime: { default: '10m', max: '1h30m' },
      priority: { min: -5, max: 10 },
      agingPerHour: 0.5,
      priorityWeights: { age: 3, size: -1 },
      quota: { jobs: 2, pods: 30, cores: '64', memory: '1536Mi', gpus: 4, nodes: 8 },
      cohort: 'physics',
      borrowing: { cores: 500, memory: '1Ti' },
      lendingLimit: { gpus: 1, memory: '512Mi' },
      reclaim: true,
      limits: { running: 5, perUser: { running: 2, waiting: 9 } },
      weight: 7,
      billingWeights: { gpus: 64 },
      preemption: {
        policy: 'LowerPriority',
        fairSharing: 'LessThanInitialShare',
        minRuntime: '0s',
        limit: 1,
      },
      requeue: { limit: 0, backoff: '1m' },
    }),
  );
  expect(settings).toEqual({
    name: 'science/team',
    namespace: 'science',
    policy: 'hybrid',
    reservations: 3,
    backfillOrder: 'shortestArea',
    backfillMaxWaitSeconds: 7200,
    depth: 50,
    defaultWalltimeSeconds: 600,
    maxWalltimeSeconds: 5400,
    priority: { min: -5, max: 10 },
    agingPerHour: 0.5,
    priorityWeights: { age: 3, fairShare: 0.5, size: -1, queue: 0, maxAgeSeconds: 86_400 },
    quota: { jobs: 2, pods: 30, cores: 64, memoryGiB: 1.5, gpus: 4, nodes: 8 },
    cohort: 'physics',
    borrowing: { cores: 500, memoryGiB: 1024 },
    lending: { gpus: 1, memoryGiB: 0.5 },
    reclaim: true,
    limits: { queue: { running: 5 }, user: { running: 2, waiting: 9 } },
    weight: 7,
    billingWeights: { cores: 1, memoryGiB: 0.25, gpus: 64 },
    preempts: true,
    fairSharing: 'LessThanInitialShare',
    preemption: { minRuntimeSeconds: 0, limit: 1 },
    requeue: { limit: 0, backoffSeconds: 60 },
  });
});

test('a FluxSetup that was stored when preemption was a string keeps its policy', () => {
  const stored = { preemption: 'LowerPriority' } as unknown as FluxSetupSpecJson;
  expect(settingsOf(fluxSetup('team', stored))).toEqual({ ...BARE, preempts: true });
});

test.each([
  ['2500m', 2.5],
  ['0', 0],
  [1, 1],
  ['1e3', 1000],
])('%s cores are %s', (cores, count) => {
  expect(settingsOf(fluxSetup('team', { quota: { cores } })).quota).toEqual({ cores: count });
});

test('half of a priority range leaves the other end open', () => {
  expect(settingsOf(fluxSetup('team', { priority: { max: 3 } })).priority).toEqual({ ...INT32, max: 3 });
});

test('what the API can not refuse is refused with its place', () => {
  expect(() => settingsOf(fluxSetup('team', { quota: { memory: '1e99' } }))).toThrow(
    expect.objectContaining({ code: 'FLUXQ_QUANTITY', field: 'spec.quota.memory' }),
  );
});

test("the stack's own queue is as configured, open to all", () => {
  const { queue } = parseConfig({ queue: { name: 'batch', policy: 'hybrid', reservations: 2, weight: 3 } });
  expect(stackQueue(queue)).toEqual({
    ...BARE,
    name: 'batch',
    namespace: null,
    policy: 'hybrid',
    reservations: 2,
    weight: 3,
  });
});
