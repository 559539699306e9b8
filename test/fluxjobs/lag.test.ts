/**
 * How far FluxJobs are behind their rows, with the work queue and the reconciler on a simulated clock. A change of a row
 * is shown once a write was sent after it.
 *
 *   load                                    | FluxJobs are behind by at most
 *   --------------------------------------- | ------------------------------
 *   5 and 40 workloads per second           | 10 s, and 23 s in the first 20 s of a burst
 *   what waits, at any time                 | 10 s
 *   10,000 workloads at once                | 30 s
 *   phases that end before they settle      | 10 s
 *   10,000 waiting, and one ends per second | 10 s for the changed ones
 *
 * And how many writes they cost: one for a workload that ends soon, one more for each phase that lasts, and none for one
 * that starts and succeeds in a burst of its namespace.
 */
import type { FluxJobPolicy } from '../../constructs/api/policies';
import { FluxJobReconciler } from '../../runtime/fluxjobs/reconciler';
import { InternPool } from '../../runtime/intern';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { WorkQueue } from '../../runtime/kubernetes/work-queue';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import type { GrantWait } from '../../runtime/shared/grant-waits';
import { adapters } from '../../runtime/workloads/index';
import { SimulatedClock } from '../fuzz/simulated-clock';
import { recordingLogger } from '../kubernetes/recording-logger';
import { rowIn } from '../queue/rows';

/** Milliseconds that one request to the apiserver takes. */
const REQUEST_MS = 5;

class Scene {
  readonly clock = new SimulatedClock();
  private readonly rows = new Map<string, WorkloadRow>();
  /** By name of the workload, in seconds. */
  private readonly changes: { readonly uid: string; readonly at: number }[] = [];
  private readonly writes = new Map<string, number[]>();
  private readonly queue: WorkQueue;
  readonly deleted = new Set<string>();
  /** What the grant of a workload waits for. */
  readonly waitsFor = new Map<string, GrantWait>();
  /** In seconds, as the metric has them. */
  readonly reportedLags: number[] = [];
  /** How many rows are not needed any more. */
  finals = 0;
  unrecorded = 0;
  busy = true;
  /** Seconds at which the queue became busy: long ago is a stream. */
  busySince = Number.NEGATIVE_INFINITY;
  /** Whether the namespace of the workloads starts and ends many. */
  bursting = false;

  constructor(policy: FluxJobPolicy = 'Notable') {
    const logger = recordingLogger();
    const reconciler = new FluxJobReconciler({
      client: this.client(),
      adapters,
      rowOf: (uid) => this.rows.get(uid),
      waitOf: (uid) => this.waitsFor.get(uid),
      positionOf: () => undefined,
      plannedStartOf: () => undefined,
      exists: (row) => !this.deleted.has(row.uid),
      fluxJobOf: () => undefined,
      busyness: this.busyness(),
      policy,
      onFinal: (uid) => {
        this.finals += 1;
        this.rows.delete(uid);
      },
      onUnrecorded: () => {
        this.unrecorded += 1;
      },
      onWritten: (seconds) => this.reportedLags.push(seconds),
      enqueue: (uid) => this.queue.add(uid),
      clock: this.clock,
      pool: new InternPool(),
      logger,
      now: () => this.now,
    });
    this.queue = new WorkQueue({
      name: 'fluxjobs',
      reconcile: (uid) => reconciler.reconcile(uid),
      logger,
      clock: this.clock,
      random: () => 0.5,
    });
  }

  get now(): number {
    return this.clock.now() / 1000;
  }

  private busyness() {
    const scene = this;
    return {
      isBusy: () => scene.busy,
      get burstSince() {
        return scene.busy ? scene.busySince : undefined;
      },
      isBursting: () => scene.bursting,
    };
  }

  change(uid: string, phase: Phase, over: Partial<WorkloadRow> = {}): void {
    const submittedAt = this.rows.get(uid)?.submittedAt ?? this.now;
    const since = { submittedAt, allocatedAt: this.now, startedAt: this.now };
    this.rows.set(uid, rowIn(phase, { uid, name: uid, ...since, ...over }));
    this.changes.push({ uid, at: this.now });
    this.queue.add(uid);
  }

  /** Seconds by which the FluxJob was behind, for each change. */
  lags(): number[] {
    return this.changes.map(({ uid, at }) => {
      const shown = this.writes.get(uid)?.find((time) => time >= at);
      return (shown ?? Number.POSITIVE_INFINITY) - at;
    });
  }

  /** Each write of a FluxJob by name: its verb and the phase that it says. */
  readonly said: string[] = [];

