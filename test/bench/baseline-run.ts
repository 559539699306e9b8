/**
 * The baseline scenario of Kueue's scheduler performance tests, on passes alone: no apiserver and no tables. Workloads come as its generator
 * creates them, run for their time and then end; one that is evicted waits again at once, as with its runner.
 */
import type { QueueSettings } from '../../runtime/queue/settings';
import type { Allocation } from '../../runtime/resources/types';
import { PREEMPTS } from '../scheduler/pass/settings';
import { nodesOf, Simulation } from '../scheduler/pass/simulation';

export const CLASSES = ['large', 'medium', 'small'] as const;
export type WorkloadClass = (typeof CLASSES)[number];

interface ClassOptions {
  readonly count: number;
  /** Seconds between two of them in a queue. */
  readonly every: number;
  readonly runs: number;
  readonly cores: number;
  readonly priority: number;
}

export interface Scenario {
  readonly cohorts: number;
  readonly queuesPerCohort: number;
  readonly queue: Pick<QueueSettings, 'quota' | 'borrowing' | 'reclaim' | 'preempts' | 'preemption'>;
  readonly classes: Readonly<Record<WorkloadClass, ClassOptions>>;
  /** Of 64 cores. */
  readonly nodes: number;
}

/** test/performance/scheduler/configs/baseline in Kueue's repository; the walltimes, which Kueue does not have, are the default. */
export const BASELINE: Scenario = {
  cohorts: 5,
  queuesPerCohort: 6,
  queue: { quota: { cores: 20 }, borrowing: { cores: 100 }, reclaim: true, ...PREEMPTS },
  classes: {
    large: { count: 50, every: 1.2, runs: 1, cores: 20, priority: 200 },
    medium: { count: 100, every: 0.5, runs: 0.5, cores: 5, priority: 100 },
    small: { count: 350, every: 0.1, runs: 0.2, cores: 1, priority: 50 },
  },
  nodes: 20,
};

export interface BaselineResult {
  readonly workloads: number;
  /** From the first workload to the end of the last one. */
  readonly seconds: number;
  readonly evictions: number;
  /** Seconds, summed over cohorts, in which a workload waited that quota and nodes had room for beside what is reserved; not while a pass runs. */
  readonly idleQuotaSeconds: number;
  /** The same where room was kept for a reservation that starts before the workload would end by its walltime. */
  readonly keptQuotaSeconds: number;
  /** From the creation to the start, the mean by class. */
  readonly admissionSeconds: Readonly<Record<WorkloadClass, number>>;
  readonly passes: number;
}

/** Time of the wall, or one that jumps. */
export interface BaselineClock {
  /** Seconds from the start of the run. */
  now(): number;
  until(seconds: number): Promise<void>;
}

export interface Job {
  readonly uid: string;
  readonly queue: string;
  readonly class: WorkloadClass;
  readonly at: number;
}

const WALLTIME = 3_600;

export class BaselineRun {
  private readonly coming: readonly Job[];
  private readonly jobs = new Map<string, Job>();
  private readonly ends = new Map<string, number>();
  private readonly starts = new Map<string, number>();
  private next = 0;
  private passes = 0;
  private idleSeconds = 0;
  private keptSeconds = 0;

  private constructor(
    private readonly sim: Simulation,
    private readonly scenario: Scenario,
    private readonly clock: BaselineClock,
  ) {
    this.coming = jobsOf(scenario);
  }

  static async of(scenario: Scenario, clock: BaselineClock): Promise<BaselineRun> {
    const sim = await Simulation.of(nodesOf(scenario.nodes, 64), { depth: 10_000 });
    for (const { name, cohort } of queuesOf(scenario)) sim.queue(name, { ...scenario.queue, cohort });
    return new BaselineRun(sim, scenario, clock);
  }

  async run(): Promise<BaselineResult> {
    const { sim, clock } = this;
    const base = sim.now;
    let isDue = true;
    let wakeAt = Infinity;
    for (;;) {
      const changed = await this.happen();
      if (this.next === this.coming.length && this.starts.size === this.coming.length && this.ends.size === 0)
        return this.result();
      if (changed || isDue) {
        sim.now = base + Math.floor(clock.now());
        const { more, nextAt = Infinity } = await sim.pass();
        this.begin();
        isDue = more;
        wakeAt = nextAt - base;
        continue;
      }
      const before = clock.now();
      const idle = this.cohortsWithRoom(true);
      const kept = this.cohortsWithRoom(false) - idle;
      await clock.until(Math.min(wakeAt, this.coming[this.next]?.at ?? Infinity, ...this.ends.values()));
      this.idleSeconds += idle * (clock.now() - before);
      this.keptSeconds += kept * (clock.now() - before);
      isDue = clock.now() >= wakeAt;
    }
  }

