/** What a plan is made of: the cluster, the rows and the promises of the leader at one moment. */
import { QUEUE_DEFAULTS } from '../../../constructs/api/queue-defaults';
import { type Clock, restIn } from '../../clock';
import type { QueueSettings } from '../../queue/settings';
import { type RuntimeOf, runtimesBy } from '../../queue/usual-runtimes';
import type { WorkloadRow } from '../../queue/workload';
import type { GraphNode } from '../../resources/types';
import { shareFactors } from '../../scheduler/pass/fair-share';
import { jobSizes } from '../../scheduler/pass/job-size';
import { inOrder, type Precedence } from '../../scheduler/pass/order';
import {
  mayBePlanned,
  type PlanInput,
  plannedLine,
  planQueue,
  promisedAllocations,
  type QueuePlan,
} from '../../scheduler/queue-plan';
import { rowsByQueue } from '../../scheduler/queue-rows';
import type { Watch } from '../../shared/informers';
import { isoOf } from './answered';
import type { ReadModel } from './read-model';

/** The watches of a plan. */
export const PLAN_WATCHES: readonly Watch[] = ['nodes', 'pods', 'jobs', 'fluxSetups'];

/** Milliseconds that a plan waits for the promises of the leader. Without them it makes its own. */
const PROMISES_MS = 2_000;

export interface Situation extends Omit<PlanInput, 'line' | 'isOver' | 'rest' | 'runtimeOf'> {
  /** Rows that wait and that the last pass did not find impossible to start, in any order. */
  readonly waiting: readonly WorkloadRow[];
}

export interface Planned {
  /** The waiting rows that are planned, in the order of a pass. */
  readonly line: readonly WorkloadRow[];
  readonly plan: QueuePlan;
}

export async function situationOf(model: ReadModel, watches = PLAN_WATCHES): Promise<Situation> {
  const { rows, leader, cluster } = await model.world(watches);
  const stored = await leader.view(PROMISES_MS);
  // What the leader decided while it was asked is in the rows.
  await rows.refresh();
  const { config } = model.options;
  const now = Math.floor(model.now());
  const active = [...rows.active()];
  const { queues } = cluster;
  const weightsOf = (name: string) => (queues.byName(name) ?? QUEUE_DEFAULTS).billingWeights;
  const waiting = active.filter(mayBePlanned);
  const promised = new Map(waiting.map(({ uid, jobid }) => [uid, jobid]));
  return {
    now,
    nodes: cluster.nodes.graphNodes(),
    ...cluster.unmanaged.facts(),
    surroundings: cluster.surroundings,
    match: config.fluxion.policy,
    queues: queues.all(),
    holders: active.filter(({ allocation }) => allocation !== null),
    waiting,
    reservations: (stored?.view.reservations ?? []).filter(({ uid, jobid }) => promised.get(uid) === jobid),
    units: config.units,
    outcomeOf: rows.outcomeOf.bind(rows),
    ...(config.fairShare.enabled && { fairShare: rows.fairUsage(now, weightsOf) }),
  };
}

/** Milliseconds for a plan, rests included. */
const BUDGET_MS = 5_000;

/** When workloads of the line likely start: by usual runtimes. Empty while nobody's runtimes are known. */
export async function likelyStarts(
  model: ReadModel,
  situation: Situation,
): Promise<ReadonlyMap<string, number>> {
  const { queue } = await model.openTables();
  const runtimeOf = runtimesBy(await queue.usualParts());
  if (runtimeOf === undefined) return new Map();
  const { plan } = await planned(situation, model.clock, runtimeOf);
  return new Map([...plan.allocations].map(([uid, { start }]) => [uid, start]));
}

/** The likely start where it is sooner than the one by walltimes. */
export function sooner(
  likely: number | undefined,
  planned: { readonly start: number } | undefined,
): { likelyStart?: string } {
  if (likely === undefined || planned === undefined || likely >= planned.start) return {};
  return { likelyStart: isoOf(likely) };
}

/**
 * The plan of a situation, with what its time allows.
 * @param runtimeOf @default - walltimes
 */
export async function planned(situation: Situation, clock: Clock, runtimeOf?: RuntimeOf): Promise<Planned> {
  const line = plannedLine(lineOf(situation, precedenceIn(situation)));
  const started = clock.now();
  const isOver = () => clock.now() - started > BUDGET_MS;
  const known = new Set(line.map(({ uid }) => uid));
  const reservations = situation.reservations.filter(({ uid }) => known.has(uid));
  const plan = await planQueue({ ...situation, line, reservations, runtimeOf, isOver, rest: restIn(clock) });
  return {
    line,
    plan: plan ?? { allocations: promisedAllocations({ line, reservations }), waits: new Map() },
  };
}

/** The waiting rows in the order of a pass. */
export function lineOf({ queues, waiting }: Situation, precedence: Precedence): readonly WorkloadRow[] {
  const known = new Set(queues.map(({ name }) => name));
  return inOrder(
    waiting.filter(({ queue }) => known.has(queue)),
    precedence,
  );
}

/** What decides the order of a pass in this situation. */
export function precedenceIn({
  now,
  queues,
  fairShare,
  waiting,
  holders,
  nodes,
  units,
}: Situation): Precedence {
  const settings = new Map<string, QueueSettings>(queues.map((queue) => [queue.name, queue]));
  const shares = fairShare && shareFactors(fairShare, rowsByQueue(queues, [...holders, ...waiting]).queues);
  const sizeOf = jobSizes([...nodes.values()], units);
  return { now, settingsOf: (name) => settings.get(name), shares, sizeOf };
}

/** The nodes with so many more, each like the kind of node of which there are most. */
export function withMoreNodes(
  nodes: ReadonlyMap<string, GraphNode>,
  count: number,
): ReadonlyMap<string, GraphNode> {
  const kinds = Map.groupBy(
    [...nodes.values()].filter(({ up }) => up !== false),
    (node) => JSON.stringify([Object.entries(node.units).sort(), sharedProperties(node)]),
  );
  const [kind] = [...kinds.values()].sort((a, b) => b.length - a.length);
  if (kind === undefined) return nodes;
  const like = kind[0]!;
  const more = freeNames(nodes, count).map((name) => {
    const properties = (like.properties ?? []).map((property) =>
      property === ownName(like) ? `${HOSTNAME}=${name}` : property,
    );
    return [name, { ...like, name, properties }] as const;
  });
  return new Map([...nodes, ...more]);
}

/** Names that no node has. */
function freeNames(nodes: ReadonlyMap<string, GraphNode>, count: number): readonly string[] {
  return Array.from({ length: count + nodes.size }, (_, i) => `more-${i + 1}`)
    .filter((name) => !nodes.has(name))
    .slice(0, count);
}

const HOSTNAME = 'kubernetes.io/hostname';

function ownName({ name }: GraphNode): string {
  return `${HOSTNAME}=${name}`;
}

/** Every node has another name in its labels. */
function sharedProperties(node: GraphNode): readonly string[] {
  return (node.properties ?? []).filter((property) => property !== ownName(node));
}
