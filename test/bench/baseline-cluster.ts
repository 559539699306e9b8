/**
 * The second form of Kueue's baseline scenario: Jobs on a real control plane, with the Job controller, kube-scheduler and nodes of kwok.
 * What is counted is what a watch of Jobs shows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { fluxSetups } from '../../runtime/kubernetes/custom-resources';
import { jobs as jobsPath } from '../../runtime/kubernetes/paths';
import { Reflector } from '../../runtime/kubernetes/reflector';
import type { Job } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { startStack } from '../stack/stack';
import {
  BASELINE,
  type BaselineResult,
  cohortOf,
  jobsOf,
  meanWaits,
  type Job as Planned,
  queuesOf,
  type Scenario,
} from './baseline-run';
import { print, withAdmin } from './jobs';

/** One of so many workloads, which runs so many times as long: the quotas are as full as in the whole scenario. */
export function scaled(scale: number): Scenario {
  const classes = Object.entries(BASELINE.classes).map(([name, one]) => {
    const { count, every, runs } = one;
    return [name, { ...one, count: Math.round(count / scale), every: every * scale, runs: runs * scale }];
  });
  return { ...BASELINE, classes: Object.fromEntries(classes) };
}

export interface ClusterResult extends Omit<BaselineResult, 'keptQuotaSeconds' | 'passes'> {
  readonly scale: number;
  /** Seconds, summed over cohorts, in which a workload waited that quota and nodes had room for, until somebody was told: reservations are not seen. */
  readonly openQuotaSeconds: number;
}

/** Until what has become free is given away again: watches, a pass, its commit and the release. What lasts longer is idle. */
const REACTION_SECONDS = 2;

export async function runOnCluster(scale: number): Promise<ClusterResult> {
  const scenario = scaled(scale);
  const stack = await startStack({
    cluster: { nodes: scenario.nodes, nodeShape: { cpu: '64', memory: '256Gi' } },
    config: { logLevel: 'warn' },
    progress: print,
  });
  try {
    const queues = queuesOf(scenario);
    for (const cohort of new Set(queues.map((queue) => queue.cohort))) await stack.namespace(cohort);
    await stack.startController();
    return await withAdmin(stack, async (client) => {
      for (const { name, cohort } of queues) await createQueue(client, name, cohort);
      await stack.cluster.waitFor('all queues to be in force', async () => {
        const { items } = await client.list<
          { readonly status?: { readonly observedGeneration?: number } } & Job
        >(fluxSetups());
        return (
          items.length === queues.length && items.every(({ status }) => status?.observedGeneration === 1)
        );
      });
      return new ClusterRun(client, scenario, scale).run();
    });
  } finally {
    await stack.stop();
  }
}

function createQueue(client: KubernetesClient, queue: string, cohort: string): Promise<unknown> {
  const { quota, borrowing, preemption } = BASELINE.queue;
  return client.create(fluxSetups(cohort), {
    apiVersion: 'flux-framework.org/v1alpha1',
    kind: 'FluxSetup',
    metadata: { name: nameOf(queue) },
    spec: {
      cohort,
      quota: { cores: quota.cores },
      borrowing: { cores: borrowing.cores },
      reclaim: true,
      preemption: { policy: 'LowerPriority', minRuntime: '0s', limit: preemption.limit },
    },
  });
}

const nameOf = (queue: string) => `q${queue.slice(queue.indexOf('/') + 1)}`;

interface State {
  readonly job: Planned;
  /** Seconds of the run. */
  createdAt: number;
  startedAt: number | undefined;
  isHeld: boolean;
  hasEnded: boolean;
  isSuspended: boolean;
}

class ClusterRun {
  private readonly states = new Map<string, State>();
  private readonly started = performance.now();
  private readonly all: readonly Planned[];
  private readonly done = Promise.withResolvers<void>();
  private ended = 0;
  private evictions = 0;
  private open = 0;
  private idle = 0;
  /** By cohort: since when it has room for one that waits. */
  private readonly openSince = new Map<string, number>();

  constructor(
    private readonly client: KubernetesClient,
    private readonly scenario: Scenario,
    private readonly scale: number,
  ) {
    this.all = jobsOf(scenario);
  }

