/**
 * The demo without a control plane: real jobspecs, matcher and scheduling passes on a simulated clock and cluster, without
 * Kubernetes and Postgres. Its steps come one after the other at once, or each at its time.
 */
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { newRow } from '../../runtime/queue/rows';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { GraphNode } from '../../runtime/resources/types';
import { runPass } from '../../runtime/scheduler/pass/pass';
import type { Reservation } from '../../runtime/scheduler/pass/reservations';
import { adapters } from '../../runtime/workloads/index';
import { workloadSettings } from '../../runtime/workloads/settings';
import { QUEUE } from './snapshot';
import { DURATION, type Manifest } from './workloads';

/** Cores of each simulated node. */
export const CORES = 16;
/** Simulated seconds between two submissions. */
const SUBMIT_EVERY = 0.02;
const DEFAULT_WALLTIME = 3600;

interface Simulated {
  row: WorkloadRow;
  /** Seconds for which the pods run. */
  readonly runs: number;
}

export interface SimulationOptions {
  readonly nodes: number;
  /** In the order of submission. */
  readonly manifests: readonly Manifest[];
  /** Unix seconds of the first submission. */
  readonly start: number;
  /** Told of each start. @default - nobody */
  readonly onStart?: (row: WorkloadRow, at: number) => void;
}

export class Simulation {
  /** Unix seconds. */
  now: number;
  private readonly fluxion: Fluxion = embeddedFluxion();
  private readonly graph: readonly GraphNode[];
  private readonly all: Simulated[];
  private reservations: readonly Reservation[] = [];

  constructor(private readonly options: SimulationOptions) {
    const { nodes, manifests, start } = options;
    this.now = start;
    this.graph = graphOf(nodes);
    this.all = manifests.map((manifest, i) => simulated(manifest, i, start));
  }

  /** What is submitted so far. */
  get rows(): readonly WorkloadRow[] {
    return this.all.map(({ row }) => row).filter(({ submittedAt }) => submittedAt <= this.now);
  }

  /**
   * Runs from event to event: submissions, ends, starts of reservations.
   * @param until resolves at this time; true ends the run. @default - all times are now
   */
  async run(until: (time: number) => Promise<boolean> = async () => false): Promise<readonly WorkloadRow[]> {
    await this.fluxion.init({ nodes: this.graph, policy: 'lonode', now: this.options.start });
    for (let next: number | undefined = this.now; next !== undefined; next = this.nextEvent()) {
      if (await until(next)) break;
      this.now = next;
      await this.end();
      await this.pass();
    }
    await this.fluxion.close();
    return this.rows;
  }

  private async end(): Promise<void> {
    for (const entry of this.all) {
      if (entry.row.phase !== 'Running' || this.endOf(entry) > this.now) continue;
      await this.fluxion.cancel(entry.row.jobid);
      entry.row = { ...entry.row, phase: 'Finished', result: 'Succeeded', finishedAt: this.now };
    }
  }

  private async pass(): Promise<void> {
    const { rows } = this;
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
      this.options.onStart?.(entry.row, at);
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

/** The nodes of the simulation, and those of the local control plane. */
export function graphOf(nodes: number): readonly GraphNode[] {
  return Array.from({ length: nodes }, (_, i) => ({ name: `node-${i}`, units: { core: CORES, memory: 64 } }));
}

function simulated(manifest: Manifest, index: number, start: number): Simulated {
  const object = {
    ...manifest,
    metadata: { ...manifest.metadata, uid: `uid-${index}` },
  } as unknown as KubernetesObject;
  const adapter = adapters.get(manifest.kind)!;
  const [{ spec, count: pods }] = adapter.demand(object).podSets;
  const settings = workloadSettings(object.metadata);
  const walltime = settings.walltimeSeconds ?? DEFAULT_WALLTIME;
  const jobspec = jobspecOf({ pod: spec, pods, walltime });
  const submission = {
    uid: object.metadata.uid,
    kind: manifest.kind,
    namespace: manifest.metadata.namespace ?? 'default',
    name: manifest.metadata.name,
    queue: 'default',
    priority: settings.priority ?? 0,
    submittedAt: start + index * SUBMIT_EVERY,
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
