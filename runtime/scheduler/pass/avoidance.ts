import { narrowedTo } from '../../jobspec/constraints';
import type { WorkloadRow } from '../../queue/workload';
import { countedPart } from './array-width';
import type { Pass } from './state';

/**
 * The row with a jobspec that leaves out the nodes on which its pods did not run a moment ago. If it does not fit the
 * cluster without them, it may have them again: to fail twice is better than never to start. Of an array a part is enough.
 */
export function avoiding(pass: Pass, row: WorkloadRow): WorkloadRow {
  const { cluster, input } = pass;
  if (avoidsNone(row)) return row;
  const names = avoidedNodes(row, input.now);
  if (names.length === 0) return row;
  const jobspec = narrowedTo(row.jobspec, { not: [{ hostlist: names }] });
  const part = countedPart(pass, jobspec);
  const fits = input.nodes === undefined || (cluster.fits(part) && cluster.fitsUp(part));
  // With a shape of its own: what keeps it waiting keeps no other workload of its shape waiting.
  return fits ? { ...row, jobspec, shape: `${row.shape}${WITHOUT}${names}` } : row;
}

const WITHOUT = ' without ';

/** The shape of what the row asks for, whatever nodes it avoids now. */
export function askedShape({ shape }: Pick<WorkloadRow, 'shape'>): string {
  return shape.split(WITHOUT, 1)[0]!;
}

/** True of nearly all rows, and every pass looks at all that wait. */
function avoidsNone({ avoid }: WorkloadRow): boolean {
  for (const _ in avoid) return false;
  return true;
}

/** Sorted, so that workloads that avoid the same nodes share their refusals. */
function avoidedNodes({ avoid }: WorkloadRow, now: number): readonly string[] {
  return Object.keys(avoid)
    .filter((name) => avoid[name]! > now)
    .sort();
}

/** Whether the row may have nodes again that it avoided when its reservation was made. */
export function avoidsFewerNodes({ avoid }: WorkloadRow, now: number): boolean {
  return Object.values(avoid).some((until) => until <= now);
}

/** The second at which the row avoids fewer nodes; undefined: never. */
export function avoidanceEnd(row: WorkloadRow, now: number): number | undefined {
  if (avoidsNone(row)) return undefined;
  const { avoid } = row;
  const ends = Object.values(avoid).filter((until) => until > now);
  return ends.length === 0 ? undefined : Math.ceil(Math.min(...ends));
}
