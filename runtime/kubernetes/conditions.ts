/** Conditions of a status, and the times in it, as the Kubernetes API wants them. */

interface Condition {
  readonly type: string;
  readonly status: string;
}

interface Stamp {
  /** RFC 3339. */
  readonly lastTransitionTime: string;
}

/**
 * Since when it has this status: the time of the last change stays.
 * @param previous the conditions as they stood, of any type
 * @param now Unix seconds
 */
export function stamped<C extends Condition>(
  condition: C,
  previous: readonly (Condition & Stamp)[] | undefined,
  now: number,
): C & Stamp {
  const before = previous?.find(({ type }) => type === condition.type);
  const isAsBefore = before?.status === condition.status;
  return { ...condition, lastTransitionTime: isAsBefore ? before.lastTransitionTime : rfc3339(now) };
}

/** Unix seconds -> `2026-11-20T11:40:02Z`. */
export function rfc3339(seconds: number): string {
  return new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}
