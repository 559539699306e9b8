/** The demo on the simulated cluster: at once as text, or in real time as pictures. */
import { setTimeout as pause } from 'node:timers/promises';
import { judge } from '../../test/stack/verify';
import type { DemoOptions } from './options';
import { plansOf } from './plans';
import { REFRESH_MS, type RunResult } from './run';
import type { Screen } from './screen';
import { CORES, graphOf, Simulation } from './simulation';
import { Snapshots } from './snapshot';
import { Story } from './story';
import { demoWorkloads, inSubmissionOrder, type Manifest } from './workloads';

type Size = Pick<DemoOptions, 'nodes' | 'jobs'>;
type SimulatedResult = RunResult & { readonly simulated: true };

const NAMESPACE = 'demo';

/** Runs all of it at once on a simulated clock. */
export async function simulate(size: Size, screen: Screen): Promise<SimulatedResult> {
  screen.print(headingOf(size));
  const simulation = new Simulation({
    nodes: size.nodes,
    manifests: manifestsOf(size),
    start: 0,
    onStart: ({ name, allocation }, at) =>
      screen.print(`${at.toFixed(1).padStart(7)} s  ${name} starts on ${allocation!.nodes.length} node(s)`),
  });
  await simulation.run();
  return summarized(simulation, 0, screen);
}

/** Shows it as pictures, as long as the real one takes. */
export async function simulateLive(
  size: Size,
  screen: Screen,
  signal: AbortSignal,
): Promise<SimulatedResult> {
  const start = Math.floor(Date.now() / 1000);
  const simulation = new Simulation({ nodes: size.nodes, manifests: manifestsOf(size), start });
  await showInRealTime(simulation, size, { screen, heading: () => [headingOf(size)], signal });
  signal.throwIfAborted();
  return summarized(simulation, start, screen);
}

export interface LiveOptions {
  readonly screen: Screen;
  /** Lines above each picture. */
  readonly heading: () => readonly string[];
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Shows the demo in real time, again and again until the signal. */
export async function repeatLive(size: Size, options: LiveOptions): Promise<void> {
  while (!options.signal.aborted) {
    const start = Math.floor(Date.now() / 1000);
    const simulation = new Simulation({ nodes: size.nodes, manifests: manifestsOf(size), start });
    await showInRealTime(simulation, size, options);
  }
}

/** Ends with the last event of the simulation. */
async function showInRealTime(
  simulation: Simulation,
  { nodes }: Size,
  { screen, heading, signal }: LiveOptions,
): Promise<void> {
  const graph = graphOf(nodes);
  const snapshots = new Snapshots(graph.map(({ name }) => ({ name, cores: CORES })));
  const story = new Story();
  const show = async () => {
    const { rows } = simulation;
    screen.show(
      snapshots.of(rows, Date.now() / 1000, story.of(rows), await plansOf(rows, graph, simulation.now)),
      heading(),
    );
  };
  await simulation.run(async (time) => {
    for (let left = millisecondsTo(time); left > 0 && !signal.aborted; left = millisecondsTo(time)) {
      await show();
      await pauseUnlessAborted(Math.min(left, REFRESH_MS), signal);
    }
    return signal.aborted;
  });
  if (!signal.aborted) await show();
}

function millisecondsTo(time: number): number {
  return Math.ceil(time * 1000 - Date.now());
}

async function pauseUnlessAborted(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function manifestsOf({ nodes, jobs }: Size): readonly Manifest[] {
  return inSubmissionOrder(demoWorkloads(NAMESPACE, { nodes, coresPerNode: CORES }, jobs));
}

function headingOf({ nodes }: Size): string {
  return `SIMULATION: the scheduler alone on ${nodes} simulated nodes and a simulated clock; no Kubernetes, no Postgres.`;
}

function summarized({ rows, now }: Simulation, start: number, screen: Screen): SimulatedResult {
  const uids = rows.map(({ uid }) => uid);
  const waits = rows
    .flatMap(({ allocatedAt, submittedAt }) => (allocatedAt === null ? [] : [allocatedAt - submittedAt]))
    .sort((a, b) => a - b);
  const result = {
    simulated: true as const,
    ...judge(uids, rows, []),
    jobs: rows.length - 1,
    seconds: Math.round((now - start) * 10) / 10,
    waitP50: waits[Math.floor(waits.length / 2)] ?? 0,
    waitMax: waits.at(-1) ?? 0,
    impossible: rows.find(({ reason }) => reason === 'Unsatisfiable')?.message ?? 'no message',
  };
  screen.print(
    `SIMULATION: ${result.finished} of ${result.jobs} finished after ${result.seconds} simulated seconds; unsatisfiable: ${result.impossible}`,
  );
  return result;
}
