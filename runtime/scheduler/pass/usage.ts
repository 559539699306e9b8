import { askOf } from '../../jobspec/jobspec';
import type { UnitSettings } from '../../jobspec/units';
import type { Quota } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { unitCounts } from '../../resources/unit-counts';

/** Lanes of a `Timeline`: the first counts jobs. */
export const DIMENSIONS = ['jobs', 'pods', 'cores', 'memoryGiB', 'gpus'] as const;

type Dimension = (typeof DIMENSIONS)[number];

/** One number per lane: jobs, pods, thousandths of a core, MiB, gpus. */
export type Usage = Float64Array;

/** What one of a quota's numbers is in a lane. */
const SCALE: Readonly<Record<Dimension, number>> = {
  jobs: 1,
  pods: 1,
  cores: 1000,
  memoryGiB: 1024,
  gpus: 1,
};

/** Absent numbers of a quota: no limit. */
export function limitsOf(quota: Quota): Usage {
  return Float64Array.from(DIMENSIONS, (dimension) =>
    Math.round((quota[dimension] ?? Infinity) * SCALE[dimension]),
  );
}

/** The lanes in the quota's own units: cores, GiB. */
export function inQuota(usage: Usage): Readonly<Record<Dimension, number>> {
  return Object.fromEntries(
    DIMENSIONS.map((dimension, i) => [dimension, usage[i]! / SCALE[dimension]]),
  ) as Record<Dimension, number>;
}

/** A lane's number in words of the quota: "8 cores". */
export function inWords(dimension: number, amount: number): string {
  const name = DIMENSIONS[dimension]!;
  const count = amount / SCALE[name];
  if (name === 'memoryGiB') return `${count} GiB of memory`;
  return `${count} ${count === 1 ? name.slice(0, -1) : name}`;
}

/** What a waiting row would take at least; whole nodes may come to more. */
export function askedBy({ jobspec, pods }: WorkloadRow, units: UnitSettings): Usage {
  const ask = askOf(jobspec);
  return usage(pods, units, (type) => ask.pods * (ask.perPod[type] ?? 0));
}

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
