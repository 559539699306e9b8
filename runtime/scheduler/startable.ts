/**
 * Whether work is conserved: which workloads wait although nodes, quota and limits have room for them beside all that runs and is
 * promised. It is counted from rows and nodes, on a matcher of its own and with nothing that passes remember, so a pass that forgets a
 * change does not forget it here as well.
 */
import { hasPlacementRules } from '../jobspec/pod-sets';
import { DEFAULT_UNITS } from '../jobspec/units';
import type { QueueSettings } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
import { clusterOf } from './pass/cluster';
import { LatePromises } from './pass/late-promises';
import { withGrace, withPlannedEnd } from './pass/planned-end';
import { Quotas } from './pass/quota';
import type { Reservation } from './pass/reservations';
import { RuleMatcher } from './pass/rule-matcher';
import type { Matcher } from './pass/types';
import { type PlanGraph, planGraph } from './plan-graph';
import { MOST_PLANNED, type PlanInput } from './queue-plan';

export type StartableInput = Omit<PlanInput, 'fairShare' | 'outcomeOf' | 'runtimeOf'>;

/** These wait for room alone. */
const WAITS_FOR_ROOM: ReadonlySet<string | null> = new Set(['QuotaExceeded', 'Reserved', 'Busy']);

/**
 * Of the first in line that wait for room, those that have it, in line. It does not judge workloads with placement rules or with nodes
 * that they avoid, nor those behind the first of a fcfs queue or beyond the depth or a limit of waiting workloads of their queue.
 * @returns undefined if the time was used up
 */
export async function startable(input: StartableInput): Promise<readonly WorkloadRow[] | undefined> {
  const line = judged({ ...input, line: input.line.map(withGrace) }).slice(0, MOST_PLANNED);
  if (line.length === 0) return [];
  const graph = await planGraph(input);
  if (graph === undefined) return undefined;
  const look = new Look(input, graph);
  const found: WorkloadRow[] = [];
  for (const row of line) {
    if (await look.hasRoom(row)) found.push(row);
    await input.rest();
    if (input.isOver()) break;
  }
  await graph.matcher.close();
  return found;
}

function judged({ line, queues, now }: StartableInput): readonly WorkloadRow[] {
  const settings = new Map(queues.map((queue) => [queue.name, queue]));
  const before = new Map<string, number>();
  return line.filter((row) => {
    const queue = settings.get(row.queue);
    const count = before.get(row.queue) ?? 0;
    before.set(row.queue, count + 1);
    if (queue === undefined || count >= mostOf(queue)) return false;
    const avoids = Object.values(row.avoid).some((until) => until > now);
    return WAITS_FOR_ROOM.has(row.reason) && !avoids && !hasPlacementRules(row.jobspec);
  });
}

/** How many of a queue may start, whatever the others do. */
function mostOf({ policy, depth, limits }: QueueSettings): number {
  if (policy === 'fcfs') return 1;
  return Math.min(depth, limits.queue.waiting ?? Infinity, limits.user.waiting ?? Infinity);
}

class Look {
  private readonly quotas: Quotas;
  private readonly reservations: ReadonlyMap<string, Reservation>;
  /** Uids of those that the matcher holds. */
  private readonly planned: ReadonlySet<string>;
  /** It counts pods as well: a node takes so many and no more. */
  private readonly matcher: Matcher;
  private readonly late: LatePromises;
  /** What has no room has none a second time. */
  private readonly refused = new Set<string>();

  constructor(
    private readonly input: StartableInput,
    graph: PlanGraph,
  ) {
    const { queues, holders, nodes, now, units = DEFAULT_UNITS, surpluses, line } = input;
    const rows = Map.groupBy(holders, ({ queue }) => queue);
    const held = queues.map((settings) => ({
      settings,
      rows: (rows.get(settings.name) ?? []).map((row) => withPlannedEnd(row, now)),
    }));
    this.quotas = new Quotas(held, units, now, clusterOf([...nodes.values()]), surpluses);
    this.reservations = new Map(input.reservations.map((one) => [one.uid, one]));
    this.planned = new Set(graph.reservations.map(({ uid }) => uid));
    this.matcher = matcherOf(input, graph);
    this.late = new LatePromises(line, { held: holders, reservations: input.reservations, lost: [], now });
    this.quotas.kept.setLine(line);
    for (const row of line) this.promise(row);
  }

  private promise(row: WorkloadRow): void {
    const allocation = this.reservations.get(row.uid)?.allocation;
    if (allocation !== undefined) this.quotas.hold(row, allocation.start, allocation.end, allocation);
  }

  async hasRoom(row: WorkloadRow): Promise<boolean> {
    const own = this.reservations.get(row.uid);
    const key = `${row.queue} ${row.user} ${row.walltime} ${row.shape}`;
    if (own === undefined && this.refused.has(key)) return false;
    this.quotas.free(row);
    const found = this.quotas.shortageOf(row) === undefined && (await this.isPlaced(row, own));
    this.promise(row);
    if (!found && own === undefined) this.refused.add(key);
    return found;
  }

  private async isPlaced(row: WorkloadRow, own: Reservation | undefined): Promise<boolean> {
    const { matcher, input } = this;
    const { now } = input;
    const { jobid, jobspec } = row;
    const isPlanned = own !== undefined && this.planned.has(own.uid);
    if (isPlanned) await matcher.cancel(jobid);
    const answer = await matcher.match({ jobid, jobspec, operation: 'allocate', now });
    if (answer.status === 'OK') await matcher.cancel(jobid);
    if (isPlanned) await matcher.replay([own.allocation], now);
    if (answer.status !== 'OK' || this.quotas.refuses(row, answer.allocation) !== undefined) return false;
    return this.late.missing(row, answer.allocation, (uid) => this.reservations.get(uid)?.allocation) === 0;
  }
}

function matcherOf(
  { surroundings, now, nodes, units = DEFAULT_UNITS, holders, line }: StartableInput,
  { matcher: fluxion, reservations }: PlanGraph,
): Matcher {
  if (surroundings === undefined) return fluxion;
  const rows = [...holders, ...line];
  return new RuleMatcher({
    fluxion,
    surroundings,
    now,
    nodes: [...nodes.values()],
    units,
    rows,
    reservations,
  });
}
