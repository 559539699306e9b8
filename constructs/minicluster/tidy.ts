/** Manifests hold what is said, in one order. */

/** The object without its undefined members. */
export function given<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // A loop, not fromEntries: every object of every manifest goes through here.
  const said: Record<string, unknown> = {};
  for (const key in object) if (object[key] !== undefined) said[key] = object[key];
  return said as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** Visits the entries of a map, sorted by key: maps have no order, lists made of them have. */
export function eachSorted<T>(
  map: Readonly<Record<string, T>> | undefined,
  visit: (key: string, value: T) => void,
): void {
  if (map === undefined) return;
  const keys = Object.keys(map);
  // Most have one entry or two, and a sort of one costs as much as the rest of this.
  if (keys.length > 1) keys.sort();
  for (const key of keys) visit(key, map[key]!);
}

/** The entries of a map, sorted by key. */
export function sorted<T>(map: Readonly<Record<string, T>> | undefined): [string, T][] {
  const entries: [string, T][] = [];
  eachSorted(map, (key, value) => entries.push([key, value]));
  return entries;
}

/** The same, and nothing at all where nothing is said. */
export function some<T extends object>(object: T): T | undefined {
  for (const key in object) if (object[key] !== undefined) return given(object) as T;
  return undefined;
}
