import { type Capacity, capacityOf } from '../../jobspec/capacity';
import type { Jobspec } from '../../jobspec/types';
import { DEFAULT_UNITS, type UnitSettings } from '../../jobspec/units';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation, GraphNode } from '../../resources/types';
import { newPassCache, type PassCache } from './pass-cache';
import { QueueBudget } from './queue-budget';
import { Quotas } from './quota';
import { CapacityForecast, Reservations } from './reservations';
import type { PassInput, Recall } from './types';
import { WaitReasons } from './wait-reasons';

export interface Pass {
  readonly input: PassInput;
  readonly units: UnitSettings;
  /** By queue. */
  readonly budgets: ReadonlyMap<string, QueueBudget>;
  /** Rows with an allocation, whatever their queue. */
  readonly holders: readonly WorkloadRow[];
  readonly grants: { uid: string; allocation: Allocation }[];
  readonly recalls: Recall[];
  readonly waits: WaitReasons;
  readonly quotas: Quotas;
  readonly reservations: Reservations;
  readonly memory: PassCache;
  /** See PassMemory. */
  readonly overdue: Map<string, number>;
  readonly cluster: Cluster;
  /** Units were given back since reservations were made: they may come earlier. */
  freed: boolean;
  /** Made when first needed. */
  forecast: CapacityForecast | undefined;
  more: boolean;
  matches: number;
}

export function beginPass(input: PassInput): Pass {
  const { now, queues, orphaned = [], nodes, units = DEFAULT_UNITS } = input;
  const freed = input.freed !== false || input.graphGrew !== false;
  return {
    input,
    units,
    budgets: new Map(queues.map(({ settings, rows }) => [settings.name, new QueueBudget(settings, rows)])),
    holders: [...queues.flatMap(({ rows }) => rows), ...orphaned].filter(
      ({ allocation }) => allocation !== null,
    ),
    grants: [],
    recalls: [],
    waits: new WaitReasons(nodes, units),
    quotas: new Quotas(queues, units, now),
    reservations: new Reservations(),
    memory: freed || input.memory === undefined ? newPassCache() : input.memory,
    overdue: new Map(input.memory?.overdue),
    cluster: clusterOf(nodes ?? NO_NODES),
    freed,
    forecast: undefined,
    more: false,
    matches: 0,
  };
}

/** How much of the cluster is taken over time, by what runs and what stands reserved. */
export function forecastOf(pass: Pass): CapacityForecast {
  if (pass.forecast !== undefined) return pass.forecast;
  const forecast = new CapacityForecast(pass.input.nodes ?? NO_NODES, pass.input.now);
  // What is being taken back may be gone at any time.
  for (const { allocation, recall } of pass.holders) if (recall === null) forecast.add(allocation!);
  for (const { allocation } of pass.grants) forecast.add(allocation);
  for (const { allocation } of pass.reservations.all()) forecast.add(allocation);
  pass.forecast = forecast;
  return forecast;
}

/** The nodes, as far as counting goes. */
interface Cluster {
  fits(jobspec: Jobspec): boolean;
  /** False: not without nodes that are down. */
  fitsUp(jobspec: Jobspec): boolean;
  isUp(node: string): boolean;
}

const NO_NODES: readonly GraphNode[] = [];
/** Counting a thousand nodes costs more than a pass with nothing new. */
const clusters = new WeakMap<readonly GraphNode[], Cluster>();

function clusterOf(nodes: readonly GraphNode[]): Cluster {
  const known = clusters.get(nodes) ?? countCluster(nodes);
  clusters.set(nodes, known);
  return known;
}

function countCluster(nodes: readonly GraphNode[]): Cluster {
  const up = nodes.filter((node) => node.up !== false);
  const names = new Set(up.map(({ name }) => name));
  let all: Capacity | undefined;
  let ofUp: Capacity | undefined;
  return {
    fits(jobspec) {
      all ??= capacityOf(nodes);
      return all.fits(jobspec);
    },
    fitsUp(jobspec) {
      if (up.length === nodes.length) return true;
      ofUp ??= capacityOf(up);
      return ofUp.fits(jobspec);
    },
    isUp: (node) => names.has(node),
  };
}
