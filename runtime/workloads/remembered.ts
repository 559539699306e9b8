/** Maps that keep a number of entries at most. */

/** Sets the newest entry; beyond `most` the oldest is forgotten. */
export function remember<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
