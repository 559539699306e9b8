/** Manifests hold what is said, in one order. */

/** The object without its undefined members. */
export function given<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** The entries of a map, sorted by key: maps have no order, lists made of them have. */
export function sorted<T>(map: Readonly<Record<string, T>> | undefined): [string, T][] {
  const entries = map ?? {};
  return Object.keys(entries)
    .sort()
    .map((key) => [key, entries[key]!]);
}
