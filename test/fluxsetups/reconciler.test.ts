/** When a FluxSetup is written: what it says is in the other tests. */
import type { FluxSetupStatus } from '../../imports/flux-framework.org-status';
import { parseConfig } from '../../runtime/config';
import { QueueRegistry } from '../../runtime/fluxsetups/queue-registry';
import { type FluxSetupObject, ownQueue } from '../../runtime/fluxsetups/queue-settings';
import { FluxSetupReconciler } from '../../runtime/fluxsetups/reconciler';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ApiError } from '../../runtime/kubernetes/errors';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { rowIn } from '../queue/rows';
import { fluxSetup } from './fluxsetup-objects';

const KEY = 'science/team';

class World {
  now = 1_000;
  busy = false;
  rows: WorkloadRow[] = [];
  object: FluxSetupObject | undefined = fluxSetup('team');
  stored = 0;
  failure: Error | undefined;
  readonly writes: { path: string; status: FluxSetupStatus }[] = [];
  readonly queues = new QueueRegistry(ownQueue(parseConfig({}).queue), true, () =>
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
      finishedOf: () => 0,
      seen: () => this.object,
      busy: () => this.busy,
      store: async () => {
        this.stored++;
      },
      now: () => this.now,
    });
  }

  /** A row more that waits; resolves to what reconcile says. */
  async more(): Promise<{ after: number } | undefined> {
    this.rows.push(rowIn('Waiting', { queue: KEY, uid: `u${this.rows.length}` }));
    this.reconciler.recount();
    return this.reconciler.reconcile(KEY);
  }
}

test('a new one is told at once that it is at work, after its settings are in the tables', async () => {
  const world = new World();
  expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  expect(world.stored).toBe(1);
  expect(world.writes).toEqual([
    {
      path: '/apis/flux-framework.org/v1alpha1/namespaces/science/fluxsetups/team/status',
      status: expect.objectContaining({ waiting: 0, observedGeneration: 1 }),
    },
  ]);
});

test('what is there already is not written again', async () => {
  const world = new World();
  await world.reconciler.reconcile(KEY);
  for (let i = 0; i < 3; i++) expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  expect(world.writes).toHaveLength(1);
});

test('counts are written once a second, and every five while the cluster is busy', async () => {
  const world = new World();
  await world.reconciler.reconcile(KEY);
  world.now += 0.2;
  expect(await world.more()).toEqual({ after: 800 });
  expect(await world.more()).toEqual({ after: 800 });
  world.now += 0.8;
  expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  expect(world.writes.at(-1)?.status.waiting).toBe(2);
  world.busy = true;
  world.now += 1;
  expect(await world.more()).toEqual({ after: 4_000 });
  expect(world.writes).toHaveLength(2);
});

test('a change by its owner does not wait', async () => {
  const world = new World();
  await world.reconciler.reconcile(KEY);
  world.busy = true;
  world.object = fluxSetup('team', { quota: { cores: 8 } }, { generation: 2 });
  world.queues.changed();
  await world.reconciler.reconcile(KEY);
  // A name that is not limited any more must go: a merge patch keeps what it does not name.
  expect(world.writes.at(-1)?.status).toMatchObject({
    observedGeneration: 2,
    quota: { cores: '8', memory: null, jobs: null },
  });
});

test('one that is deleted, before or while it is written, is forgotten', async () => {
  const world = new World();
  world.failure = new ApiError({
    status: 404,
    reason: 'NotFound',
    message: 'gone',
    retryAfterSeconds: undefined,
  });
  expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  world.object = undefined;
  world.failure = undefined;
  expect(await world.reconciler.reconcile(KEY)).toBeUndefined();
  expect(world.writes).toEqual([]);
});
