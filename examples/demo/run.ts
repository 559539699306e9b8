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
import type { LiveTable } from './table';
import type { DemoWorkloads } from './workloads';

export interface RunOptions {
  readonly client: KubernetesClient;
  readonly queue: Queue;
  readonly namespace: string;
  readonly workloads: DemoWorkloads;
  readonly table: LiveTable;
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

const REFRESH_MS = 500;
/** Without a finished workload for this time, the remaining ones are lost. */
const STUCK_MS = 60_000;

export async function runDemo(options: RunOptions): Promise<RunResult> {
  const started = performance.now();
  const uids = await submit(options);
  const runnable = uids.slice(0, -1);
  const rows = await untilFinished(options, uids);
  const seconds = (performance.now() - started) / 1000;
  const { items } = await options.client.list<Pod>(pods(options.namespace));
  const verdict = judge(uids, rows, items, await historiesOf(options.queue, uids));
  const waits = rows
    .filter(({ uid, releasedAt }) => runnable.includes(uid) && releasedAt !== null)
    .map(({ releasedAt, submittedAt }) => Math.max(0, releasedAt! - submittedAt))
    .sort((a, b) => a - b);
  return {
    ...verdict,
    jobs: runnable.length,
    seconds: round(seconds),
    waitP50: round(waits[Math.floor(waits.length / 2)] ?? 0),
    waitMax: round(waits.at(-1) ?? 0),
    impossible: rows.find(({ uid }) => uid === uids.at(-1))?.message ?? 'no message',
  };
}

/** Submits the unsatisfiable workload in the middle. @returns all uids, with that of the unsatisfiable one last */
async function submit({ client, workloads, signal }: RunOptions): Promise<string[]> {
  const applier = new Applier(client);
  const create = async (manifest: (typeof workloads.runnable)[number]) => {
    signal.throwIfAborted();
    return (await applier.create<KubernetesObject>(manifest)).metadata.uid;
  };
  const half = Math.ceil(workloads.runnable.length / 2);
  const uids: string[] = [];
  for (const manifest of workloads.runnable.slice(0, half)) uids.push(await create(manifest));
  const impossible = await create(workloads.impossible);
  for (const manifest of workloads.runnable.slice(half)) uids.push(await create(manifest));
  return [...uids, impossible];
}

async function untilFinished(options: RunOptions, uids: readonly string[]): Promise<readonly WorkloadRow[]> {
  const { client, queue, namespace, table, signal } = options;
  let progressAt = performance.now();
  let seenFinished = -1;
  for (;;) {
    signal.throwIfAborted();
    const rows = await queue.byUid(uids);
    table.show((await client.list<FluxJobObject>(fluxJobs(namespace))).items);
    const finished = rows.filter(({ phase }) => phase === 'Finished').length;
    if (rows.length === uids.length && rows.every(isFinished)) return rows;
    if (finished > seenFinished) progressAt = performance.now();
    seenFinished = finished;
    if (performance.now() - progressAt > STUCK_MS) return rows;
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