  /** Submits, ends and requeues what is due. @returns whether there was any */
  private async happen(): Promise<boolean> {
    const { sim, scenario, coming, jobs, ends } = this;
    const now = this.clock.now();
    let changed = false;
    for (let job = coming[this.next]; job !== undefined && job.at <= now; job = coming[this.next]) {
      const { cores: cpu, priority } = scenario.classes[job.class];
      sim.submit(job.uid, { queue: job.queue, cpu, priority, walltime: WALLTIME, preemptible: true });
      jobs.set(job.uid, job);
      this.next += 1;
      changed = true;
    }
    for (const [uid, end] of ends) {
      const isEvicted = sim.row(uid).evictionReason !== null;
      if (!isEvicted && end > now) continue;
      ends.delete(uid);
      changed = true;
      await (isEvicted ? sim.requeue(uid) : this.finish(uid));
    }
    return changed;
  }

  private async finish(uid: string): Promise<void> {
    await this.sim.finish(uid);
    // What has ended is looked at in no pass.
    this.sim.rows.delete(uid);
  }

  /** What the pass has started runs from now on. */
  private begin(): void {
    const now = this.clock.now();
    this.passes += 1;
    for (const { uid } of this.sim.running()) {
      if (this.ends.has(uid)) continue;
      this.starts.set(uid, now);
      this.ends.set(uid, now + this.scenario.classes[this.jobs.get(uid)!.class].runs);
    }
  }

  /**
   * How many cohorts have a waiting workload for which they have quota, and the cluster a node.
   * @param besideReservations whether it has to fit beside reservations: by its walltime it would end after their start
   */
  private cohortsWithRoom(besideReservations: boolean): number {
    const { scenario, sim } = this;
    const used = new Map<string, number>();
    const free = new Map<string, number>(sim.nodes.map(({ name, units }) => [name, units.core!]));
    const take = (uid: string, { nodes }: Pick<Allocation, 'nodes'>) => {
      const { queue, class: name } = this.jobs.get(uid)!;
      const { cores } = scenario.classes[name];
      for (const key of [queue, cohortOf(queue)]) used.set(key, (used.get(key) ?? 0) + cores);
      free.set(nodes[0]!.name, free.get(nodes[0]!.name)! - cores);
    };
    const rows = [...sim.rows.values()];
    for (const { uid, allocation } of rows) if (allocation !== null) take(uid, allocation);
    const reserved = besideReservations ? sim.reservations : [];
    for (const { uid, allocation } of reserved) take(uid, allocation);
    const widest = Math.max(...free.values());
    const promised = new Set(reserved.map(({ uid }) => uid));
    const waiting = rows.filter(({ uid, allocation }) => allocation === null && !promised.has(uid));
    return new Set(
      waiting
        .map(({ uid }) => this.jobs.get(uid)!)
        .filter((job) => this.hasQuota(job, used) && scenario.classes[job.class].cores <= widest)
        .map(({ queue }) => cohortOf(queue)),
    ).size;
  }

  private hasQuota({ queue, class: name }: Job, used: ReadonlyMap<string, number>): boolean {
    const { classes, queuesPerCohort } = this.scenario;
    const { quota, borrowing } = this.scenario.queue;
    const { cores } = classes[name];
    const { cores: own = 0 } = quota;
    const ofQueue = (used.get(queue) ?? 0) + cores <= own + (borrowing.cores ?? Infinity);
    return ofQueue && (used.get(cohortOf(queue)) ?? 0) + cores <= own * queuesPerCohort;
  }

  private result(): BaselineResult {
    return {
      workloads: this.coming.length,
      seconds: this.clock.now() - this.coming[0]!.at,
      evictions: this.sim.evicted.length,
      idleQuotaSeconds: this.idleSeconds,
      keptQuotaSeconds: this.keptSeconds,
      admissionSeconds: meanWaits(this.coming, ({ uid, at }) => this.starts.get(uid)! - at),
      passes: this.passes,
    };
  }
}

export function meanWaits(
  jobs: readonly Job[],
  waitOf: (job: Job) => number,
): Readonly<Record<WorkloadClass, number>> {
  const mean = (name: WorkloadClass) => {
    const own = jobs.filter((job) => job.class === name);
    return own.reduce((sum, job) => sum + waitOf(job), 0) / own.length;
  };
  return { large: mean('large'), medium: mean('medium'), small: mean('small') };
}

export function queuesOf({ cohorts, queuesPerCohort }: Scenario) {
  return Array.from({ length: cohorts * queuesPerCohort }, (_, i) => {
    const cohort = `cohort-${Math.floor(i / queuesPerCohort)}`;
    return { name: `${cohort}/${i % queuesPerCohort}`, cohort };
  });
}

export function cohortOf(queue: string): string {
  return queue.slice(0, queue.indexOf('/'));
}

/** In the order in which they come. */
export function jobsOf(scenario: Scenario): readonly Job[] {
  const all = queuesOf(scenario).flatMap(({ name: queue }) =>
    CLASSES.flatMap((name) => {
      const { count, every } = scenario.classes[name];
      return Array.from({ length: count }, (_, i) => ({
        uid: `${queue}-${name}-${i}`,
        queue,
        class: name,
        at: (i + 1) * every,
      }));
    }),
  );
  return all.sort((a, b) => a.at - b.at);
}
