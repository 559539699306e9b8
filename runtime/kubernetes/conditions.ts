/** Conditions of a status, with times in the format of the Kubernetes API. */

interface Condition {
  readonly type: string;
  readonly status: string;
}

interface Stamp {
  /** RFC 3339. */
  readonly lastTransitionTime: string;
}

/**
 * The condition with its transition time, which changes only with its status.
 * @param previous the previous conditions, of any type
 * @param now Unix seconds
 */
export function stamped<C extends Condition>(
  condition: C,
  previous: readonly (Condition & Stamp)[] | undefined,
  now: number,
): C & Stamp {
  const before = previous?.find(({ type }) => type === condition.type);
  const isUnchanged = before?.status === condition.status;
  return { ...condition, lastTransitionTime: isUnchanged ? before.lastTransitionTime : rfc3339(now) };
}

/** Whether the conditions have this one, and it is True. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}

/** Formats Unix seconds like `2026-11-20T11:40:02Z`. */
export function rfc3339(seconds: number): string {
  return new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}
