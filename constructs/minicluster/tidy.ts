/** Manifests hold what is said, in one order. */

/** The object without its undefined members. */
export function given<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // A loop, not fromEntries: every object of every manifest goes through here.
  const said: Record<string, unknown> = {};
  for (const key in object) if (object[key] !== undefined) said[key] = object[key];
  return said as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** The entries of a map, sorted by key: maps have no order, lists made of them have. */
export function sorted<T>(map: Readonly<Record<string, T>> | undefined): [string, T][] {
  const entries = map ?? {};
  return Object.keys(entries)
    .sort()
    .map((key) => [key, entries[key]!]);
}

/** The same, and nothing at all where nothing is said. */
export function some<T extends object>(object: T): T | undefined {
  const said = given(object);
  return Object.keys(said).length === 0 ? undefined : (said as T);
}
