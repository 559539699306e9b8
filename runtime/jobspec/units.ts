/** From quantities to units: Fluxion counts vertices, so cores and memory are divided into units of one size. */
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import type { UnitCounts } from '../resources/types';
import { ceilDiv, NANO, type Nano } from './quantity';
import { difference, type Requests, sum } from './requests';

export interface UnitSettings {
  /** CPU of one core unit, in thousandths of a core. */
  readonly cpuMillis: number;
  /** Memory of one memory unit, in MiB. */
  readonly memoryMiB: number;
}

/** The sizes that every Fluxion server can hold. */
export const DEFAULT_UNITS: UnitSettings = STACK_DEFAULTS.libraryUnits;

/**
 * Units that a pod is charged: at least one core unit, because a pod without requests needs a processor as well, and
 * Fluxion can't allocate nothing.
 */
export function unitsOf(requests: Requests, settings: UnitSettings = DEFAULT_UNITS): UnitCounts {
  const units = count(requests, settings, ceilDiv);
  return { ...units, core: Math.max(1, units.core ?? 0) };
}

/**
 * Units of a node that pods outside the queue leave no room for: the whole units of the node, less those that still fit
 * beside the sum of their requests. The part of a node above its last whole unit is used first: a node of 1930m with
 * pods of 300m still has one core of 1000m, and kube-scheduler agrees.
 * @param capacity what of the node agents leave
 */
export function unmanagedUnits(
  pods: readonly Requests[],
  capacity: Requests,
  settings: UnitSettings = DEFAULT_UNITS,
): UnitCounts {
  const offered = nodeUnits(capacity, settings);
  const rest = nodeUnits(difference(capacity, sum(pods)), settings);
  return Object.fromEntries(
    Object.entries(offered)
      .map(([type, units]) => [type, units - (rest[type] ?? 0)] as const)
      .filter(([, units]) => units > 0),
  );
}

/**
 * Most units of an extended resource that are counted on a node; one of 8 GPUs has 1,572,864 MiB of their memory. A device plugin may
 * advertise bytes, or no limit: Fluxion has 32 bits for it, and each unit of a whole node is named in its grant.
 */
const MOST_EXTENDED_UNITS = 2 ** 22;
const BUILT_IN: ReadonlySet<string> = new Set(['core', 'memory']);

/** Units of a node: its capacity, rounded down once. */
export function nodeUnits(capacity: Requests, settings: UnitSettings = DEFAULT_UNITS): UnitCounts {
  const counts = count(capacity, settings, (quantity, unit) => quantity / unit);
  return Object.fromEntries(
    Object.entries(counts).map(([type, units]) => [
      type,
      BUILT_IN.has(type) ? units : Math.min(units, MOST_EXTENDED_UNITS),
    ]),
  );
}

/** Unit type of a resource; undefined if the resource is not counted. */
export function unitType(resource: string): string | undefined {
  if (resource === 'cpu') {
    return 'core';
  }
  if (resource === 'memory') {
    return 'memory';
  }
  if (!isExtended(resource)) {
    return undefined;
  }
  return isGpu(resource) ? 'gpu' : resource.replace(/[^A-Za-z0-9]/g, '_');
}

export function isGpu(resource: string): boolean {
  return resource.endsWith('/gpu');
}

/** An extended resource by the definition of Kubernetes: its domain is not kubernetes.io. */
export function isExtended(resource: string): boolean {
  const slash = resource.indexOf('/');
  return (
    slash > 0 && !/(^|\.)kubernetes\.io$/.test(resource.slice(0, slash)) && !resource.startsWith('requests.')
  );
}

function count(
  quantities: Requests,
  settings: UnitSettings,
  divide: (quantity: Nano, unit: Nano) => bigint,
): UnitCounts {
  const counts: Record<string, number> = {};
  for (const [resource, quantity] of quantities) {
    const type = unitType(resource);
    const units = type === undefined ? 0 : Number(divide(quantity, unitSize(type, settings)));
    if (type !== undefined && units > 0) {
      counts[type] = (counts[type] ?? 0) + units;
    }
  }
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** How much so many units of a type are. */
export function quantityOf(type: string, units: number, settings: UnitSettings): Nano {
  return BigInt(units) * unitSize(type, settings);
}

function unitSize(type: string, { cpuMillis, memoryMiB }: UnitSettings): Nano {
  switch (type) {
    case 'core':
      return (BigInt(cpuMillis) * NANO) / 1000n;
    case 'memory':
      return BigInt(memoryMiB) * 1024n * 1024n * NANO;
    default:
      return NANO;
  }
}
