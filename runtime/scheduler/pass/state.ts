/** The state of one pass while it runs: its decisions so far and what they take. */
import { hasPlacementRules } from '../../jobspec/pod-sets';
import { DEFAULT_UNITS, type UnitSettings } from '../../jobspec/units';
import type { QueueSettings } from '../../queue/settings';
import type { EvictionRequest, WorkloadRow } from '../../queue/workload';
import type { Allocation, GraphNode, UnitCounts } from '../../resources/types';
import { CapacityForecast } from './capacity-forecast';
import { type Cluster, clusterOf } from './cluster';

import { Doubts } from './doubts';
import { EndlessUsage, isService } from './endless-usage';
import type { LatePromises } from './late-promises';
import { type Beneficiary, type CostlyRetry, newPassCache, type PassCache } from './pass-cache';
import { dueEnd, plannedEndOf, withPlannedEnd } from './planned-end';
import { QueueBudget } from './queue-budget';
import { Quotas } from './quota';
import type { QuotaShortage } from './quota-shortage';
import { type Reservation, Reservations } from './reservations';
import { RuleMatcher } from './rule-matcher';
import type { PassInput } from './types';
import { holdsInVain } from './unstarted';
import { WaitReasons } from './wait-reasons';

/** A workload that starts soon without an eviction. */
export interface NearStart {
  readonly row: WorkloadRow;
  /** Where it would start. @default - only its quota is known */
  readonly allocation?: Allocation | undefined;
  /** When it should start, as Unix seconds; now, where it is known only that it is soon. */
  readonly start: number;
}

/** A workload that waits, and may not reserve. */
interface Unpromised {
  readonly row: WorkloadRow;
  /** What it lacks of quota. @default - nothing: it lacks nodes */
  readonly lack?: Pick<QuotaShortage, 'ofCohort'> | undefined;
}

interface PlannedGrant {
  readonly uid: string;
  readonly allocation: Allocation;
  /** As it is written in the row. */
  readonly written: Allocation;
}

export interface Pass {
  readonly input: PassInput;
  readonly units: UnitSettings;
  /** By name of the queue. */
  readonly budgets: ReadonlyMap<string, QueueBudget>;
  /** Rows with an allocation, in whatever queue. */
  readonly holders: readonly WorkloadRow[];
  /** With their planned ends, as Fluxion holds them. */
  readonly grants: PlannedGrant[];
  readonly evictions: EvictionRequest[];
  readonly waits: WaitReasons;
  readonly quotas: Quotas;
  readonly reservations: Reservations;
  /** By uid: the second at which workloads that it may preempt have run for the minimum time. */
  readonly preemptAt: Map<string, number>;
  /** By uid of a workload: those that were evicted for it. It starts before others borrow what these leave. */
  readonly beneficiaries: Map<string, Beneficiary>;
  /** By shape: when those are tried again that cost too much to plan. */
  readonly costly: Map<string, CostlyRetry>;
  /** Uids of workloads whose start is promised with a claim, from the pass on that has quota returned for them. */
  readonly claims: Set<string>;
  /** Uids of beneficiaries with a reservation that only keeps others away until the pass reaches them. */
  readonly heldPlaces: Set<string>;
  /** By uid: those for which nobody is evicted, because they start soon anyway. */
  readonly near: Map<string, NearStart>;
  /** Workloads that wait and may not reserve, one for each request of a queue. */
  readonly unpromised: Map<string, Unpromised>;
  /** Uids of workloads that are not considered, because too many wait before them. */
  readonly beyondLimit: Set<string>;
  readonly cache: PassCache;
  /** Workloads past their end in the row and their grace: their planned ends are predictions. The longest overrun comes first. */
  readonly overruns: readonly WorkloadRow[];
  /** Workloads that hold nodes and have not started within their walltime, as their rows are. */
  readonly unstarted: readonly WorkloadRow[];
  /** Undefined until the order is known. */
  late: LatePromises | undefined;
  /** By uid: seconds for which a workload has nodes beyond what it is planned for, to fit in front of promises that are late. */
  readonly extra: Map<string, number>;
  /** Workloads that hold nodes, as their rows are. */
  readonly held: readonly WorkloadRow[];
  readonly doubts: Doubts;
  /** Times that depend on a prediction: nothing that is planned for them is an estimate. */
  readonly predicted: Set<number>;
  /** Starts that the previous pass promised and whose reservations are lost, by uid. */
  readonly broken: Map<string, number>;
  readonly endlessUsage: EndlessUsage;
  /** Undefined if the pass knows nothing of pods. */
  readonly rules: RuleMatcher | undefined;
  /** Of workloads with placement rules, for this pass only: pods come and go without units becoming free. */
  readonly ruleCache: PassCache;
  readonly cluster: Cluster;
  /** Whether units became free since the reservations were made: these may start earlier. */
  freed: boolean;
  /** Whether the pass before started something: that may be what an eviction would start another one for. */
  readonly hasNewHolders: boolean;
  /** Whether settings of queues are others than in the pass before. */
  readonly hasNewSettings: boolean;
  /** Whether a reservation was given up for a start or another place. */
  moved: boolean;
  /** Created when it is first needed. */
  forecast: CapacityForecast | undefined;
  /** No reservation is of a lower priority: then none has to be looked for, which a thousand queues would do a thousand times. */
  lowestReserved: number;
  /** How many reservations of each line were planned again only to start earlier, and not now. */
  readonly improved: Map<string, number>;
  /** The second at which a waiting row may start that may not now, or a start is no promise any more; Infinity: none. */
  wakeAt: number;
  /** Whether the next pass has to begin at the front at once. */
  restart: boolean;
  interrupted: boolean;
  matches: number;
}