  private client(): KubernetesClient {
    const answer = { metadata: { uid: 'fluxjob', generation: 1 } };
    const create = async (_: string, body: FluxJobObject) => {
      this.said.push(`create ${body.status?.phase}`);
      this.sent(body.metadata.name);
      await this.clock.pause(REQUEST_MS);
      return answer;
    };
    const patch = async (path: string, body: Partial<FluxJobObject>) => {
      this.said.push(`patch ${body.status?.phase}`);
      this.sent(path.split('/').at(-1)!);
      await this.clock.pause(REQUEST_MS);
      return answer;
    };
    return { create, patch } as unknown as KubernetesClient;
  }

  private sent(fluxJob: string): void {
    const uid = fluxJob.replace(/-job$/, '');
    this.writes.set(uid, [...(this.writes.get(uid) ?? []), this.now]);
  }
}

/** Milliseconds at which a workload changes its phase. */
type Life = Partial<Record<Phase, number>>;

async function stream(scene: Scene, perSecond: number, seconds: number): Promise<void> {
  const { clock } = scene;
  for (let i = 0; i < perSecond * seconds; i++) {
    const uid = `w${i}`;
    scene.change(uid, 'Waiting');
    clock.after(300, () => scene.change(uid, 'Ready'));
    clock.after(1_500, () => scene.change(uid, 'Running'));
    clock.after(1_500 + (i % 40) * 1000, () => scene.change(uid, 'Finished'));
    await clock.advance(1000 / perSecond);
  }
  await clock.advance(60_000);
}

test.each([5, 40])('with %i workloads per second, FluxJobs are at most 10 s behind', async (perSecond) => {
  const scene = new Scene();
  await stream(scene, perSecond, 60);
  expect(Math.max(...scene.lags())).toBeLessThan(10);
  expect(Math.max(...scene.reportedLags)).toBeCloseTo(Math.max(...scene.lags()), 0);
});

test.each([5, 40])('%i workloads per second that begin suddenly', async (perSecond) => {
  const scene = new Scene();
  scene.busySince = scene.now;
  await stream(scene, perSecond, 60);
  const lags = scene.lags();
  expect(Math.max(...lags)).toBeLessThan(23);
  expect(Math.max(...lags)).toBeGreaterThan(15);
  // Later they are shown as those of any other stream.
  expect(Math.max(...lags.slice(lags.length / 2))).toBeLessThan(10);
});

test('what waits is shown in a burst, too', async () => {
  const scene = new Scene();
  scene.busySince = scene.now;
  for (let i = 0; i < 40; i++) scene.change(`w${i}`, 'Waiting');
  await scene.clock.advance(30_000);
  expect(Math.max(...scene.lags())).toBeLessThan(10);
});

test.each<[string, Phase, Partial<WorkloadRow>, string | undefined]>([
  ['a pod that cannot start', 'Ready', {}, 'ImagePullBackOff'],
  ['a pod that does not fit', 'Ready', {}, 'Unschedulable'],
  ['a failure', 'Finished', { result: 'Failed' }, undefined],
  ['a lost node', 'Running', { requeues: 1 }, undefined],
])('%s is shown in a burst, too', async (_, phase, over, reason) => {
  const scene = new Scene();
  scene.busySince = scene.now;
  scene.change('w', 'Waiting');
  scene.clock.after(2_000, () => {
    if (reason !== undefined) scene.waitsFor.set('w', { reason, message: reason });
    scene.change('w', phase, over);
  });
  await scene.clock.advance(30_000);
  expect(Math.max(...scene.lags())).toBeLessThan(10);
});

test('what starts and ends in a burst costs one write, after it', async () => {
  const scene = new Scene();
  scene.busySince = scene.now;
  scene.change('w', 'Waiting');
  scene.clock.after(4_000, () => scene.change('w', 'Ready'));
  scene.clock.after(6_000, () => scene.change('w', 'Running'));
  scene.clock.after(15_000, () => scene.change('w', 'Finished'));
  await scene.clock.advance(19_000);
  expect(scene.said).toEqual([]);
  await scene.clock.advance(30_000);
  expect(scene.said).toEqual(['create Finished']);
});

const SUCCESS: Life = { Waiting: 0, Ready: 4_000, Running: 6_000, Finished: 15_000 };

