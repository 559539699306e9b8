/** When the status of a FluxSetup is written. Its contents are tested in status.test.ts. */
import type { FluxSetupStatus } from '../../imports/flux-framework.org-status';
import { parseConfig } from '../../runtime/config';
import { QueueRegistry } from '../../runtime/fluxsetups/queue-registry';
import { stackQueue } from '../../runtime/fluxsetups/queue-settings';
import { FluxSetupReconciler } from '../../runtime/fluxsetups/reconciler';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { FluxSetupObject } from '../../runtime/kubernetes/custom-resources';
import { ApiError } from '../../runtime/kubernetes/errors';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { recordingLogger } from '../kubernetes/recording-logger';
import { rowIn } from '../queue/rows';
import { fluxSetup } from './fluxsetup-objects';

const KEY = 'science/team';

class World {
  now = 1_000;
  busy = false;
  rows: WorkloadRow[] = [];
  object: FluxSetupObject | undefined = fluxSetup('team');
  storeCalls = 0;
  failure: Error | undefined;
  readonly logger = recordingLogger();
  readonly writes: { path: string; status: FluxSetupStatus }[] = [];
  readonly queues = new QueueRegistry(stackQueue(parseConfig({}).queue), true, () =>
    this.object === undefined ? [] : [this.object],
  );
  readonly reconciler: FluxSetupReconciler;

  constructor() {
    const patch = async (path: string, { status }: { status: FluxSetupStatus }) => {
      if (this.failure !== undefined) throw this.failure;
      this.writes.push({ path, status });
    };
    this.reconciler = new FluxSetupReconciler({
      client: { patch } as unknown as KubernetesClient,
      queues: this.queues,
      units: DEFAULT_UNITS,
      rows: () => this.rows,
      surpluses: () => new Map(),
      finishedOf: () => 0,
      fluxSetupOf: () => this.object,
      isBusy: () => this.busy,
      storeQueues: async () => {
        this.storeCalls++;
      },
      enqueue: () => undefined,
      clock: { now: () => this.now * 1000, after: () => () => undefined },
      logger: this.logger,
      now: () => this.now,
    });
  }

  /** Adds a waiting row. Resolves to the result of a reconciliation. */
  async addRow(): Promise<{ after: number } | undefined> {
    this.rows.push(rowIn('Waiting', { queue: KEY, uid: `u${this.rows.length}` }));
    this.reconciler.recount();
    return this.reconciler.reconcile(KEY);
  }
}

test('writes the status of a new FluxSetup at once, after its settings are in the database', async () => {
  const world = new World();
  expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  expect(world.storeCalls).toBe(1);
  expect(world.writes).toEqual([
    {
      path: '/apis/flux-framework.org/v1alpha1/namespaces/science/fluxsetups/team/status',
      status: expect.objectContaining({ waiting: 0, observedGeneration: 1 }),
    },
  ]);
});

test('does not write a status that did not change', async () => {
  const world = new World();
  await world.reconciler.reconcile(KEY);
  for (let i = 0; i < 3; i++) expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  expect(world.writes).toHaveLength(1);
});

test('writes counts once a second, and every five seconds while the cluster is busy', async () => {
  const world = new World();
  await world.reconciler.reconcile(KEY);
  world.now += 0.2;
  expect(await world.addRow()).toEqual({ after: 800 });
  expect(await world.addRow()).toEqual({ after: 800 });
  world.now += 0.8;
  expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  expect(world.writes.at(-1)?.status.waiting).toBe(2);
  world.busy = true;
  world.now += 1;
  expect(await world.addRow()).toEqual({ after: 4_000 });
  expect(world.writes).toHaveLength(2);
});

test('confirms a change of the spec at once', async () => {
  const world = new World();
  await world.reconciler.reconcile(KEY);
  world.busy = true;
  world.object = fluxSetup('team', { quota: { cores: 8 } }, { generation: 2 });
  world.queues.invalidate();
  await world.reconciler.reconcile(KEY);
  // A merge patch keeps the keys that it does not name, so a limit that was removed is null.
  expect(world.writes.at(-1)?.status).toMatchObject({
    observedGeneration: 2,
    quota: { cores: '8', memory: null, jobs: null },
  });
});

test('accepts that the FluxSetup was deleted, before or during the write', async () => {
  const world = new World();
  world.failure = new ApiError({
    status: 404,
    reason: 'NotFound',
    message: 'gone',
    about: 'a',
    retryAfterSeconds: undefined,
  });
  expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  world.object = undefined;
  world.failure = undefined;
  expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  expect(world.writes).toEqual([]);
});

test('logs one decision per reconciliation at debug level', async () => {
  const world = new World();
  await world.reconciler.reconcile(KEY);
  world.now += 0.5;
  await world.addRow();
  await world.reconciler.reconcile(KEY);
  const fields = { fluxsetup: KEY, queue: KEY };
  expect(world.logger.lines).toEqual([
    { level: 'debug', fields, message: 'FluxSetup: status written' },
    {
      level: 'debug',
      fields: { ...fields, retryMs: 500 },
      message: 'FluxSetup: status write is rate-limited',
    },
    {
      level: 'debug',
      fields: { ...fields, retryMs: 500 },
      message: 'FluxSetup: status write is rate-limited',
    },
  ]);
});
