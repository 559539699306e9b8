/** One limit over time: of a queue's quota, of its cohort, or of the workloads that a queue or one of its users runs. */
import { gpuName } from '../../jobspec/explain';
import type { Quota } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { Planner } from '../../resources/planner';
import { NodeTimeline } from './node-timeline';
import type { Span } from './placed-pods';
import { DIMENSIONS, formatAmount, type LeastUsage, limitsOf, type Usage } from './usage';

export interface Account {
  readonly planner: Planner;
  readonly limits: Usage;
  /** Undefined: the number of nodes is not limited. */
  readonly nodes: NodeTimeline | undefined;
  readonly maxNodes: number;
  /** For messages: `its queue's quota`; of a limit the whole message. */
  readonly title: string;
  readonly kind: 'quota' | 'limit of queue' | 'limit of user';
  /** The part of the limits that is the queue's own. @default - all */
  readonly nominal?: Quota | undefined;
}

/** What is charged to accounts. Spans that run already start at -Infinity. */
export interface Charge extends Span {
  readonly counts: Usage;
  readonly nodes: readonly string[];
}

const ALL_DIMENSIONS = Int32Array.from(DIMENSIONS.keys());

export function quotaAccount(quota: Quota, title: string, now: number, nominal?: Quota): Account {
  const maxNodes = quota.nodes ?? Infinity;
  return {
    planner: new Planner(DIMENSIONS.length),
    limits: limitsOf(quota),
    nodes: maxNodes === Infinity ? undefined : new NodeTimeline(maxNodes, now),
    maxNodes,
    title,
    kind: 'quota',
    nominal,
  };
}

/** Limits how many workloads run at a time. */
export function runningAccount(running: number, scope: 'queue' | 'user'): Account {
  return {
    planner: new Planner(DIMENSIONS.length),
    limits: limitsOf({ jobs: running }),
    nodes: undefined,
    maxNodes: Infinity,
    title: `at most ${running} workloads of its ${scope} run at a time`,
    kind: `limit of ${scope}`,
  };
}

export function charge({ planner, nodes: timeline }: Account, one: Charge, now: number): void {
  const { start, end, counts, nodes } = one;
  if (end > now) planner.add(start, end, counts);
  else planner.addOver(counts);
  timeline?.add(nodes, one);
}

export function discharge({ planner, nodes: timeline }: Account, one: Charge, now: number): void {
  const { start, end, counts, nodes } = one;
  if (end > now) planner.remove(start, end, counts);
  else planner.removeOver(counts);
  timeline?.remove(nodes, one);
}

export function hasRoom({ planner, limits }: Account, amounts: Usage, span: Span, now: number): boolean {
  return planner.fits({ dimensions: ALL_DIMENSIONS, amounts }, limits, span.start, span.end, now);
}

/** The time before which no window of this length has room; -Infinity if the span has. */
export function blockedUntil({ planner, limits }: Account, amounts: Usage, span: Span, now: number): number {
  return planner.blockedUntil({ dimensions: ALL_DIMENSIONS, amounts }, limits, span.start, span.end, now);
}

/** Why the row exceeds the limit even if nothing else runs; undefined if it may fit. */
export function neverFits(account: Account, row: WorkloadRow, least: LeastUsage): string | undefined {
  const { limits, title, maxNodes } = account;
  const { amounts, nodes } = least;
  const dimension = amounts.findIndex((amount, i) => amount > limits[i]!);
  if (dimension >= 0) {
    const gpu = gpuName(row.jobspec);
    const asked = `asks for ${askedFor(row, formatAmount(dimension, amounts[dimension]!, gpu), least)}`;
    return `${asked}, more than ${title} of ${limitText(account, dimension)}`;
  }
  if (nodes <= maxNodes) return undefined;
  return `needs at least ${nodes} nodes, more than ${title} of ${nodesText(account)}`;
}

function askedFor({ jobspec }: WorkloadRow, amount: string, { nodes }: LeastUsage): string {
  if (jobspec.resources[0]?.type !== 'node') return amount;
  return `${nodes} whole ${nodes === 1 ? 'node' : 'nodes'}, which ${nodes === 1 ? 'holds' : 'hold'} at least ${amount}`;
}

/** Why these amounts do not fit in this span. */
export function inUse(account: Account, row: WorkloadRow, amounts: Usage, now: number): string {
  const { planner, limits, title } = account;
  if (account.kind !== 'quota') return title;
  const dimension = amounts.findIndex((amount, i) => planner.usedAt(i, now, now) + amount > limits[i]!);
  if (dimension < 0) return `${title} is kept for an earlier workload`;
  const needed = formatAmount(dimension, amounts[dimension]!, gpuName(row.jobspec));
  return `needs ${needed}; ${title} of ${limitText(account, dimension)} is in use`;
}

export function nodesInUse(account: Account): string {
  return `needs more nodes; ${account.title} of ${nodesText(account)} is in use`;
}

/** In the numbers of the queue's settings: `8 cores and 4 cores of borrowing`. */
function limitText({ limits, nominal }: Account, dimension: number): string {
  const limit = limits[dimension]!;
  const own = nominal === undefined ? limit : limitsOf(nominal)[dimension]!;
  if (own >= limit) return formatAmount(dimension, limit);
  return `${formatAmount(dimension, own)} and ${formatAmount(dimension, limit - own)} of borrowing`;
}

function nodesText({ maxNodes, nominal }: Account): string {
  const own = nominal?.nodes ?? maxNodes;
  return own >= maxNodes ? counted(maxNodes) : `${counted(own)} and ${counted(maxNodes - own)} of borrowing`;
}

function counted(nodes: number): string {
  return `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
}
