/**
 * Plans a workload for the first time at which nodes, quota and limits have room. Fluxion knows nothing of quotas and tells
 * only the first time at which nodes are free, so where quota asks for a later start or for other nodes, the pass plans
 * on the units that Fluxion's state leaves free, and Fluxion gets the result as a replay.
 */
import { hasCode } from '../../errors';
import { askOf } from '../../jobspec/jobspec';
import { setsOf } from '../../jobspec/pod-sets';
import type { WorkloadRow } from '../../queue/workload';
import { isForeseeable } from '../../resources/endless';
import type { Allocation } from '../../resources/types';
import type { Surroundings } from './placed-pods';
import { freeNodes, holdsNode, shareOf } from './quota-account';
import type { RoomBounds } from './room-bounds';
import { RulePlanner, type RuleRequest, type UsableNode } from './rule-planner';
import { forecastOf, type Pass } from './state';
import { usageOf } from './usage';
import { TOO_COSTLY, WorkBudget } from './work-budget';

export interface PlanBounds {
  readonly from: number;
  /** The start has to be earlier than this. @default Infinity */
  readonly before?: number;
  /** Nodes that are tried first: those of its reservation. */
  readonly promised?: Allocation | undefined;
}

/** How many starts are tried one by one; of those behind them each second, fourth, eighth and so on. */
const NEAREST_STARTS = 64;
const SEARCH_STEPS = 8_000_000;

/** @returns an allocation that Fluxion holds; undefined if there is none */
export async function planWithinQuota(
  pass: Pass,
  row: WorkloadRow,
  bounds: PlanBounds,
): Promise<Allocation | undefined> {
  const allocation = search(pass, row, await plannerOf(pass), bounds);
  if (allocation === undefined) return undefined;
  return (await holdAgain(pass, allocation)) ? allocation : undefined;
}

/** Gives Fluxion an allocation that it does not hold. @returns whether its units are free */
export async function holdAgain({ input }: Pass, allocation: Allocation): Promise<boolean> {
  try {
    await input.matcher.replay([allocation], input.now);
    return true;
  } catch (error) {
    if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
    return false;
  }
}

function search(
  pass: Pass,
  row: WorkloadRow,
  planner: RulePlanner,
  { from, before = Infinity, promised }: PlanBounds,
): Allocation | undefined {
  const ends = planner.endsAfter(from);
  const work = new WorkBudget(SEARCH_STEPS);
  const bounds = planner.boundsFor(row);
  let next = 0;
  for (let tried = 0, step = 1, at = from; ; tried++) {
    at = earliest(pass, row, at);
    if (at >= before || !isForeseeable(at, pass.input.now) || work.isSpent) return undefined;
    const found = planAt(pass, row, planner, { at, promised, work, bounds });
    if (found !== undefined) return found;
    while (next < ends.length && ends[next]! <= at) next += 1;
    if (tried >= NEAREST_STARTS) step *= 2;
    if (next >= ends.length) return undefined;
    // The last one is always tried: then everything has ended.
    at = ends[Math.min(ends.length - 1, next + step - 1)]!;
  }
}

/** The first time from `at` on that counting does not rule out. */
function earliest(pass: Pass, row: WorkloadRow, at: number): number {
  for (;;) {
    const free = pass.quotas.freeFrom(row, at);
    if (free === Infinity) return free;
    const counted = forecastOf(pass).freeFrom(row, free);
    if (counted <= free) return free;
    at = counted;
  }
}

interface Attempt {
  readonly at: number;
  readonly promised: Allocation | undefined;
  readonly work: WorkBudget;
  readonly bounds: RoomBounds | undefined;
}

/** First on any nodes, then on those of its reservation, then on those that cost least quota. */
function planAt(
  pass: Pass,
  row: WorkloadRow,
  planner: RulePlanner,
  attempt: Attempt,
): Allocation | undefined {
  const { at, promised } = attempt;
  const { jobid, jobspec } = row;
  const rules = (pass.rules && jobspec.attributes.user?.placement) ?? {};
  const request: RuleRequest = { row, rules, jobid, jobspec };
  if (attempt.bounds?.allow(at) === false) return undefined;
  const allocate = (among?: readonly string[]) =>
    plan(planner, among === undefined ? request : { ...request, among }, attempt);
  const anywhere = allocate();
  if (anywhere === undefined || pass.quotas.refuses(row, anywhere) === undefined) return anywhere;
  const choices = [
    () => promised?.nodes.map(({ name }) => name),
    () => cheapestNodes(pass, row, planner.usableAt(request, at), at),
  ];
  for (const choose of choices) {
    const among = choose();
    const found = among && allocate(among);
    if (found !== undefined && pass.quotas.refuses(row, found) === undefined) return found;
  }
  return undefined;
}

function plan(
  planner: RulePlanner,
  request: RuleRequest,
  { at, work, bounds }: Attempt,
): Allocation | undefined {
  try {
    return planner.allocate(request, at, work, bounds);
  } catch (error) {
    if (!hasCode(error, TOO_COSTLY)) throw error;
    return undefined;
  }
}

/**
 * The nodes that leave most of the quota: whole nodes that are small; else nodes that the queue holds already, and of
 * others only as many as it may hold, the largest first.
 */
function cheapestNodes(
  { quotas, units }: Pass,
  row: WorkloadRow,
  usable: readonly UsableNode[],
  start: number,
): readonly string[] | undefined {
  const { exclusive } = askOf(setsOf(row.jobspec)[0]!);
  const accounts = quotas.accountsOf(row);
  const names = (nodes: readonly UsableNode[]) => nodes.map(({ name }) => name);
  if (exclusive) {
    const shares = new Map(
      usable.map((node) => [node.name, shareOf(accounts, usageOf(row.pods, units, node.units))]),
    );
    return names(usable.toSorted((a, b) => shares.get(a.name)! - shares.get(b.name)!));
  }
  const span = { start, end: start + Math.ceil(row.walltime) };
  const free = freeNodes(accounts, span);
  if (free === Infinity) return undefined;
  const held = usable.filter(({ name }) => holdsNode(accounts, name, span));
  const others = usable.filter((node) => !held.includes(node)).toSorted((a, b) => b.room - a.room);
  return names([...held, ...others.slice(0, free)]);
}

/** Where nothing is known of pods, units and constraints are all that counts. */
const NO_SURROUNDINGS: Surroundings = {
  unmanaged: () => [],
  repelling: () => [],
  unmanagedOn: () => 0,
  traitsOf: ({ namespace }) => ({ namespace, labels: {} }),
  amountsOf: () => ({}),
};

async function plannerOf({ rules, input }: Pass): Promise<RulePlanner> {
  if (rules !== undefined) return rules.currentPlanner();
  return new RulePlanner(await input.matcher.state(), input.now, NO_SURROUNDINGS, {
    rowOf: () => undefined,
    allocationOf: () => undefined,
    hasStarted: () => true,
  });
}
