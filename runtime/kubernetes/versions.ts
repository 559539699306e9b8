const VERSION = /^\d+$/;

/** Whether this resource version of one apiserver is the earlier one. They are numbers; others cannot be compared. */
export function isBefore(one: string, other: string): boolean {
  return VERSION.test(one) && VERSION.test(other) && BigInt(one) < BigInt(other);
}
