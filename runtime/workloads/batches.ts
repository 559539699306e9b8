/** Pods that are written at the same time: those of a gang wait for each other. */
const AT_ONCE = 32;

/** Writes to all pods, so many at a time. */
export async function inBatches<T>(items: readonly T[], write: (item: T) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < items.length; i += AT_ONCE) await Promise.all(items.slice(i, i + AT_ONCE).map(write));
}
