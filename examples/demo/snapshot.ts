/**
 * What the pictures show, at one moment. It is made of the rows of the queue and not of FluxJobs: those are written up to
 * seconds later, each at another time, so two of them may have the same position.
 */

import { parseConfig } from '../../runtime/config';
import { stackQueue } from '../../runtime/fluxsetups/queue-settings';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import type { AllocatedNode } from '../../runtime/resources/types';
import { inOrder, type Precedence } from '../../runtime/scheduler/pass/order';
import { Letters } from './letters';

/** The queue that the stack brings with its defaults. */
export const QUEUE = stackQueue(parseConfig({}).queue);

export interface ShownNode {
  readonly name: string;
  readonly cores: number;
}

/** When a workload started, starts at the latest (promised: nodes are reserved), or may start (planned). Unix seconds. */
interface Start {
  readonly at: number;
  readonly kind: 'started' | 'promised' | 'planned';
}

export interface ShownJob {
  readonly name: string;
  /** Of each workload that has nodes or a promise; no two have the same. */
  readonly letter?: string | undefined;
  readonly phase: Phase;
  /** 1 is next; only while it waits. */
  readonly position?: number;
  readonly nodes: readonly AllocatedNode[];
  readonly start?: Start | undefined;
  /** When its walltime ends, if it has a start; when it ended, if it has. Unix seconds. */
  readonly end?: number | undefined;
  /** Why it waits, or what became of it. */
  readonly why: string;
}

export interface Snapshot {
  /** Unix seconds. */
  readonly now: number;
  readonly nodes: readonly ShownNode[];
  /** What waits in the order of the queue, then what has nodes, then what has ended, newest first. */
  readonly jobs: readonly ShownJob[];
  /** What is worth telling, in sentences. */
  readonly story: readonly string[];
}

/** uid -> planned start in Unix seconds. */
export type Plans = ReadonlyMap<string, number>;

/** The order of the queue at this time. */
export function precedenceAt(now: number): Precedence {
  return { now, settingsOf: () => QUEUE };
}

/** Makes one snapshot after the other, and remembers which letter a workload has. */
export class Snapshots {
  private readonly letters = new Letters();

  constructor(private readonly nodes: readonly ShownNode[]) {}

  of(rows: readonly WorkloadRow[], now: number, story: readonly string[] = [], plans?: Plans): Snapshot {
    const waiting = inOrder(
      rows.filter(({ phase }) => phase === 'Waiting'),
      precedenceAt(now),
    );
    const held = inOrder(rows.filter(({ phase }) => phase === 'Ready' || phase === 'Running'));
    const ended = rows
      .filter(({ phase }) => phase === 'Finished')
      .sort((a, b) => (b.finishedAt ?? 0) - (a.finishedAt ?? 0));
    const letters = this.letters.assign(
      [...held, ...waiting.filter(({ estimatedStart }) => estimatedStart !== null)].map(({ uid }) => uid),
    );
    const shown = (row: WorkloadRow, position?: number): ShownJob => ({
      ...shownJob(row, plans?.get(row.uid)),
      letter: letters.get(row.uid),
      ...(position === undefined ? {} : { position }),
    });
    return {
      now,
      nodes: this.nodes,
      story,
      jobs: [
        ...waiting.map((row, i) => shown(row, i + 1)),
        ...held.map((row) => shown(row)),
        ...ended.map((row) => shown(row)),
      ],
    };
  }
}

function shownJob(row: WorkloadRow, planned: number | undefined): ShownJob {
  const start = startOf(row, planned);
  const end =
    row.finishedAt ?? row.allocation?.end ?? (start === undefined ? undefined : start.at + row.walltime);
  const nodes = row.phase === 'Finished' ? [] : (row.allocation?.nodes ?? []);
  return { name: row.name, phase: row.phase, nodes, start, end, why: whyOf(row) };
}

function startOf(row: WorkloadRow, planned: number | undefined): Start | undefined {
  if (row.startedAt !== null) return { at: row.startedAt, kind: 'started' };
  if (row.phase !== 'Waiting') return undefined;
  if (row.estimatedStart !== null) return { at: row.estimatedStart, kind: 'promised' };
  return planned === undefined ? undefined : { at: planned, kind: 'planned' };
}

function whyOf(row: WorkloadRow): string {
  switch (row.phase) {
    case 'Waiting':
      return row.message ?? 'waits for the next scheduling pass';
    case 'Ready':
      return 'nodes are granted, its pods start';
    case 'Running':
      return '';
    case 'Finished':
      return row.result?.toLowerCase() ?? '';
  }
}
