/**
 * The demo without a control plane: real jobspecs, matcher and scheduling passes on a simulated clock and cluster, without
 * Kubernetes and Postgres.
 */
import { parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import { stackQueue } from '../../runtime/fluxsetups/queue-settings';
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { newRow } from '../../runtime/queue/rows';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { GraphNode } from '../../runtime/resources/types';
import { runPass } from '../../runtime/scheduler/pass/pass';
import type { Reservation } from '../../runtime/scheduler/pass/reservations';
import { adapters } from '../../runtime/workloads/index';
import { workloadSettings } from '../../runtime/workloads/settings';
import { judge } from '../../test/stack/verify';
import type { DemoOptions } from './options';
import type { RunResult } from './run';
import { DURATION, demoWorkloads, type Manifest } from './workloads';

const CORES = 16;
/** Simulated seconds between two submissions. */
const SUBMIT_EVERY = 0.1;
const QUEUE = stackQueue(parseConfig({}).queue);
const DEFAULT_WALLTIME = 3600;

export async function simulate({ nodes, jobs, json }: DemoOptions): Promise<RunResult & { simulated: true }> {
  const print = (line: string) => (json ? process.stderr : process.stdout).write(`${line}\n`);
  print(
    `SIMULATION: the scheduler alone on ${nodes} simulated nodes and a simulated clock; no Kubernetes, no Postgres.`,
  );
  const { runnable, impossible } = demoWorkloads('science', { nodes, coresPerNode: CORES }, jobs);
  const simulation = new Simulation(nodes, [...runnable, impossible], print);
  const rows = await simulation.run();
  const uids = rows.map(({ uid }) => uid);
  const waits = rows
    .flatMap(({ allocatedAt, submittedAt }) => (allocatedAt === null ? [] : [allocatedAt - submittedAt]))
    .sort((a, b) => a - b);
  const last = rows.find(({ reason }) => reason === 'Unsatisfiable');
  const result = {
    simulated: true as const,
    ...judge(uids, rows, []),
    jobs: runnable.length,
    seconds: Math.round(simulation.now * 10) / 10,
    waitP50: waits[Math.floor(waits.length / 2)] ?? 0,
    waitMax: waits.at(-1) ?? 0,
    impossible: last?.message ?? 'no message',
  };
  print(
    `SIMULATION: ${result.finished} of ${result.jobs} finished after ${result.seconds} simulated seconds; unsatisfiable: ${result.impossible}`,
  );
  return result;
}

interface Simulated {
  row: WorkloadRow;
  /** Seconds for which the pods run. */
  readonly runs: number;
}

class Simulation {
  now = 0;
  private readonly fluxion: Fluxion = embeddedFluxion();
  private readonly graph: readonly GraphNode[];
  private readonly all: Simulated[];
  private reservations: readonly Reservation[] = [];

  constructor(
    nodes: number,
    manifests: readonly Manifest[],
    private readonly print: (line: string) => void,
  ) {
    this.graph = Array.from({ length: nodes }, (_, i) => ({
      name: `node-${i}`,
      units: { core: CORES, memory: 64 },
    }));
    this.all = manifests.map((manifest, i) => simulated(manifest, i));
  }

  /** Runs from event to event: submissions, ends, starts of reservations. */
  async run(): Promise<readonly WorkloadRow[]> {
    await this.fluxion.init({ nodes: this.graph, policy: 'lonode', now: 0 });
    for (let next: number | undefined = 0; next !== undefined; next = this.nextEvent()) {
      this.now = next;
      await this.end();
      await this.pass();
    }
    return this.all.map(({ row }) => row);
  }

  private async end(): Promise<void> {
    for (const entry of this.all) {
      if (entry.row.phase !== 'Running' || this.endOf(entry) > this.now) continue;
      await this.fluxion.cancel(entry.row.jobid);
      entry.row = { ...entry.row, phase: 'Finished', result: 'Succeeded', finishedAt: this.now };
    }
  }

  private async pass(): Promise<void> {
    const rows = this.all.map(({ row }) => row).filter(({ submittedAt }) => submittedAt <= this.now);
    const result = await runPass({
      now: Math.floor(this.now),
      queues: [{ settings: QUEUE, rows }],
      matcher: this.fluxion,
      nodes: this.graph,
      reservations: this.reservations,
    });
    this.reservations = result.reservations;
    const byUid = new Map(this.all.map((entry) => [entry.row.uid, entry]));
    for (const { uid, allocation } of result.grants) {
      const entry = byUid.get(uid)!;
      const at = this.now;
      entry.row = {
        ...entry.row,
        phase: 'Running',
        allocation,
        allocatedAt: at,
        releasedAt: at,
        startedAt: at,
      };
      this.print(
        `${at.toFixed(1).padStart(7)} s  ${entry.row.name} starts on ${allocation.nodes.length} node(s)`,
      );
    }
    for (const { uid, ...wait } of result.waits) {
      const entry = byUid.get(uid)!;
      entry.row = { ...entry.row, ...wait };
    }
  }

  private endOf({ row, runs }: Simulated): number {
    return row.startedAt! + runs;
  }

  private nextEvent(): number | undefined {
    const times = this.all.flatMap((entry) => {
      const { phase, submittedAt, estimatedStart } = entry.row;
      if (phase === 'Running') return [this.endOf(entry)];
      return phase === 'Waiting' ? [submittedAt, estimatedStart ?? 0] : [];
    });
    const later = times.filter((time) => time > this.now);
    return later.length === 0 ? undefined : Math.min(...later);
  }
}

function simulated(manifest: Manifest, index: number): Simulated {
  const object = {
    ...manifest,
    metadata: { ...manifest.metadata, uid: `uid-${index}` },
  } as unknown as KubernetesObject;
  const adapter = adapters.get(manifest.kind)!;
  const { spec, pods } = adapter.demand(object);
  const settings = workloadSettings(object.metadata);
  const walltime = settings.walltimeSeconds ?? DEFAULT_WALLTIME;
  const jobspec = jobspecOf({ pod: spec, pods, walltime });
  const submission = {
    uid: object.metadata.uid,
    kind: manifest.kind,
    namespace: 'science',
    name: manifest.metadata.name,
    queue: 'default',
    priority: settings.priority ?? 0,
    submittedAt: index * SUBMIT_EVERY,
    walltime,
    pods,
    jobspec,
    shape: shapeOf(jobspec),
    held: false,
    user: 'demo',
    after: [],
    preemptible: false,
  };
  return { row: newRow(submission, index + 1), runs: secondsOf(object) };
}

/** The run time in the annotation that the nodes of the demo read. */
function secondsOf(object: KubernetesObject): number {
  const template = (object as Job).spec.template?.metadata ?? (object as Pod).metadata;
  return Number.parseFloat(template.annotations?.[DURATION] ?? '1');
}
