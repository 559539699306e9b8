/** Rows that change, and what is written of them, with the work queue and the reconciler on a simulated clock. */
import type { FluxJobPolicy } from '../../constructs/api/policies';
import { ownersOf } from '../../runtime/fluxjobs/owners';
import { FluxJobReconciler } from '../../runtime/fluxjobs/reconciler';
import { InternPool } from '../../runtime/intern';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { apiError } from '../../runtime/kubernetes/errors';
import { WorkQueue } from '../../runtime/kubernetes/work-queue';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import type { GrantWait } from '../../runtime/shared/grant-waits';
import { adapters } from '../../runtime/workloads/index';
import { SimulatedClock } from '../fuzz/simulated-clock';
import { recordingLogger } from '../kubernetes/recording-logger';
import { rowIn } from '../queue/rows';

/** Milliseconds that one request to the apiserver takes. */
const REQUEST_MS = 5;
const NOT_FOUND = JSON.stringify({ reason: 'NotFound', details: { name: 'a-job' } });

export class Scene {
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
      orphanOf: () => undefined,
      loweredPodsOf: () => undefined,
      ownersOf: (row) => ownersOf(row, adapters.get(row.kind)!, undefined),
      olderPodsOf: () => undefined,
      client: this.client(),
      adapters,
      rowOf: (uid) => this.rows.get(uid),
      waitOf: (uid) => this.waitsFor.get(uid),
      positionOf: () => undefined,
      plannedStartOf: () => undefined,
      likelyStartOf: () => undefined,
      lingeringOf: () => undefined,
      surplusOf: () => [],
      ignoredOf: () => [],
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
  /** The answer to every create. */
  refusal: Error | undefined;
  /** UID of a FluxJob of an earlier workload, which is deleted by somebody else after it was read. */
  other: string | undefined;

  private client(): KubernetesClient {
    const answer = { metadata: { uid: 'fluxjob', generation: 1 } };
    const create = async (_: string, body: FluxJobObject) => {
      if (this.refusal !== undefined) throw this.refusal;
      if (this.other !== undefined) throw apiError(409, '{"reason":"AlreadyExists"}', undefined, 'POST');
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
    const get = async () => {
      if (this.other === undefined) throw apiError(404, NOT_FOUND, undefined, 'GET');
      return {
        metadata: { name: 'a-job', namespace: 'science', uid: this.other },
        spec: { workload: { uid: this.other } },
      };
    };
    const remove = async () => {
      this.other = undefined;
      throw apiError(404, NOT_FOUND, undefined, 'DELETE');
    };
    return { create, patch, get, delete: remove } as unknown as KubernetesClient;
  }

  private sent(fluxJob: string): void {
    const uid = fluxJob.replace(/-job$/, '');
    this.writes.set(uid, [...(this.writes.get(uid) ?? []), this.now]);
  }
}

/** Milliseconds at which a workload changes its phase. */
export type Life = Partial<Record<Phase, number>>;
