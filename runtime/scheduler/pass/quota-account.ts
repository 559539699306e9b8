/** One limit over time: of a queue's quota, of its cohort, or of the workloads that a queue or one of its users runs. */
import { gpuName } from '../../jobspec/explain';
import type { Quota } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { Planner } from '../../resources/planner';
import { NodeTimeline } from './node-timeline';
import type { Span } from './placed-pods';
import { DIMENSIONS, formatAmount, type LeastUsage, limitsOf, namesOf, type Usage } from './usage';

export interface Account {
  readonly planner: Planner;
  /** The sum of all charges, whenever they are. */
  readonly charged: Usage;
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

/** What an account lacks for a start. */
export interface Lack {
  readonly account: Account;
  readonly short: Usage;
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
    charged: new Float64Array(DIMENSIONS.length),
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
    charged: new Float64Array(DIMENSIONS.length),
    limits: limitsOf({ jobs: running }),
    nodes: undefined,
    maxNodes: Infinity,
    title: `at most ${running} ${running === 1 ? 'workload' : 'workloads'} of its ${scope} ${running === 1 ? 'runs' : 'run'} at a time`,
    kind: `limit of ${scope}`,
  };
}

export function charge({ planner, charged, nodes: timeline }: Account, one: Charge, now: number): void {
  const { start, end, counts, nodes } = one;
  if (end > now) planner.add(start, end, counts);
  else planner.addOver(counts);
  for (let i = 0; i < counts.length; i++) charged[i]! += counts[i]!;
  timeline?.add(nodes, one);
}

export function discharge({ planner, charged, nodes: timeline }: Account, one: Charge, now: number): void {
  const { start, end, counts, nodes } = one;
  if (end > now) planner.remove(start, end, counts);
  else planner.removeOver(counts);
  for (let i = 0; i < counts.length; i++) charged[i]! -= counts[i]!;
  timeline?.remove(nodes, one);
}

export function hasRoom(
  { planner, charged, limits }: Account,
  amounts: Usage,
  span: Span,
  now: number,
): boolean {
  // Nothing has to be looked up in a quota that is not used up by everything together.
  if (fitsBeside(charged, amounts, limits)) return true;
  return planner.fits({ dimensions: ALL_DIMENSIONS, amounts }, limits, span.start, span.end, now);
}

/** The time before which no window of this length has room; -Infinity if the span has. */
function blockedUntil({ planner, limits }: Account, amounts: Usage, span: Span, now: number): number {
  return planner.blockedUntil({ dimensions: ALL_DIMENSIONS, amounts }, limits, span.start, span.end, now);
}

/** The first time from `from` on at which all of them have room for the span that begins then; Infinity: none is known. */
export function roomFrom(
  accounts: readonly Account[],
  amounts: Usage,
  spanOf: (at: number) => Span,
  from: number,
  now: number,
): number {
  let at = from;
  for (let moved = true; moved && at < Infinity; ) {
    moved = false;
    for (const account of accounts) {
      const until = blockedUntil(account, amounts, spanOf(at), now);
      if (until <= at) continue;
      at = until;
      moved = true;
    }
  }
  return at;
}

/** Loops, because every waiting workload is judged in every pass. */
function fitsBeside(charged: Usage, amounts: Usage, limits: Usage): boolean {
  for (let i = 0; i < limits.length; i++) if (charged[i]! + amounts[i]! > limits[i]!) return false;
  return true;
}

function fitsIn(amounts: Usage, limits: Usage): boolean {
  for (let i = 0; i < limits.length; i++) if (amounts[i]! > limits[i]!) return false;
  return true;
}

/** Why the row exceeds the limit even if nothing else runs; undefined if it may fit. */
export function neverFits(account: Account, row: WorkloadRow, least: LeastUsage): string | undefined {
  const { limits, title, maxNodes } = account;
  const { amounts } = least;
  if (!fitsIn(amounts, limits)) {
    if (account.kind !== 'quota') return title;
    const dimension = amounts.findIndex((amount, i) => amount > limits[i]!);
    const gpu = gpuName(row.jobspec);
    const asked = `asks for ${askedFor(row, formatAmount(dimension, amounts[dimension]!, gpu), least)}`;
    return `${asked}, more than ${title} of ${limitText(account, dimension)}`;
  }
  if (maxNodes === Infinity || least.fewestNodes() <= maxNodes) return undefined;
  return `needs at least ${least.fewestNodes()} nodes, more than ${title} of ${nodesText(account)}`;
}

function askedFor({ jobspec }: WorkloadRow, amount: string, { fewestNodes }: LeastUsage): string {
  if (jobspec.resources[0]?.type !== 'node') return amount;
  const nodes = fewestNodes();
  const whole = nodes === 1 ? '1 whole node, which holds' : `${nodes} whole nodes, which hold`;
  return `${whole} at least ${amount}`;
}

/** Why these amounts do not fit in this span. */
export function inUse(account: Account, row: WorkloadRow, amounts: Usage, now: number): string {
  const { planner, limits, title } = account;
  if (account.kind !== 'quota') return title;
  const dimension = amounts.findIndex((amount, i) => planner.usedAt(i, now, now) + amount > limits[i]!);
  if (dimension < 0) return `${title} is kept for an earlier workload`;
  const needed = formatAmount(dimension, amounts[dimension]!, gpuName(row.jobspec));
  return `needs ${needed}, more than is left of ${title} (${limitText(account, dimension)} in all)`;
}

/**
 * The clause that says why a queue takes back nothing of an account of its cohort for a workload, although it has own quota of what this lacks.
 * @param left what the queue has left of its own quota
 */
export function unownedText(
  { planner, limits }: Account,
  { amounts, left }: { readonly amounts: Usage; readonly left: Usage },
  now: number,
): string {
  const dimensions = [...amounts.keys()];
  const isBeyond = (i: number) => amounts[i]! > 0 && amounts[i]! > left[i]!;
  const isFull = (i: number) => planner.usedAt(i, now, now) + amounts[i]! > limits[i]!;
  if (!dimensions.some((i) => isFull(i) && !isBeyond(i))) return '';
  const beyond = namesOf(dimensions.filter(isBeyond));
  return `; its queue takes none of it back, because it has too little own quota of ${beyond}`;
}

export function nodesInUse(account: Account): string {
  return `needs more nodes than are left of ${account.title} (${nodesText(account)})`;
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

/** Whether the node is held all through the span already: to use it as well costs no quota of nodes. */
export function holdsNode(accounts: readonly Account[], name: string, span: Span): boolean {
  return accounts.every(({ nodes }) => nodes === undefined || nodes.holds(name, span));
}

/** How many more nodes may be held all through the span; Infinity: they are not limited. */
export function freeNodes(accounts: readonly Account[], span: Span): number {
  return Math.min(...accounts.map(({ nodes }) => nodes?.freeIn(span) ?? Infinity));
}

/** The part of the limits that these amounts come to: the largest of all dimensions. */
export function shareOf(accounts: readonly Account[], amounts: Usage): number {
  return Math.max(...accounts.flatMap(({ limits }) => [...amounts].map((amount, i) => amount / limits[i]!)));
}

function counted(nodes: number): string {
  return `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
}
