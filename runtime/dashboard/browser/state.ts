/** What the browser knows: the state of the server's view, and what its person has chosen to see. */
import { compareListed, compareTexts, holdsNodes, isActive } from '../../queue-order';
import type { Changes, JobView, NodeView, Trouble } from '../messages';

export interface State {
  readonly jobs: ReadonlyMap<string, JobView>;
  readonly nodes: ReadonlyMap<string, NodeView>;
  readonly nodesUnknown: string | undefined;
  /** @default - all namespaces */
  readonly namespace: string | undefined;
  /** A sentence: the server refuses to tell more for now. A trouble: it hears nothing itself. */
  readonly connection: 'connecting' | 'live' | 'lost' | { readonly refused: string } | Trouble;
}

export const EMPTY: State = {
  jobs: new Map(),
  nodes: new Map(),
  nodesUnknown: undefined,
  namespace: undefined,
  connection: 'connecting',
};

/** @param all whether the message has all there is, instead of what has changed */
export function changed(before: State, changes: Changes, all: boolean): State {
  const jobs = new Map(all ? [] : before.jobs);
  const nodes = new Map(all ? [] : before.nodes);
  for (const job of changes.jobs) jobs.set(job.key, job);
  for (const key of changes.goneJobs) jobs.delete(key);
  for (const node of changes.nodes) nodes.set(node.name, node);
  for (const name of changes.goneNodes) nodes.delete(name);
  return {
    jobs,
    nodes,
    nodesUnknown: all ? changes.nodesUnknown : before.nodesUnknown,
    namespace: all ? changes.namespace : before.namespace,
    connection: changes.trouble ?? 'live',
  };
}

export interface Filter {
  /** Words that the name, namespace, reason or nodes of a job have. */
  readonly text: string;
  /** Empty: of all queues. */
  readonly queue: string;
  readonly phase: 'active' | 'Waiting' | 'Running' | 'Finished' | 'all';
}

export const NO_FILTER: Filter = { text: '', queue: '', phase: 'active' };

/** The jobs that the filter lets through, in the order of lists for people. */
export function shownJobs(jobs: Iterable<JobView>, filter: Filter): JobView[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = [...jobs].filter((job) => isShown(job, filter, words));
  return shown.sort((a, b) => compareListed(a, b) || compareTexts(a.key, b.key));
}

function isShown(job: JobView, { queue, phase }: Filter, words: readonly string[]): boolean {
  if (queue !== '' && job.queue !== queue) return false;
  if (phase === 'active' ? !isActive(job) : phase !== 'all' && phaseOf(job) !== phase) return false;
  if (words.length === 0) return true;
  const text = `${job.name} ${job.namespace} ${job.queue} ${job.reason} ${job.nodes ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function phaseOf({ phase }: JobView): string {
  return phase === 'Ready' ? 'Running' : phase;
}

export interface Usage {
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly nodes: number;
  readonly cores: number;
}

/** What the jobs of each group hold and wait for, most cores first. */
export function usageBy(jobs: Iterable<JobView>, groupOf: (job: JobView) => string): Usage[] {
  const groups = new Map<string, { running: number; waiting: number; nodes: Set<string>; cores: number }>();
  for (const job of jobs) {
    if (!isActive(job)) continue;
    const name = groupOf(job);
    const group = groups.get(name) ?? { running: 0, waiting: 0, nodes: new Set<string>(), cores: 0 };
    groups.set(name, group);
    if (holdsNodes(job)) group.running += 1;
    else group.waiting += 1;
    for (const { node, cores = 0 } of job.shares) {
      group.nodes.add(node);
      group.cores = Math.round((group.cores + cores) * 10) / 10;
    }
  }
  return [...groups]
    .map(([name, { nodes, ...rest }]) => ({ name, ...rest, nodes: nodes.size }))
    .sort((a, b) => b.cores - a.cores || compareTexts(a.name, b.name));
}

/** What one job holds of a node. */
export interface Part {
  readonly job: JobView;
  /** Undefined if it is not known. */
  readonly cores: number | undefined;
  /** Whether the whole node is allocated. */
  readonly whole: boolean;
}

export interface Tile {
  readonly node: NodeView;
  readonly parts: readonly Part[];
}

/** Each node with what the jobs hold of it, in the order of names as people count. */
export function tilesOf({ jobs, nodes }: State): Tile[] {
  const parts = new Map<string, Part[]>();
  for (const job of jobs.values())
    for (const { node, cores, exclusive = false } of job.shares) {
      const list = parts.get(node) ?? [];
      parts.set(node, list);
      list.push({ job, cores, whole: exclusive });
    }
  const all = new Map(nodes);
  for (const [name, list] of parts)
    if (!all.has(name))
      all.set(name, {
        name,
        cores: list.reduce((sum, { cores = 0 }) => sum + cores, 0),
        gpus: 0,
        state: 'up',
      });
  return [...all.values()]
    .sort((a, b) => NAMES.compare(a.name, b.name))
    .map((node) => ({ node, parts: parts.get(node.name) ?? [] }));
}

const NAMES = new Intl.Collator('en', { numeric: true });

export interface Bar {
  readonly job: JobView;
  readonly kind: 'running' | 'reserved' | 'planned';
  /** Milliseconds. */
  readonly from: number;
  readonly until: number;
  /** Whether the end is not known, because it has no walltime. */
  readonly open: boolean;
}

/** Milliseconds that a bar without a walltime takes. */
const OPEN_MS = 3_600_000;

/** What runs and what has a time to start, earliest first. */
export function barsOf(jobs: Iterable<JobView>, now: number): Bar[] {
  return [...jobs]
    .flatMap((job) => barOf(job, now) ?? [])
    .sort((a, b) => a.from - b.from || compareTexts(a.job.key, b.job.key));
}

function barOf(job: JobView, now: number): Bar | undefined {
  const { started, reserved, planned, walltimeSeconds, ends } = job;
  const [kind, start] = holdsNodes(job)
    ? (['running', started ?? new Date(now).toISOString()] as const)
    : reserved !== undefined
      ? (['reserved', reserved] as const)
      : (['planned', planned] as const);
  if (start === undefined || !isActive(job)) return undefined;
  const from = Date.parse(start);
  const open = walltimeSeconds === undefined;
  const until = ends === undefined ? from + (open ? OPEN_MS : walltimeSeconds * 1000) : Date.parse(ends);
  // What is late still runs.
  return { job, kind, from, until: kind === 'running' ? Math.max(until, now) : until, open };
}