/** What a pass has not found or done yet. */
const BEGINNING = {
  moved: false,
  forecast: undefined,
  lowestReserved: Infinity,
  late: undefined,
  wakeAt: Infinity,
  restart: false,
  interrupted: false,
  matches: 0,
};

export function beginPass(given: PassInput): Pass {
  const { now, nodes = NO_NODES, units = DEFAULT_UNITS, cache = newPassCache() } = given;
  const planned = (row: WorkloadRow) => withPlannedEnd(row, now);
  const held = given.queues.map(({ rows }) => holdersOf(rows));
  const orphaned = holdersOf(given.orphaned ?? []);
  const queues = given.queues.map(({ settings }, i) => ({ settings, rows: held[i]!.map(planned) }));
  const holders = [...queues.flatMap(({ rows }) => rows), ...orphaned.map(planned)];
  const rows = [...held.flat(), ...orphaned];
  const overruns = overrunsOf(rows, now);
  const cluster = clusterOf(nodes);
  const isPreemptDue = [...cache.preemptAt.values()].some((at) => at <= now);
  const settings = settingsText(given.queues);
  const hasNewSettings = cache.settings !== settings;
  const isGrown = given.graphGrew !== false || hasNewSettings;
  const freed = given.freed !== false || isGrown || isPreemptDue || isLessCrowded(given, cache);
  // Refusals that an unfinished pass has found are as good as before.
  const kept = freed ? newPassCache() : cache;
  const rules = ruleMatcherOf(given);
  const input = rules === undefined ? given : { ...given, matcher: rules };
  const budgets = budgetsOf(queues);
  return {
    input,
    rules,
    ruleCache: newPassCache(),
    units,
    budgets,
    holders,
    grants: [],
    evictions: [],
    waits: new WaitReasons(input.nodes, units),
    quotas: new Quotas(queues, units, now, cluster, given.surpluses),
    reservations: new Reservations(({ queue }) => budgets.get(queue)!.line),
    ...keptFrom(cache),
    heldPlaces: new Set(),
    near: new Map(),
    unpromised: new Map(),
    beyondLimit: new Set(),
    cache: { ...kept, settings, vain: cache.granted ? new Map() : kept.vain },
    overruns,
    unstarted: rows.filter((row) => holdsInVain(row, now)),
    held: rows,
    doubts: new Doubts(rows, now),
    extra: new Map(),
    predicted: new Set(overruns.map((row) => plannedEndOf(row, now))),
    broken: brokenPromises(cache.promised, input.reservations),
    endlessUsage: endlessUsageOf(input, holders),
    cluster,
    freed: freed || cache.freed,
    hasNewSettings,
    improved: new Map(),
    ...BEGINNING,
  };
}

type Kept = 'preemptAt' | 'beneficiaries' | 'costly' | 'claims' | 'hasNewHolders';

function keptFrom(cache: PassCache): Pick<Pass, Kept> {
  return {
    costly: new Map(cache.costly),
    hasNewHolders: cache.granted,
    preemptAt: new Map(cache.preemptAt),
    beneficiaries: new Map(cache.beneficiaries),
    claims: new Set(cache.claims),
  };
}

