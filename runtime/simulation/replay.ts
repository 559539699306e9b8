/**
 * Replays a trace with the scheduling pass and the embedded matcher of the controller, on a clock that jumps from event
 * to event. Each processor of the trace is a pod of one core.
 */

import type { BackfillOrder, MatchPolicy, QueuePolicy } from '../../constructs/api/policies';
import { QUEUE_DEFAULTS, STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { parseConfig } from '../config';
import { embeddedFluxion } from '../fluxion/matcher/engine';
import type { Fluxion } from '../fluxion/types';
import { stackQueue } from '../fluxsetups/queue-settings';
import { jobspecOf, shapeOf } from '../jobspec/jobspec';
import type { Jobspec } from '../jobspec/types';
import { DEFAULT_UNITS } from '../jobspec/units';
import { UsageCache } from '../queue/fair-usage';
import { newRow } from '../queue/rows';
import type { QueueSettings } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
import type { Allocation, GraphNode } from '../resources/types';
import { runPass } from '../scheduler/pass/pass';
import type { PassCache } from '../scheduler/pass/pass-cache';
import type { Reservation } from '../scheduler/pass/reservations';
import type { PassResult } from '../scheduler/pass/types';
import { Events } from './events';
import type { QueuedJob } from './queues';
import type { TraceJob } from './swf';

export interface Machine {
  readonly nodes: number;
  readonly coresPerNode: number;
}

export interface ReplayOptions extends Machine {
  readonly policy: QueuePolicy;
  /** Reservations of policy hybrid. @default 8 */
  readonly reservations?: number;
  /** @default - that of a queue */
  readonly backfillOrder?: BackfillOrder | undefined;
  /** With shortestArea. @default - that of a queue */
  readonly backfillMaxWait?: number;
  /** Weights of queues in fair share, by name; a queue without one has the weight 1. @default - fair share is off */
  readonly weights?: ReadonlyMap<string, number>;
  /** Seconds after which past usage counts half in fair share. @default - 7 days */
  readonly halfLife?: number;
  /** @default 'lonode' */
  readonly match?: MatchPolicy;
  /** Factor on the times between submissions: above 1 the load is lower. @default 1 */
  readonly scale?: number;
  /** The matcher. @default - the embedded matcher */
  readonly fluxion?: Fluxion;
  /** Called after each pass with the number of jobs that have started. @default - not reported */
  readonly onProgress?: (started: number) => void;
}

export interface Replayed {
  readonly jobs: readonly QueuedJob[];
  /** Jobs that request more than the whole machine and never start. */
  readonly tooLarge: readonly TraceJob[];
}

export async function replay(trace: readonly TraceJob[], options: ReplayOptions): Promise<Replayed> {
  const cores = options.nodes * options.coresPerNode;
  const fits = trace.filter(({ processors }) => processors <= cores);
  const run = new Replay(fits, options);
  return { jobs: await run.run(), tooLarge: trace.filter(({ processors }) => processors > cores) };
}

interface ReplayedQueue {
  readonly settings: QueueSettings;
  /** Of its active entries, in the order of their submission. */
  readonly rows: Map<string, WorkloadRow>;
}

interface Entry {
  readonly trace: TraceJob;
  readonly uid: string;
  readonly queue: ReplayedQueue;
  /** The earliest start that was ever estimated. */
  earliestEstimate: number;
  firstEstimate: number | undefined;
}

class Replay {
  private readonly fluxion: Fluxion;
  private readonly nodes: readonly GraphNode[];
  /** Those of the trace, by name. All have the settings of the stack's own queue. */
  private readonly queues: ReadonlyMap<string, ReplayedQueue>;
  private readonly usage: UsageCache | undefined;
  private readonly jobspecs = new Map<string, { readonly jobspec: Jobspec; readonly shape: string }>();
  private readonly arrivals = new Events<TraceJob>();
  private readonly ends = new Events<Entry>();
  private readonly active = new Map<string, Entry>();
  private readonly done: QueuedJob[] = [];
  private reservations: readonly Reservation[] = [];
  private cache: PassCache | undefined;
  private freed = false;
  private first = true;
  private arrived = 0;
  private started = 0;

  constructor(
    trace: readonly TraceJob[],
    private readonly options: ReplayOptions,
  ) {
    const { nodes, coresPerNode, scale = 1, fluxion = embeddedFluxion() } = options;
    this.fluxion = fluxion;
    this.nodes = Array.from({ length: nodes }, (_, i) => ({
      name: `node-${i}`,
      units: { core: coresPerNode },
    }));
    this.queues = queuesOf(trace, options);
    const { weights, halfLife = STACK_DEFAULTS.halfLifeSeconds } = options;
    this.usage = weights && new UsageCache({ units: DEFAULT_UNITS, halfLifeSeconds: halfLife });
    const origin = trace[0]?.submittedAt ?? 0;
    for (const job of trace) this.arrivals.add(Math.floor((job.submittedAt - origin) * scale), job);
  }

  /** Processes ends, then submissions, then runs a pass, until no event is left. */
  async run(): Promise<readonly QueuedJob[]> {
    await this.fluxion.init({ nodes: this.nodes, policy: this.options.match ?? 'lonode', now: 0 });
    for (let now = this.arrivals.next; now < Infinity; ) {
      for (const entry of this.ends.until(now)) await this.end(entry, now);
      for (const job of this.arrivals.until(now)) this.submit(job, now);
      const { more, nextAt = Infinity } = await this.pass(now);
      this.options.onProgress?.(this.started);
      if (!more) now = Math.min(this.arrivals.next, this.ends.next, nextAt);
    }
    return this.done;
  }

  private submit(trace: TraceJob, now: number): void {
    this.arrived += 1;
    const queue = this.queues.get(trace.queue)!;
    const row = newRow(
      {
        uid: `${this.arrived}`,
        kind: 'Job',
        namespace: 'trace',
        name: `${trace.number}`,
        queue: trace.queue,
        priority: 0,
        submittedAt: now,
        walltime: trace.walltime,
        pods: trace.processors,
        ...this.jobspecFor(trace),
        held: false,
        user: trace.user,
        after: [],
        preemptible: false,
      },
      this.arrived,
    );
    const { uid } = row;
    queue.rows.set(uid, row);
    this.active.set(uid, { trace, uid, queue, earliestEstimate: Infinity, firstEstimate: undefined });
  }

  /** Jobs with the same request share one jobspec. */
  private jobspecFor({ processors, walltime }: TraceJob): { jobspec: Jobspec; shape: string } {
    const key = `${processors} ${walltime}`;
    const known = this.jobspecs.get(key);
    if (known !== undefined) return known;
    const jobspec = jobspecOf({ pod: ONE_CORE, pods: processors, walltime });
    const made = { jobspec, shape: shapeOf(jobspec) };
    this.jobspecs.set(key, made);
    return made;
  }

  private async end(
    { trace, uid, queue, earliestEstimate, firstEstimate }: Entry,
    now: number,
  ): Promise<void> {
    const row = queue.rows.get(uid)!;
    await this.fluxion.cancel(row.jobid);
    this.usage?.apply(row, { ...row, phase: 'Finished', finishedAt: now }, now);
    this.active.delete(uid);
    queue.rows.delete(uid);
    this.freed = true;
    const startedAt = row.startedAt!;
    this.done.push({
      submittedAt: row.submittedAt,
      startedAt,
      endedAt: now,
      processors: trace.processors,
      queue: trace.queue,
      user: trace.user,
      delayed: startedAt > earliestEstimate,
      firstEstimate,
    });
  }

  private async pass(now: number): Promise<PassResult> {
    const queues = [...this.queues.values()].map(({ settings, rows }) => ({
      settings,
      rows: [...rows.values()],
    }));
    const fairShare = this.usage?.at(
      now,
      queues.flatMap(({ rows }) => rows),
      () => QUEUE_DEFAULTS.billingWeights,
    );
    const result = await runPass({
      now,
      queues,
      ...(fairShare && { fairShare }),
      matcher: this.fluxion,
      reservations: this.reservations,
      cache: this.cache,
      freed: this.freed,
      graphGrew: this.first,
      nodes: this.nodes,
    });
    this.reservations = result.reservations;
    this.cache = result.cache;
    this.freed = false;
    this.first = false;
    for (const { uid, allocation } of result.grants) this.start(this.active.get(uid)!, allocation, now);
    for (const { uid, ...wait } of result.waits) {
      const entry = this.active.get(uid)!;
      const { rows } = entry.queue;
      rows.set(uid, { ...rows.get(uid)!, ...wait });
      entry.firstEstimate ??= wait.estimatedStart ?? undefined;
      entry.earliestEstimate = Math.min(entry.earliestEstimate, wait.estimatedStart ?? Infinity);
    }
    return result;
  }

  private start(entry: Entry, allocation: Allocation, now: number): void {
    this.started += 1;
    const { rows } = entry.queue;
    const row = rows.get(entry.uid)!;
    rows.set(entry.uid, { ...row, phase: 'Running', allocation, allocatedAt: now, startedAt: now });
    this.ends.add(now + entry.trace.runtime, entry);
  }
}

function queuesOf(
  trace: readonly TraceJob[],
  { policy, reservations, weights, backfillOrder, backfillMaxWait }: ReplayOptions,
): ReadonlyMap<string, ReplayedQueue> {
  const usual = stackQueue(parseConfig({}).queue);
  const queueOf = (name: string): ReplayedQueue => ({
    settings: {
      ...usual,
      name,
      policy,
      reservations: reservations ?? usual.reservations,
      backfillOrder: backfillOrder ?? usual.backfillOrder,
      backfillMaxWaitSeconds: backfillMaxWait ?? usual.backfillMaxWaitSeconds,
      weight: weights?.get(name) ?? usual.weight,
    },
    rows: new Map(),
  });
  return new Map([...new Set(trace.map(({ queue }) => queue))].map((name) => [name, queueOf(name)]));
}

const ONE_CORE = { containers: [{ resources: { requests: { cpu: 1 } } }] };
