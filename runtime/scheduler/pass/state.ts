/** The state of one pass while it runs: its decisions so far and what they take. */
import { DEFAULT_UNITS, type UnitSettings } from '../../jobspec/units';
import type { EvictionRequest, WorkloadRow } from '../../queue/workload';
import type { GraphNode } from '../../resources/types';
import { CapacityForecast } from './capacity-forecast';
import { type Cluster, clusterOf } from './cluster';
import { newPassCache, type PassCache } from './pass-cache';
import { QueueBudget } from './queue-budget';
import { Quotas } from './quota';
import { Reservations } from './reservations';
import type { Grant, PassInput } from './types';
import { WaitReasons } from './wait-reasons';

export interface Pass {
  readonly input: PassInput;
  readonly units: UnitSettings;
  /** By name of the queue. */
  readonly budgets: ReadonlyMap<string, QueueBudget>;
  /** Rows that may start, by uid. Filled when they are in order. */
  readonly eligible: Map<string, WorkloadRow>;
  /** Rows with an allocation, in whatever queue. */
  readonly holders: readonly WorkloadRow[];
  readonly grants: Grant[];
  readonly evictions: EvictionRequest[];
  readonly waits: WaitReasons;
  readonly quotas: Quotas;
  readonly reservations: Reservations;
  readonly cache: PassCache;
  /** See PassCache. */
  readonly overdue: Map<string, number>;
  readonly cluster: Cluster;
  /** Whether units became free since the reservations were made: these may start earlier. */
  freed: boolean;
  /** Created when it is first needed. */
  forecast: CapacityForecast | undefined;
  /** Whether the next pass has to begin at the front at once. */
  restart: boolean;
  interrupted: boolean;
  matches: number;
}

export function beginPass(input: PassInput): Pass {
  const { now, queues, orphaned = [], nodes, units = DEFAULT_UNITS } = input;
  const freed = input.freed !== false || input.graphGrew !== false;
  return {
    input,
    units,
    budgets: new Map(queues.map(({ settings, rows }) => [settings.name, new QueueBudget(settings, rows)])),
    eligible: new Map(),
    holders: [...queues.flatMap(({ rows }) => rows), ...orphaned].filter(
      ({ allocation }) => allocation !== null,
    ),
    grants: [],
    evictions: [],
    waits: new WaitReasons(nodes, units),
    quotas: new Quotas(queues, units, now),
    reservations: new Reservations(),
    cache: freed || input.cache === undefined ? newPassCache() : input.cache,
    overdue: new Map(input.cache?.overdue),
    cluster: clusterOf(nodes ?? NO_NODES),
    freed,
    forecast: undefined,
    restart: false,
    interrupted: false,
    matches: 0,
  };
}

/** One array for all passes: what is counted over an array is kept with it. */
const NO_NODES: readonly GraphNode[] = [];

/** Budget of the row's queue; only of a row that is not orphaned. */
export function budgetOf(pass: Pass, { queue }: Pick<WorkloadRow, 'queue'>): QueueBudget {
  return pass.budgets.get(queue)!;
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