function isLessCrowded({ surroundings }: PassInput, { crowding }: PassCache): boolean {
  if (surroundings === undefined || crowding === undefined) return false;
  return [...crowding].some(([node, pods]) => surroundings.unmanagedOn(node) < pods);
}

function budgetsOf(queues: PassInput['queues']): ReadonlyMap<string, QueueBudget> {
  return new Map(queues.map(({ settings }) => [settings.name, new QueueBudget(settings)]));
}

/** Settings are replaced and never changed, and every pass compares those of all queues. */
const texts = new WeakMap<QueueSettings, string>();

function settingsText(queues: PassInput['queues']): string {
  return queues.map(({ settings }) => textOf(settings)).join('\n');
}

function textOf(settings: QueueSettings): string {
  const known = texts.get(settings);
  if (known !== undefined) return known;
  const text = JSON.stringify(settings);
  texts.set(settings, text);
  return text;
}

function ruleMatcherOf({
  now,
  matcher: fluxion,
  reservations,
  surroundings,
  queues,
  orphaned = [],
  nodes = NO_NODES,
  units = DEFAULT_UNITS,
}: PassInput): RuleMatcher | undefined {
  if (surroundings === undefined) return undefined;
  const rows = [...queues.flatMap((queue) => queue.rows), ...orphaned];
  return new RuleMatcher({ fluxion, surroundings, now, nodes, units, rows, reservations });
}

/** The refusals by which this row is judged, and to which its own is added. */
export function cacheFor({ cache, ruleCache, rules }: Pass, row: WorkloadRow): PassCache {
  if (rules === undefined) return cache;
  if (hasPlacementRules(row.jobspec)) return ruleCache;
  // Pods that refuse this row do not refuse others with the same request.
  return rules.isRepelled(row) ? newPassCache() : cache;
}

/** One array for all passes: what is counted over an array is kept with it. */
const NO_NODES: readonly GraphNode[] = [];
const NO_USAGE: ReadonlyMap<string, UnitCounts> = new Map();

/** Nearly all rows wait, and every pass looks at all. */
function holdersOf(rows: readonly WorkloadRow[]): WorkloadRow[] {
  return rows.filter(({ allocation }) => allocation !== null);
}

function overrunsOf(held: readonly WorkloadRow[], now: number): WorkloadRow[] {
  return held.filter((row) => dueEnd(row) <= now).sort((a, b) => dueEnd(a) - dueEnd(b) || a.seq - b.seq);
}

function brokenPromises(
  promised: ReadonlyMap<string, number>,
  kept: readonly Reservation[],
): Map<string, number> {
  const broken = new Map(promised);
  for (const { uid } of kept) broken.delete(uid);
  return broken;
}

function endlessUsageOf(
  { nodes = NO_NODES, unmanaged = NO_USAGE, cache }: PassInput,
  holders: readonly WorkloadRow[],
): EndlessUsage {
  const services = holders.filter(isService);
  return (
    cache?.endlessUsage?.next(nodes, services, unmanaged) ?? new EndlessUsage(nodes, services, unmanaged)
  );
}

/** Budget of the row's queue; only of a row that is not orphaned. */
export function budgetOf(pass: Pass, { queue }: Pick<WorkloadRow, 'queue'>): QueueBudget {
  return pass.budgets.get(queue)!;
}

/** Whether others have to leave for its workload: it gives its place only to a workload that starts no later. */
export function isOwed(pass: Pass, { uid, isClaim }: Reservation): boolean {
  return isClaim === true || pass.beneficiaries.has(uid);
}

/** How much of the cluster running workloads, grants and reservations take over time. */
export function forecastOf(pass: Pass): CapacityForecast {
  if (pass.forecast !== undefined) return pass.forecast;
  const forecast = new CapacityForecast(pass.input.nodes ?? NO_NODES, pass.input.now);
  // An evicted workload may leave its nodes at any time.
  for (const { allocation, evictionReason } of pass.holders)
    if (evictionReason === null) forecast.add(allocation!);
  for (const { allocation } of pass.grants) forecast.add(allocation);
  for (const { allocation } of pass.reservations.all()) forecast.add(allocation);
  pass.forecast = forecast;
  return forecast;
}
