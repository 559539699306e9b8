import type { ReconcileResult } from '../kubernetes/work-queue';

/** Of two times to look again the one that comes first. */
export function earliest(a: ReconcileResult, b: ReconcileResult): ReconcileResult {
  if (a === undefined || b === undefined) return a ?? b;
  return a.after < b.after ? a : b;
}