  private get now(): number {
    return (performance.now() - this.started) / 1000;
  }

  async run(): Promise<ClusterResult> {
    const reflector = new Reflector<Job>({
      client: this.client,
      path: '/apis/batch/v1/jobs',
      logger: createLogger('bench', 'silent'),
      onChange: (_, job) => job !== undefined && this.seen(job),
    });
    reflector.start();
    await reflector.synced;
    const first = this.now;
    const creations: Promise<void>[] = [];
    for (const job of this.all) {
      await sleep(Math.max(0, (first + job.at - this.now) * 1000));
      creations.push(this.create(job));
    }
    await Promise.all(creations);
    await this.done.promise;
    await reflector.stop();
    return {
      workloads: this.all.length,
      scale: this.scale,
      seconds: this.now - first - this.all[0]!.at,
      evictions: this.evictions,
      idleQuotaSeconds: this.idle,
      openQuotaSeconds: this.open,
      admissionSeconds: meanWaits(this.all, ({ uid }) => {
        const { createdAt, startedAt } = this.states.get(uid)!;
        return startedAt! - createdAt;
      }),
    };
  }

  private async create(job: Planned): Promise<void> {
    const { cores, priority, runs } = this.scenario.classes[job.class];
    const createdAt = this.now;
    this.states.set(job.uid, {
      job,
      createdAt,
      startedAt: undefined,
      isHeld: false,
      hasEnded: false,
      isSuspended: true,
    });
    await this.client.create<Job>(jobsPath(cohortOf(job.queue)), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: job.uid.replace('/', '-'),
        labels: {
          'fluxqueue/queue': nameOf(job.queue),
          'fluxqueue/priority': String(priority),
          'fluxqueue/preemptible': 'true',
        },
        annotations: { uid: job.uid },
      },
      spec: {
        template: {
          metadata: { annotations: { 'fluxqueue.test/duration': `${runs}s` } },
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: String(cores) } } }],
          },
        },
      },
    });
  }

  private seen({ metadata, spec, status = {} }: Job): void {
    const state = this.states.get(metadata.annotations?.uid ?? '');
    if (state === undefined || state.hasEnded) return;
    const isSuspended = spec.suspend === true;
    if (isSuspended && !state.isSuspended) this.evictions += 1;
    if (!isSuspended) state.startedAt ??= this.now;
    state.isSuspended = isSuspended;
    state.hasEnded =
      status.conditions?.some(({ type, status: value }) => type === 'Complete' && value === 'True') ?? false;
    state.isHeld = !state.hasEnded && (!isSuspended || (status.active ?? 0) + (status.terminating ?? 0) > 0);
    if (state.hasEnded) this.ended += 1;
    this.markOpen();
    if (this.ended === this.all.length) this.done.resolve();
  }

  /** Which cohorts have room for one that waits, and how long those had it that have none any more. */
  private markOpen(): void {
    const { now } = this;
    const open = this.cohortsWithRoom();
    for (const cohort of open) if (!this.openSince.has(cohort)) this.openSince.set(cohort, now);
    for (const [cohort, since] of this.openSince) {
      if (open.has(cohort)) continue;
      this.openSince.delete(cohort);
      this.open += now - since;
      this.idle += Math.max(0, now - since - REACTION_SECONDS);
    }
  }

  private cohortsWithRoom(): ReadonlySet<string> {
    const { classes, queue: settings, queuesPerCohort } = this.scenario;
    const own = settings.quota.cores!;
    const used = new Map<string, number>();
    const states = [...this.states.values()].filter(({ hasEnded }) => !hasEnded);
    for (const { job, isHeld } of states)
      if (isHeld)
        for (const key of [job.queue, cohortOf(job.queue)])
          used.set(key, (used.get(key) ?? 0) + classes[job.class].cores);
    const fits = ({ queue, class: name }: Planned) => {
      const { cores } = classes[name];
      const ofQueue = (used.get(queue) ?? 0) + cores <= own + settings.borrowing.cores!;
      return ofQueue && (used.get(cohortOf(queue)) ?? 0) + cores <= own * queuesPerCohort;
    };
    return new Set(
      states.filter(({ isHeld, job }) => !isHeld && fits(job)).map(({ job }) => cohortOf(job.queue)),
    );
  }
}
