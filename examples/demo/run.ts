/** Submits the workloads to a running stack, shows them until they have finished, and checks the result. */
import { setTimeout as pause } from 'node:timers/promises';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { pods } from '../../runtime/kubernetes/paths';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { historiesOf, judge, type Verdict } from '../../test/stack/verify';
import { Applier } from './apply';
import type { Screen } from './screen';
import { type Plans, type ShownNode, Snapshots } from './snapshot';
import { Story } from './story';
import { type DemoWorkloads, inSubmissionOrder } from './workloads';

export interface RunOptions {
  readonly client: KubernetesClient;
  readonly queue: Queue;
  readonly namespace: string;
  readonly workloads: DemoWorkloads;
  readonly nodes: readonly ShownNode[];
  /** Planned starts at this time. */
  readonly plans: (rows: readonly WorkloadRow[], now: number) => Promise<Plans>;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

export interface RunResult extends Verdict {
  /** Seconds from the first submission to the end of the last workload. */
  readonly seconds: number;
  readonly waitP50: number;
  readonly waitMax: number;
  /** The wait message of the unsatisfiable workload. */
  readonly impossible: string;
}

/** Milliseconds between two pictures. */
export const REFRESH_MS = 500;
/** Without a finished workload for this time, the remaining ones are lost. */
const STUCK_MS = 60_000;
/** FluxJobs are not waited for longer than this. */
const SHOWN_MS = 30_000;

export async function runDemo(options: RunOptions): Promise<RunResult> {
  const { workloads } = options;
  const started = performance.now();
  const uids: string[] = [];
  const total = workloads.runnable.length + 1;
  const [rows] = await Promise.all([untilFinished(options, uids, total), submit(options, uids)]);
  const seconds = (performance.now() - started) / 1000;
  const { items } = await options.client.list<Pod>(pods(options.namespace));
  const verdict = judge(uids, rows, items, await historiesOf(options.queue, uids));
  const waits = rows
    .flatMap(({ releasedAt, submittedAt }) =>
      releasedAt === null ? [] : [Math.max(0, releasedAt - submittedAt)],
    )
    .sort((a, b) => a - b);
  return {
    ...verdict,
    jobs: workloads.runnable.length,
    seconds: round(seconds),
    waitP50: round(waits[Math.floor(waits.length / 2)] ?? 0),
    waitMax: round(waits.at(-1) ?? 0),
    impossible: rows.find(({ name }) => name === workloads.impossible.metadata.name)?.message ?? 'no message',
  };
}

/** @param uids gets those of what is submitted, in the order of submission */
async function submit({ client, workloads, signal }: RunOptions, uids: string[]): Promise<void> {
  const applier = new Applier(client);
  for (const manifest of inSubmissionOrder(workloads)) {
    signal.throwIfAborted();
    uids.push((await applier.create<KubernetesObject>(manifest)).metadata.uid);
  }
}

/** Shows what the queue knows until all of it has finished, also while it is submitted. */
async function untilFinished(options: RunOptions, uids: readonly string[], total: number) {
  const { queue, screen, signal } = options;
  const snapshots = new Snapshots(options.nodes);
  const story = new Story();
  let progressAt = performance.now();
  let seenFinished = -1;
  for (;;) {
    signal.throwIfAborted();
    const rows = await queue.byUid(uids);
    const now = Date.now() / 1000;
    if (rows.length > 0) screen.show(snapshots.of(rows, now, story.of(rows), await options.plans(rows, now)));
    const finished = rows.filter(({ phase }) => phase === 'Finished').length;
    if (rows.length === total && rows.every(isFinished)) return rows;
    if (finished > seenFinished) progressAt = performance.now();
    seenFinished = finished;
    if (performance.now() - progressAt > STUCK_MS) return rows;
    await pause(REFRESH_MS, undefined, { signal });
  }
}

/** Resolves when the FluxJobs say what the queue knows: they are written some seconds later. */
export async function untilShown(
  { client, namespace, signal }: Pick<RunOptions, 'client' | 'namespace' | 'signal'>,
  finished: number,
): Promise<void> {
  const deadline = performance.now() + SHOWN_MS;
  while (performance.now() < deadline) {
    const { items } = await client.list<FluxJobObject>(fluxJobs(namespace));
    if (items.filter(({ status }) => status?.phase === 'Finished').length >= finished) return;
    await pause(REFRESH_MS, undefined, { signal });
  }
}

function isFinished({ phase, reason }: WorkloadRow): boolean {
  return phase === 'Finished' || reason === 'Unsatisfiable';
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function summarize(result: RunResult, print: (line: string) => void): void {
  print('');
  print(
    `${result.finished} of ${result.jobs} finished in ${result.seconds} s; waited ${result.waitP50} s (median), ${result.waitMax} s at most`,
  );
  print(`unsatisfiable: ${result.impossible}`);
  print(`misplaced ${result.misplaced}, lost ${result.lost}, granted twice ${result.doubleGranted}`);
}
