import { askOf } from '../../jobspec/jobspec';
import type { UnitSettings } from '../../jobspec/units';
import type { Quota } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { unitCounts } from '../../resources/unit-counts';

/** Dimensions of a `Planner` of quota; the first counts jobs. */
export const DIMENSIONS = ['jobs', 'pods', 'cores', 'memoryGiB', 'gpus'] as const;

type Dimension = (typeof DIMENSIONS)[number];

/** One number per dimension: jobs, pods, thousandths of a core, MiB, gpus. */
export type Usage = Float64Array;

/** One unit of a quota (1 core, 1 GiB) in numbers of its dimension. */
const SCALE: Readonly<Record<Dimension, number>> = {
  jobs: 1,
  pods: 1,
  cores: 1000,
  memoryGiB: 1024,
  gpus: 1,
};

/** A number that the quota does not name is not limited: Infinity. */
export function limitsOf(quota: Quota): Usage {
  return Float64Array.from(DIMENSIONS, (dimension) =>
    Math.round((quota[dimension] ?? Infinity) * SCALE[dimension]),
  );
}

/** Usage in the units of a quota: cores, GiB. */
export function inQuota(usage: Usage): Readonly<Record<Dimension, number>> {
  return Object.fromEntries(
    DIMENSIONS.map((dimension, i) => [dimension, usage[i]! / SCALE[dimension]]),
  ) as Record<Dimension, number>;
}

/**
 * An amount with the unit of a quota: "8 cores".
 * @param gpu the name that a workload uses for its GPUs. @default - the quota's word
 */
export function formatAmount(dimension: number, amount: number, gpu?: string): string {
  const name = DIMENSIONS[dimension]!;
  const count = amount / SCALE[name];
  if (name === 'memoryGiB') return `${count} GiB of memory`;
  if (name === 'gpus' && gpu !== undefined) return `${count} ${gpu}`;
  return `${count} ${count === 1 ? name.slice(0, -1) : name}`;
}

/** The least that a waiting row takes; whole nodes may come to more. */
export function requestedBy({ jobspec, pods }: WorkloadRow, units: UnitSettings): Usage {
  const ask = askOf(jobspec);
  return usage(pods, units, (type) => ask.pods * (ask.perPod[type] ?? 0));
}

/** What a row takes with this allocation. */
export function heldBy({ pods }: WorkloadRow, allocation: Allocation, units: UnitSettings): Usage {
  const counts = unitCounts(allocation);
  return usage(pods, units, (type) => counts[type] ?? 0);
}

function usage(pods: number, units: UnitSettings, count: (type: string) => number): Usage {
  return Float64Array.of(
    1,
    pods,
    count('core') * units.cpuMillis,
    count('memory') * units.memoryMiB,
    count('gpu'),
  );
}
