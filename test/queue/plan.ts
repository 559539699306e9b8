/** The work of a statement as Postgres counts it: independent of the machine. */

/** The row that EXPLAIN (ANALYZE, FORMAT JSON) returns. */
export interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Step }];
}

interface Step {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Step[];
}

/** Number of rows that all steps returned or discarded. */
export function rowsTouched(explained: Explained): number {
  return touchedBy(explained['QUERY PLAN'][0].Plan);
}

function touchedBy(step: Step): number {
  const removed = (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Join Filter'] ?? 0);
  const below = (step.Plans ?? []).reduce((sum, next) => sum + touchedBy(next), 0);
  return step['Actual Loops'] * (step['Actual Rows'] + removed) + below;
}