test.each<[string, Partial<WorkloadRow>, Life, string[]]>([
  ['starts and succeeds', {}, SUCCESS, []],
  ['fails', { result: 'Failed' }, SUCCESS, ['create Finished']],
  ['times out', { result: 'TimedOut' }, SUCCESS, ['create Finished']],
  ['succeeds at the second attempt', { requeues: 1 }, SUCCESS, ['create Finished']],
  ['was preempted', { preemptions: 1 }, SUCCESS, ['create Finished']],
  ['runs on', {}, { Waiting: 0, Ready: 4_000, Running: 6_000 }, ['create Running']],
  [
    'runs for longer than a burst',
    {},
    { Waiting: 0, Ready: 4_000, Running: 6_000, Finished: 40_000 },
    ['create Running', 'patch Finished'],
  ],
  [
    'waits first',
    {},
    { Waiting: 0, Ready: 12_000, Running: 13_000, Finished: 15_000 },
    ['create Waiting', 'patch Finished'],
  ],
])(
  'in a burst of its namespace, a workload that %s costs as many writes as it tells',
  async (_, over, life, writes) => {
    const scene = new Scene();
    scene.busySince = scene.now;
    scene.bursting = true;
    for (const [phase, at] of Object.entries(life))
      scene.clock.after(at, () => {
        const finishedAt = phase === 'Finished' ? scene.now : null;
        scene.change('w', phase as Phase, phase === 'Finished' ? { finishedAt, ...over } : {});
      });
    await scene.clock.advance(60_000);
    expect(scene.said).toEqual(writes);
    expect(scene.finals).toBe('Finished' in life ? 1 : 0);
    expect(scene.unrecorded).toBe(writes.length === 0 ? 1 : 0);
  },
);

test('a workload that starts and succeeds in the burst of another namespace has its FluxJob, and with All in its own, too', async () => {
  for (const [policy, bursting] of [
    ['Notable', false],
    ['All', true],
  ] as const) {
    const scene = new Scene(policy);
    scene.busySince = scene.now;
    scene.bursting = bursting;
    for (const [phase, at] of Object.entries(SUCCESS))
      scene.clock.after(at, () => scene.change('w', phase as Phase, { finishedAt: scene.now }));
    await scene.clock.advance(60_000);
    expect(scene.said).toEqual(['create Finished']);
  }
});

test('a workload whose phases end before they settle is at most 10 s behind', async () => {
  const scene = new Scene();
  scene.change('w', 'Waiting');
  await scene.clock.advance(20_000);
  scene.change('w', 'Ready');
  await scene.clock.advance(6_500);
  scene.change('w', 'Running');
  await scene.clock.advance(6_500);
  scene.change('w', 'Finished');
  await scene.clock.advance(30_000);
  expect(Math.max(...scene.lags())).toBeLessThan(10);
});

test('after 10,000 workloads at once, FluxJobs are at most 30 s behind', async () => {
  const scene = new Scene();
  for (let i = 0; i < 10_000; i++) scene.change(`w${i}`, 'Waiting');
  await scene.clock.advance(60_000);
  expect(Math.max(...scene.lags())).toBeLessThan(30);

  // The queue is deep and quiet now: what changes is shown soon.
  scene.busy = false;
  for (let i = 0; i < 20; i++) {
    scene.change(`w${i}`, 'Finished');
    scene.change(`w${i + 100}`, 'Running');
    await scene.clock.advance(1_000);
  }
  await scene.clock.advance(10_000);
  expect(Math.max(...scene.lags().slice(10_000))).toBeLessThan(10);
});

test.each<[string, boolean, Life, string[]]>([
  ['ends soon, busy', true, { Waiting: 0, Ready: 300, Running: 2_000, Finished: 4_000 }, ['create Finished']],
  ['ends at once, quiet', false, { Waiting: 0, Ready: 50, Running: 400, Finished: 900 }, ['create Finished']],
  ['runs on, quiet', false, { Waiting: 0, Ready: 50, Running: 900 }, ['create Running']],
  ['runs on, busy', true, { Waiting: 0, Ready: 50, Running: 900 }, ['create Running']],
  [
    'waits, then runs',
    true,
    { Waiting: 0, Ready: 20_000, Running: 21_000, Finished: 60_000 },
    ['create Waiting', 'patch Running', 'patch Finished'],
  ],
])('a workload that %s', async (_, busy, life, writes) => {
  const scene = new Scene();
  scene.busy = busy;
  for (const [phase, at] of Object.entries(life))
    scene.clock.after(at, () => scene.change('w', phase as Phase));
  await scene.clock.advance(90_000);
  expect(scene.said).toEqual(writes);
});

test('no FluxJob is created for a workload that was deleted before it had one', async () => {
  const scene = new Scene();
  scene.change('w', 'Waiting');
  scene.deleted.add('w');
  scene.change('w', 'Finished');
  await scene.clock.advance(30_000);
  expect(scene.said).toEqual([]);
});
