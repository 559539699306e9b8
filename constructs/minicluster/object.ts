/** Manifests hold what is said, in one order. */

/** The object without its undefined members. */
export function given<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // A loop, not fromEntries: every object of every manifest goes through here.
  const said: Record<string, unknown> = {};
  for (const key in object) if (object[key] !== undefined) said[key] = object[key];
  return said as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** What is made of the entries of a map, sorted by key: maps have no order, lists made of them have. */
export function mapSorted<T, R>(
  map: Readonly<Record<string, T>> | undefined,
  make: (key: string, value: T) => R,
): R[] {
  if (map === undefined) return [];
  const keys = Object.keys(map);
  // Most are in order already, and sorting costs more than the rest of this.
  if (!keys.every((key, index) => index === 0 || keys[index - 1]! < key)) keys.sort();
  return keys.map((key) => make(key, map[key]!));
}

/** The entries themselves. */
export function sorted<T>(map: Readonly<Record<string, T>> | undefined): [string, T][] {
  return mapSorted(map, (key, value) => [key, value]);
}

/** The same, and nothing at all where nothing is said. */
export function some<T extends object>(object: T): T | undefined {
  for (const key in object) if (object[key] !== undefined) return given(object) as T;
  return undefined;
}
