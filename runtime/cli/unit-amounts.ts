/** Units as people read them: `16 cpu, 64Gi memory`. Pure functions. */
import type { UnitSizes } from '../reader/kinds';
import type { UnitCounts } from '../resources/types';

export interface UnitType {
  /** As in unit counts. */
  readonly type: string;
  readonly name: string;
  /** The number of units as an amount. */
  readonly amount: (units: number) => string;
}

const ORDER = ['core', 'memory', 'gpu'];

/** The types of these counts: cores, memory, gpus, then the others by name. */
export function unitTypes(counts: Iterable<UnitCounts>, sizes: UnitSizes): UnitType[] {
  const types = new Set<string>();
  for (const count of counts) for (const type in count) types.add(type);
  const rank = (type: string) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length);
  return [...types]
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, 'en'))
    .map((type) => unitType(type, sizes));
}

function unitType(type: string, sizes: UnitSizes): UnitType {
  if (type === 'core')
    return { type, name: 'cpu', amount: (units) => decimal((units * sizes.cpuMillis) / 1000) };
  if (type === 'memory') return { type, name: 'memory', amount: (units) => memory(units * sizes.memoryMiB) };
  return { type, name: type, amount: (units) => decimal(units) };
}

function memory(mib: number): string {
  return mib >= 1024 || mib === 0 ? `${decimal(mib / 1024)}Gi` : `${decimal(mib)}Mi`;
}

const decimal = (amount: number) => `${Math.round(amount * 10) / 10}`;

/** All types, also those of which there is nothing; `-` if there is nothing at all. */
export function amountsText(counts: UnitCounts, types: readonly UnitType[]): string {
  const parts = types.filter(({ type }) => counts[type] !== undefined);
  if (parts.every(({ type }) => counts[type] === 0)) return '-';
  return parts.map(({ type, name, amount }) => `${amount(counts[type]!)} ${name}`).join(', ');
}
