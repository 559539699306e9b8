/**
 * How long workloads usually run: the same part of their walltime as the last two of their user that ended by themselves, in the mean. The
 * last two of a user predict better than walltimes do (Tsafrir, Etsion and Feitelson, "Backfilling Using System-Generated Predictions Rather than
 * User Runtime Estimates", IEEE TPDS 18(6), 2007); their part of the walltime leaves exact walltimes as they are. Nothing is
 * decided by it: docs/decisions/0053-likely-starts.md.
 */
import { FORESEEABLE_SECONDS } from '../resources/endless';
import type { WorkloadRow } from './workload';

export interface UsualPart {
  readonly user: string;
  /** Of the walltime, from 0 to 1. */
  readonly part: number;
}

/** Seconds for which a workload would usually run; undefined: nobody knows. */
export type RuntimeOf = (row: Pick<WorkloadRow, 'user' | 'walltime'>) => number | undefined;

/** Of more ends the newest count: the index of ends is read so far, whatever the number of rows. */
const MOST = 5_000;

export const USUAL_PARTS = `
WITH newest AS (
  SELECT usr, result, walltime, started_at, finished_at FROM fluxqueue.workloads
  WHERE phase = 'Finished' ORDER BY finished_at DESC LIMIT ${MOST}
),
runs AS (
  SELECT usr, least(1, extract(epoch FROM finished_at - started_at)::float8 / walltime) AS part,
    row_number() OVER (PARTITION BY usr ORDER BY finished_at DESC) AS back
  FROM newest WHERE started_at IS NOT NULL AND result <> 'Cancelled' AND walltime <= ${FORESEEABLE_SECONDS}
)
SELECT usr AS "user", avg(part) AS part FROM runs WHERE back <= 2 GROUP BY usr`;

/** @returns undefined if nothing is known of anybody */
export function runtimesBy(usual: readonly UsualPart[]): RuntimeOf | undefined {
  if (usual.length === 0) return undefined;
  const parts = new Map(usual.map(({ user, part }) => [user, part]));
  return ({ user, walltime }) => {
    const part = parts.get(user);
    return part === undefined ? undefined : part * walltime;
  };
}
